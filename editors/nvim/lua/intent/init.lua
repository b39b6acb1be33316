-- The entry point of the plugin: `setup`, `statusline`, `line`, `status`.
local M = {}

local group = vim.api.nvim_create_augroup('intent', { clear = true })
local running = false

-- True if the server starts by itself for files of a governed workspace.
local function starts_by_itself()
  local disabled = vim.g.intent_disable
  return require('intent.options').current.auto_start and disabled ~= 1 and disabled ~= true
end

local function attach(bufnr)
  if not starts_by_itself() then
    return
  end
  if vim.lsp.is_enabled and not vim.lsp.is_enabled('intent') then
    return
  end
  require('intent.server').attach(bufnr)
  require('intent.provenance').buffer_soon(bufnr, 100)
end

--- Merges options over the defaults. If one is invalid, none is used, and the message names it and the reason.
function M.setup(given)
  local problems = require('intent.options').set(given)
  if #problems > 0 then
    vim.notify('intent: ' .. table.concat(problems, '\nintent: ') .. '\nThe options stay as they were (:help intent-options).', vim.log.levels.ERROR)
    return false
  end
  if running and #require('intent.compat').clients('intent') > 0 then
    require('intent.server').restart()
  end
  return true
end

--- Sets up everything that starts by itself. `plugin/intent.lua` calls it once, after the configuration was read.
function M.start()
  if running then
    return
  end
  running = true
  require('intent.provenance').start()
  require('intent.line').start()
  if vim.lsp.enable and starts_by_itself() then
    vim.lsp.enable('intent')
  end
  -- Not only `FileType`: files without a type may have records too.
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufFilePost', 'FileType' }, {
    group = group,
    callback = function(event)
      vim.schedule(function()
        if vim.api.nvim_buf_is_loaded(event.buf) then
          attach(event.buf)
        end
      end)
    end,
  })
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      attach(bufnr)
    end
  end
end

--- Returns the statusline's part for a buffer, by default the current one: `INT-001 E1 ?2`. Empty outside a workspace.
function M.statusline(bufnr)
  return require('intent.status').line(bufnr)
end

--- Returns whose the line of the cursor is, for a statusline: `INT-006 · claude-code, 2 days`. Empty if it shows nothing.
function M.line()
  return require('intent.line').text()
end

--- Returns the last status of a buffer's workspace, as in `intent status --json`; nil if there is none.
function M.status(bufnr)
  return require('intent.status').of((bufnr == nil or bufnr == 0) and vim.api.nvim_get_current_buf() or bufnr)
end

return M

-- Why is this code here? The door of the plugin: `setup`, `statusline`, `status`.
local M = {}

local group = vim.api.nvim_create_augroup('intent', { clear = true })
local running = false

-- Whether files get the server without being asked for it.
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

--- Takes options over the defaults. Where one of them cannot be, none is taken, and it is said which and why.
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

--- Starts what works by itself; `plugin/intent.lua` calls it once, after the person's configuration was read.
function M.start()
  if running then
    return
  end
  running = true
  require('intent.provenance').start()
  if vim.lsp.enable and starts_by_itself() then
    vim.lsp.enable('intent')
  end
  -- Not `FileType` alone: files without one may have been asked for as well.
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

--- The statusline's part of a buffer, the current one if none is named: `INT-001 E1 ?2`. Empty where nothing governs.
function M.statusline(bufnr)
  return require('intent.status').line(bufnr)
end

--- The last status of a buffer's workspace, as `intent status --json` has it; nil where there is none.
function M.status(bufnr)
  return require('intent.status').of((bufnr == nil or bufnr == 0) and vim.api.nvim_get_current_buf() or bufnr)
end

return M

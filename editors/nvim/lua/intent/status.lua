-- Keeps the server's status of each workspace (`intent/status`), and makes the statusline from it.
local options = require('intent.options')
local text = require('intent.text')

local M = {}

-- The statuses, by the root of the workspace.
local statuses = {}
-- By buffer: its name when it was looked up, and its root in the table above.
local roots = {}

local function redraw()
  vim.cmd('redrawstatus!')
  pcall(vim.cmd, 'doautocmd <nomodeline> User IntentStatus')
end

--- A question of an agent can be answered elsewhere, or expire. Its notice is then removed.
local function close_what_is_settled()
  for _, status in pairs(statuses) do
    if (status.waiting or 0) > 0 then
      return
    end
  end
  require('intent.questions').settled()
end

--- Stores a status that the server sent.
function M.told(params)
  local status = text.without_null(params)
  if type(status) ~= 'table' or not status.root then
    return
  end
  statuses[status.root] = status
  roots = {}
  redraw()
  close_what_is_settled()
end

--- Called when a server stops or starts, because the known statuses may then be wrong.
function M.gone()
  if #require('intent.compat').clients('intent') == 0 then
    statuses, roots = {}, {}
    redraw()
    close_what_is_settled()
  end
end

--- Returns the status of a buffer's workspace; nil if the buffer is in none.
function M.of(bufnr)
  if next(statuses) == nil then
    return nil
  end
  local name = vim.api.nvim_buf_get_name(bufnr)
  local known = roots[bufnr]
  if not known or known.name ~= name then
    known = { name = name }
    local uv = require('intent.compat').uv
    local path = uv.fs_realpath(name) or name
    for root in pairs(statuses) do
      if vim.startswith(path, root .. '/') and #root > #(known.root or '') then
        known.root = root
      end
    end
    roots[bufnr] = known
  end
  return known.root and statuses[known.root]
end

--- Returns the last status of the workspace with this root.
function M.of_root(root)
  return statuses[root]
end

--- Returns the values of the tokens of the statusline.
function M.values(status)
  local selected = status.selected or {}
  local findings = ''
  if (status.errors or 0) > 0 then
    findings = findings .. (' E%d'):format(status.errors)
  end
  if (status.warnings or 0) > 0 then
    findings = findings .. (' W%d'):format(status.warnings)
  end
  local id = status.selection or selected.id
  return {
    intent = id and text.visible(id) or 'no intent',
    name = selected.name and text.visible(selected.name) or '',
    findings = findings,
    waiting = (status.waiting or 0) > 0 and (' ?%d'):format(status.waiting) or '',
    gate = status.off and ' gate off' or '',
  }
end

--- Returns the statusline's part for a buffer; empty if its file is in no governed workspace. It sends no request.
function M.line(bufnr)
  local status = M.of((bufnr == nil or bufnr == 0) and vim.api.nvim_get_current_buf() or bufnr)
  if not status then
    return ''
  end
  local wanted = options.current.statusline
  local shown
  if type(wanted) == 'function' then
    local ok, answer = pcall(wanted, status, M.values(status))
    shown = ok and type(answer) == 'string' and answer or ''
  else
    local values = M.values(status)
    shown = wanted:gsub('%${(.-)}', function(token)
      return values[token] or ''
    end)
  end
  -- In a statusline a percent sign would be code, and names are other people's text.
  return (text.visible(shown):gsub('%%', ''))
end

return M

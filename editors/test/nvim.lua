-- Run by nvim.sh. Exit code: the number of failures.
local work, config = vim.env.INTENT_TEST_WORK, vim.env.INTENT_TEST_CONFIG
local failures = 0

local function check(name, holds, detail)
  if not holds then
    failures = failures + 1
  end
  print(('%s %s %s'):format(holds and 'ok  ' or 'FAIL', name, detail or ''))
end

local function until_true(question)
  return vim.wait(10000, question, 20)
end

vim.opt.runtimepath:prepend(config)
vim.lsp.enable('intent')
vim.cmd('filetype on')
vim.cmd.edit(work .. '/src/auth/middleware.ts')
local buffer = vim.api.nvim_get_current_buf()

check('attaches', until_true(function()
  local client = vim.lsp.get_clients({ bufnr = buffer, name = 'intent' })[1]
  return client and client.initialized
end))

local lens = ''
check('shows a lens above the recorded method', until_true(function()
  vim.lsp.codelens.refresh({ bufnr = buffer })
  vim.wait(100)
  for _, one in ipairs(vim.lsp.codelens.get(buffer)) do
    if one.range.start.line == 5 and one.command and one.command.title:find('INT-001', 1, true) then
      lens = one.command.title
      return true
    end
  end
end), lens)

vim.api.nvim_win_set_cursor(0, { 6, 9 })
vim.lsp.buf.hover()
local text = ''
check('hovers', until_true(function()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
      text = table.concat(lines, ' ')
      return text:find('INT-001', 1, true) and text:find('exact', 1, true)
    end
  end
end), text:sub(1, 100))

vim.cmd.edit(work .. '/src/billing/invoice.ts')
local invoice = vim.api.nvim_get_current_buf()
check('marks an edit out of scope', until_true(function()
  return #vim.diagnostic.get(invoice) == 1
end), (vim.diagnostic.get(invoice)[1] or {}).message)
check('as an error', (vim.diagnostic.get(invoice)[1] or {}).severity == vim.diagnostic.severity.ERROR)

vim.api.nvim_win_set_cursor(0, { 1, 20 })
local chosen
vim.ui.select = function(items, _, choose)
  for index, item in ipairs(items) do
    local action = item.action or item
    if action.title:find('INT-002', 1, true) and action.title:lower():find('select', 1, true) then
      chosen = action.title
      return choose(item, index)
    end
  end
  choose(nil)
end
vim.lsp.buf.code_action()
check('selects the right intent by code action', until_true(function()
  return chosen ~= nil
end), chosen)
check('and the error is gone', until_true(function()
  return #vim.diagnostic.get(invoice) == 0
end))

print(('%d failed'):format(failures))
vim.cmd(failures == 0 and 'qa!' or (failures .. 'cquit!'))

-- Sourced once at start: defines the command, and starts the server in governed workspaces.
if vim.g.loaded_intent then
  return
end
vim.g.loaded_intent = true

if vim.fn.has('nvim-0.7') == 0 then
  return vim.notify('intent: this plugin needs Neovim 0.7 or later', vim.log.levels.WARN)
end

vim.api.nvim_create_user_command('Intent', function(given)
  require('intent.commands').run(given)
end, {
  nargs = '*',
  bang = true,
  desc = 'Which intent asked for this code',
  complete = function(lead, line)
    return require('intent.commands').complete(lead, line)
  end,
})

-- Deferred, so that a `setup` that follows at once takes effect first.
local function start()
  vim.schedule(function()
    require('intent').start()
  end)
end

if vim.v.vim_did_enter == 1 then
  start()
else
  vim.api.nvim_create_autocmd('VimEnter', { once = true, callback = start })
end

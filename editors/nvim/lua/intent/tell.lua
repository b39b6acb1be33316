-- Shows a message to the person, on one line if it fits.

--- `level` is one of `vim.log.levels`. The default is information.
return function(message, level)
  -- If a list is still on the screen, Neovim would wait for Enter even after a one-line message.
  vim.cmd('redraw')
  vim.notify('intent: ' .. message, level or vim.log.levels.INFO)
end

-- Tells the person something, in one line where it fits.

--- `level` is one of `vim.log.levels`; information, where it is left out.
return function(message, level)
  -- What a list left on the screen would make a one-line message wait for Enter.
  vim.cmd('redraw')
  vim.notify('intent: ' .. message, level or vim.log.levels.INFO)
end

-- For `vim.lsp.config` and `vim.lsp.enable` of Neovim 0.11 and later. Any file of a governed workspace may have
-- records, so there are no `filetypes`. Outside a workspace nothing is started.
return require('intent.server').config()

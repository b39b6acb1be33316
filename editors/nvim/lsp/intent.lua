-- For `vim.lsp.config` and `vim.lsp.enable` of Neovim 0.11 and later. Any file of a governed workspace may have been
-- asked for, so there are no `filetypes`; outside of one nothing is started.
return require('intent.server').config()

-- 1. Fork nvim-lspconfig, and put this file there as lsp/intent_lsp.lua, without these three lines and with OWNER/REPO filled in.
-- 2. Run its `make lint`, and try it: `vim.lsp.enable('intent_lsp')` in a repository that has an `.orchestration/`.
-- 3. Open a pull request; its own documentation is made from the comment below.

---@brief
---
--- https://github.com/OWNER/REPO
---
--- Why is this code here? Which intent asked for each block, which agent wrote it, and is it still what was recorded.
---
--- Runs in repositories that have an `.orchestration/`, for files of every kind, beside the servers of their languages.
--- The plugin of the same project also has commands, lenses and questions; this is only the server.

---@type vim.lsp.Config
return {
  cmd = { 'intent-lsp', 'lsp' },
  root_markers = { '.orchestration' },
  workspace_required = true,
  -- A person sits here, so widening a scope can be one step.
  init_options = { person = true },
}

-- Why is this code here? Copy to `lsp/intent.lua` in your runtime path, then `vim.lsp.enable('intent')`.
-- Needs Neovim 0.11 and `intent` on PATH.

---@type vim.lsp.Config
return {
  cmd = { 'intent', 'lsp' },
  -- No `filetypes`: any file of a workspace may have been asked for. Outside one the server is silent.
  -- The outermost folder with `.orchestration/` governs, so the git work tree is the root to offer.
  root_markers = { '.git', '.orchestration' },
  init_options = { interactive = true },
  settings = {
    intent = {
      codeLens = true,
      inlayHints = false,
      -- levels = { ['unrecorded-change'] = 'info' },
    },
  },
}

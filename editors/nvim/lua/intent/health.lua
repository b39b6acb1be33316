-- `:checkhealth intent`.
local M = {}

local function version_of(program)
  local answer = vim.fn.system({ program, '--version' })
  return vim.v.shell_error == 0 and vim.trim(answer) or nil
end

-- The buffer that was current before the report was opened.
local function last_file()
  local server = require('intent.server')
  local buffers = { vim.fn.bufnr('#'), vim.api.nvim_get_current_buf() }
  vim.list_extend(buffers, vim.api.nvim_list_bufs())
  for _, bufnr in ipairs(buffers) do
    local file = bufnr > 0 and server.file_of(bufnr)
    if file then
      return file
    end
  end
  return vim.fn.getcwd() .. '/.'
end

local function program(health, root)
  local server = require('intent.server')
  health.start('intent: the program')
  local path, why = server.program(root)
  if not path then
    health.error(why, { 'cargo install --path . --features all-languages in a clone of intent-lsp', 'or set the option cmd to an absolute path' })
    return
  end
  local version = version_of(path)
  if not version then
    return health.error(('%s does not say its version'):format(path))
  end
  health.ok(('%s: %s'):format(path, version))
end

local function workspace(health, root)
  local compat, server = require('intent.compat'), require('intent.server')
  local text = require('intent.text')
  health.start('intent: the workspace')
  if not root then
    health.info('the last file is in no governed workspace: nothing is started there (`intent setup init` makes one)')
    return
  end
  health.ok('governed: ' .. root)
  local client
  for _, one in ipairs(compat.clients(server.NAME)) do
    if one.config.root_dir == root then
      client = one
    end
  end
  if not client then
    return health.warn('no server runs for it', { 'open one of its files', ':Intent log shows what the server said' })
  end
  health.ok(('the server runs, for %s; columns are %s'):format(
    text.count(vim.tbl_count(client.attached_buffers or {}), 'buffer'), client.offset_encoding or 'utf-16'))
  local commands = (client.server_capabilities.executeCommandProvider or {}).commands or {}
  if not vim.tbl_contains(commands, 'intent.review') then
    health.warn('the program is older than this plugin: `:Intent review` will not work', { 'build and install it again' })
  end
  local answer = compat.request_sync(client, 'workspace/executeCommand',
    { command = 'intent.verify', arguments = { { uri = vim.uri_from_fname(root) } } }, 5000, 0)
  local verified = text.without_null(answer)
  if not verified then
    return health.warn('the ledger was not verified within five seconds')
  end
  local findings = verified.findings or {}
  if #findings == 0 then
    health.ok(('the ledger is whole: %s in %s'):format(
      text.count(verified.records or 0, 'record'), text.count(verified.files or 0, 'file')))
  end
  for index, finding in ipairs(findings) do
    if index > 10 then
      health.warn(('and %d findings more: intent evidence verify'):format(#findings - 10))
      break
    end
    local report = finding.level == 'error' and health.error or health.warn
    report(('%s: %s'):format(text.visible(finding.code or ''), text.visible(finding.message or '')))
  end
  local status = require('intent.status').of_root(root)
  if status and (status.waiting or 0) > 0 then
    health.warn(text.count(status.waiting, 'question') .. ' of agents', { ':Intent review answers' })
  end
  if status and status.off then
    health.warn('the gate is off')
  end
end

local function editor(health)
  local compat, options = require('intent.compat'), require('intent.options')
  local current = options.current
  health.start('intent: this editor')
  local version = vim.version()
  health.ok(('Neovim %d.%d.%d: %s'):format(version.major, version.minor, version.patch,
    compat.has_config and 'started by vim.lsp.enable' or vim.lsp.start and 'started by vim.lsp.start' or 'started by vim.lsp.start_client'))
  health.info('provenance is shown by: ' .. current.provenance)
  if current.provenance == 'inlay' and not compat.has_inlay_hints then
    health.warn('this version shows no inlay hints; virtual text takes their place', { "provenance = 'virtual_text'" })
  end
  if not current.interactive then
    health.info('agents\' questions are not shown here (interactive = false)')
  end
  if vim.fn.has('nvim-0.11') == 1 then
    health.info('keys of Neovim: K hovers, gra acts, grn renames an intent\'s id, grr lists its blocks, gO its outline')
  else
    health.info('no keys are mapped: vim.lsp.buf.hover, .code_action, .rename, .references want some (:help intent-keys)')
  end
end

function M.check()
  local health = require('intent.compat').health()
  local server = require('intent.server')
  local root = server.root_of(last_file())
  program(health, root)
  workspace(health, root)
  editor(health)
end

return M

-- Finds the program and the workspace, and starts the server.
local compat = require('intent.compat')
local options = require('intent.options')
local tell = require('intent.tell')
local text = require('intent.text')

local M = {}

--- The client's name.
M.NAME = 'intent'

local uv = compat.uv
local is_windows = vim.fn.has('win32') == 1

local function kind_of(path)
  local found = uv.fs_stat(path)
  return found and found.type
end

local function real(path)
  return uv.fs_realpath(path) or path
end

local function parent(path)
  return vim.fn.fnamemodify(path, ':h')
end

--- Returns the outermost folder above a file or folder that contains `.orchestration/`; nil if there is none.
--- The server itself finds out which workspaces are below it.
function M.root_of(path)
  local found
  -- A new file can be in a folder that does not exist yet.
  local at = path
  while kind_of(at) == nil and parent(at) ~= at do
    at = parent(at)
  end
  at = real(at)
  while true do
    if kind_of(at .. '/.orchestration') == 'directory' then
      found = at
    end
    local above = parent(at)
    if above == at then
      return found
    end
    at = above
  end
end

--- Returns the file of a buffer; nil if it shows none (terminals, help, addresses such as `oil://`).
function M.file_of(bufnr)
  if not vim.api.nvim_buf_is_valid(bufnr) or vim.bo[bufnr].buftype ~= '' then
    return nil
  end
  local name = vim.api.nvim_buf_get_name(bufnr)
  if name == '' or name:match('^%a[%w+.-]+://') then
    return nil
  end
  return name
end

local function holds(folder, path)
  return path == folder or vim.startswith(path, (folder:gsub('/$', '')) .. '/')
end

local function candidates(name)
  local names = is_windows and { name .. '.exe', name } or { name }
  local out = {}
  for _, folder in ipairs(vim.split(vim.env.PATH or '', is_windows and ';' or ':', { plain = true })) do
    -- A relative entry depends on the current folder, so a clone could put its own program there.
    if options.is_absolute(folder) then
      for _, one in ipairs(names) do
        out[#out + 1] = (folder:gsub('[/\\]$', '')) .. '/' .. one
      end
    end
  end
  return out
end

--- Returns the program's path; or nil, the reason, and a short form of it. A program in the workspace is never used.
function M.program(root)
  local wanted = options.current.cmd[1]
  if options.is_absolute(wanted) then
    if vim.fn.executable(wanted) == 1 then
      return wanted
    end
    return nil, ('%s cannot be executed (option cmd)'):format(wanted), 'its program cannot be executed'
  end
  local passed_over
  for _, path in ipairs(candidates(wanted)) do
    if kind_of(path) == 'file' and vim.fn.executable(path) == 1 then
      if not root or not (holds(root, real(path)) or holds(root, path)) then
        return path
      end
      passed_over = path
    end
  end
  if passed_over then
    return nil, ('%s lies in the workspace, and nothing there is started unasked; name it in the option cmd'):format(passed_over),
      'a program of the workspace is not started'
  end
  return nil, ('`%s` is not on your PATH; `cargo install --path . --features all-languages` in a clone of intent-lsp puts it there'):format(wanted),
    'its program is not on your PATH'
end

--- Returns the command line to start; or nil and the reason.
function M.command(root)
  local program, why = M.program(root)
  if not program then
    return nil, why
  end
  local command = vim.deepcopy(options.current.cmd)
  command[1] = program
  return command
end

--- Returns the initialization options for the server.
function M.init_options()
  local given = options.current
  return {
    interactive = given.interactive,
    saves = true,
    status = true,
    -- The registry's lenses stay, whatever shows where code comes from.
    codeLens = given.provenance ~= 'off',
    inlayHints = given.provenance == 'inlay' and compat.has_inlay_hints,
    levels = next(given.levels) and given.levels or nil,
    trace = given.trace ~= 'off' and given.trace or nil,
    positionEncoding = given.position_encoding,
    docsUrl = given.docs_url,
  }
end

local said = {}

-- Each reason is shown once, because a file can be opened often. It is short, because a message longer than
-- the line makes Neovim wait for Enter.
local function say_once(why)
  if not said[why] then
    said[why] = true
    vim.schedule(function()
      tell(why .. ' (:checkhealth intent)', vim.log.levels.WARN)
    end)
  end
end

--- Returns the root that a buffer's server is started for; nil if there is nothing to start.
function M.root_to_start(bufnr)
  local file = M.file_of(bufnr)
  local root = file and M.root_of(file)
  if not root then
    return nil
  end
  local program, _, why = M.program(root)
  if not program then
    say_once(why)
    return nil
  end
  return root
end

-- The message types of the protocol.
local LEVELS = { vim.log.levels.ERROR, vim.log.levels.WARN, vim.log.levels.INFO, vim.log.levels.DEBUG, vim.log.levels.DEBUG }

local function handlers()
  local status, questions = require('intent.status'), require('intent.questions')
  local provenance = require('intent.provenance')
  return {
    ['intent/status'] = function(_, params)
      status.told(params)
      provenance.refresh_soon()
      require('intent.line').forget()
    end,
    ['window/showMessageRequest'] = function(_, params, ctx)
      return questions.asked(params, ctx)
    end,
    ['window/showMessage'] = function(_, params)
      tell(text.visible(params.message), LEVELS[params.type])
      return vim.NIL
    end,
    ['window/showDocument'] = function(_, params, ctx)
      return M.show_document(params, ctx)
    end,
    ['intent/save'] = function(_, params)
      return M.save(params)
    end,
    ['workspace/codeLens/refresh'] = function()
      provenance.refresh_soon()
      return vim.NIL
    end,
    ['workspace/executeCommand'] = function(err)
      if err then
        tell(text.visible(err.message), vim.log.levels.ERROR)
      end
    end,
  }
end

--- Saves a file of the registry that an action of the server has just changed.
function M.save(params)
  local bufnr = vim.uri_to_bufnr(params.uri)
  local done, why = pcall(vim.api.nvim_buf_call, bufnr, function()
    vim.cmd('silent update')
  end)
  if done then
    return vim.NIL
  end
  return nil, { code = -32803, message = tostring(why) }
end

--- Shows a document that the server names. Addresses outside the editor are not followed.
function M.show_document(params, ctx)
  local client = vim.lsp.get_client_by_id(ctx.client_id)
  if params.external or not client or not vim.startswith(params.uri, 'file:') then
    return { success = false }
  end
  local start = { line = 0, character = 0 }
  local range = params.selection or { start = start, ['end'] = start }
  return { success = compat.jump({ uri = params.uri, range = range }, client.offset_encoding) and true or false }
end

--- Returns the configuration for `vim.lsp.config`. `root` is set if we start the server ourselves.
function M.config(root)
  local config = {
    name = M.NAME,
    capabilities = compat.capabilities(),
    handlers = handlers(),
    flags = { debounce_text_changes = 100 },
    before_init = function(params, settings)
      -- Read when the server starts, because `setup` may come after this file. Values of `vim.lsp.config` win.
      params.initializationOptions = vim.tbl_extend('force', M.init_options(), settings.init_options or {})
      settings.started_with = options.current
    end,
    on_init = function(client)
      -- `setup` restarts only clients that are ready. This one became ready after a call of `setup`.
      if client.config.started_with ~= options.current then
        vim.schedule(M.restart)
      end
    end,
    on_exit = function(_, _, client_id)
      vim.schedule(function()
        require('intent.status').gone()
        require('intent.provenance').forget(client_id)
        require('intent.line').forget()
      end)
    end,
  }
  if root then
    config.root_dir = root
    config.cmd = M.command(root)
  else
    config.root_dir = function(bufnr, found)
      local governed = M.root_to_start(bufnr)
      if governed then
        found(governed)
      end
    end
    config.cmd = function(dispatchers, resolved)
      local command = assert(M.command(resolved and resolved.root_dir))
      resolved = resolved or {}
      return vim.lsp.rpc.start(command, dispatchers, { cwd = resolved.cmd_cwd, env = resolved.cmd_env })
    end
  end
  return config
end

--- Returns the client of a buffer, if it has one that is ready.
function M.client(bufnr)
  return compat.client_of(M.NAME, (bufnr == nil or bufnr == 0) and vim.api.nvim_get_current_buf() or bufnr)
end

--- Returns the client for a command in this buffer, and the address that names its workspace.
function M.for_command(bufnr)
  bufnr = (bufnr == nil or bufnr == 0) and vim.api.nvim_get_current_buf() or bufnr
  local client = M.client(bufnr)
  if client then
    return client, vim.uri_from_bufnr(bufnr)
  end
  -- Outside a workspace the choice is clear only if exactly one workspace is open.
  local running = compat.clients(M.NAME)
  if #running == 1 and running[1].config.root_dir then
    return running[1], vim.uri_from_fname(running[1].config.root_dir)
  end
  return nil
end

--- Sends a command to the server. The callback gets the answer, or nil and the reason. Returns whether it was sent,
--- and its id.
function M.execute(client, command, argument, callback)
  return compat.request(client, 'workspace/executeCommand', { command = command, arguments = { argument } }, function(err, result)
    callback(text.without_null(result), err and text.visible(err.message or 'an error without a message'))
  end)
end

--- Starts the server for a buffer, if it shows a file of a governed workspace.
function M.attach(bufnr)
  if M.client(bufnr) then
    return
  end
  if compat.has_config then
    local resolved = vim.lsp.config[M.NAME]
    if resolved then
      resolved = vim.deepcopy(resolved)
      local root = M.root_to_start(bufnr)
      if root then
        resolved.root_dir = root
        return vim.lsp.start(resolved, { bufnr = bufnr })
      end
      return
    end
  end
  local root = M.root_to_start(bufnr)
  if root then
    return compat.start(M.config(root), bufnr)
  end
end

--- Attaches every loaded buffer that belongs to a workspace.
function M.attach_all()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      M.attach(bufnr)
    end
  end
end

--- Stops the running servers and starts them again for the buffers that had them; then calls `done`.
function M.restart(done)
  local buffers, ending = {}, compat.clients(M.NAME)
  for _, client in ipairs(ending) do
    for bufnr in pairs(client.attached_buffers or {}) do
      buffers[bufnr] = true
    end
    compat.stop(client)
  end
  local timer, waited = uv.new_timer(), 0
  timer:start(50, 50, vim.schedule_wrap(function()
    waited = waited + 50
    -- A client that is closing counts as attached until its process has ended.
    local left = vim.tbl_filter(function(client)
      return vim.lsp.get_client_by_id(client.id) ~= nil
    end, ending)
    if timer:is_closing() then
      return
    end
    if #left > 0 and waited < 4000 then
      if waited == 3000 then
        for _, client in ipairs(left) do
          compat.stop(client, true)
        end
      end
      return
    end
    timer:stop()
    timer:close()
    for bufnr in pairs(buffers) do
      if vim.api.nvim_buf_is_loaded(bufnr) then
        M.attach(bufnr)
      end
    end
    if done then
      done()
    end
  end))
end

return M

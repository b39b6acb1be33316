-- Hides the differences between Neovim 0.7 and later versions. Only this file knows them.
--
-- 0.7 lacks `vim.lsp.start`, `vim.lsp.get_clients`, `LspAttach`, `vim.fs`, `vim.system`, `vim.ui.open`, inlay hints,
-- `window/showDocument`, and answers of handlers that come later; 0.10 brought inlay hints, 0.11 `vim.lsp.config` and
-- methods of clients.
local M = {}

local has_11 = vim.fn.has('nvim-0.11') == 1

M.uv = vim.uv or vim.loop

--- True if `vim.lsp.config` and `vim.lsp.enable` exist.
M.has_config = has_11
--- True if inlay hints can be shown.
M.has_inlay_hints = vim.lsp.inlay_hint ~= nil and vim.fn.has('nvim-0.10') == 1

--- Returns the clients with this name that are ready, or that are stopping.
function M.clients(name)
  local all = (vim.lsp.get_clients or vim.lsp.get_active_clients)()
  return vim.tbl_filter(function(client)
    return client.name == name
  end, all)
end

--- Returns the client with this name that a buffer is attached to, if it is ready.
function M.client_of(name, bufnr)
  for _, client in ipairs(M.clients(name)) do
    if client.initialized and client.attached_buffers and client.attached_buffers[bufnr] then
      return client
    end
  end
end

-- Calls a method of a client.
local function call(client, method, ...)
  if has_11 then
    return client[method](client, ...)
  end
  return client[method](...)
end

--- Sends a request; the callback takes an error and a result. Returns whether it was sent, and its id.
function M.request(client, method, params, callback, bufnr)
  return call(client, 'request', method, params, function(err, result)
    callback(err, result)
  end, bufnr)
end

--- Takes a request back.
function M.cancel(client, id)
  return call(client, 'is_stopped') or call(client, 'cancel_request', id)
end

--- Sends a request and waits for its result, at most this many milliseconds.
function M.request_sync(client, method, params, timeout, bufnr)
  local answer = call(client, 'request_sync', method, params, timeout, bufnr)
  return answer and answer.result
end

--- Stops a client; with `force`, without waiting for its answer.
function M.stop(client, force)
  call(client, 'stop', force)
end

--- Returns the capabilities of this editor and those that this plugin adds.
function M.capabilities()
  local ours = {
    textDocument = { codeLens = { dynamicRegistration = false } },
    workspace = { codeLens = { refreshSupport = true } },
    window = { showDocument = { support = true } },
  }
  return vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), ours)
end

-- The clients by root, for versions without `vim.lsp.start`.
local started = {}

--- Starts the server for a buffer, or attaches the buffer to the server that already runs for its root.
function M.start(config, bufnr)
  if vim.lsp.start then
    return vim.lsp.start(config, { bufnr = bufnr })
  end
  local id = started[config.root_dir]
  local known = id and vim.lsp.get_client_by_id(id)
  -- While a client starts, it cannot be looked up yet.
  local starting = id and not known and M.starting and M.starting[id]
  if not starting and (not known or known.is_stopped()) then
    id = M.start_client(config)
    started[config.root_dir] = id
  end
  if id then
    vim.lsp.buf_attach_client(bufnr, id)
  end
  return id
end

M.starting = {}

function M.start_client(config)
  config = vim.tbl_extend('force', {}, config)
  local id
  local on_init, on_exit = config.on_init, config.on_exit
  config.on_init = function(...)
    M.starting[id] = nil
    if on_init then
      on_init(...)
    end
  end
  config.on_exit = function(...)
    M.starting[id] = nil
    for root, known in pairs(started) do
      if known == id then
        started[root] = nil
      end
    end
    if on_exit then
      on_exit(...)
    end
  end
  id = vim.lsp.start_client(config)
  if id then
    M.starting[id] = true
  end
  return id
end

--- True if the server can be answered later: handlers run in a coroutine since 0.8.
function M.may_answer_later()
  local running, is_main = coroutine.running()
  return running ~= nil and not is_main
end

--- Shows a file at a position in the client's units.
function M.jump(location, encoding)
  if vim.lsp.util.show_document then
    return vim.lsp.util.show_document(location, encoding, { focus = true, reuse_win = true })
  end
  return vim.lsp.util.jump_to_location(location, encoding)
end

--- Applies a workspace edit.
function M.apply(edit, encoding)
  vim.lsp.util.apply_workspace_edit(edit, encoding)
end

--- Returns the path of the file that all clients log to.
function M.log_path()
  local log = vim.lsp.log or require('vim.lsp.log')
  return log.get_filename and log.get_filename() or vim.lsp.get_log_path()
end

--- Opens a file with the system's program for it. Returns false if no such program is known.
function M.open_outside(path)
  if vim.ui.open then
    local job, problem = vim.ui.open(path)
    return job ~= nil and problem == nil
  end
  local openers = { 'xdg-open', 'open', 'wslview' }
  for _, opener in ipairs(openers) do
    if vim.fn.executable(opener) == 1 then
      return vim.fn.jobstart({ opener, path }, { detach = true }) > 0
    end
  end
  return false
end

--- Returns the functions of a health report.
function M.health()
  local health = vim.health or require('health')
  return {
    start = health.start or health.report_start,
    ok = health.ok or health.report_ok,
    info = health.info or health.report_info,
    warn = health.warn or health.report_warn,
    error = health.error or health.report_error,
  }
end

return M

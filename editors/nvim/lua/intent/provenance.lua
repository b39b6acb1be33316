-- Shows where code comes from: as lenses, as text at the end of lines, or as inlay hints; one of them at a time.
--
-- It asks again when the server says that its answers changed, and a moment after an edit. An answer for an older text
-- is dropped, and marks on lines that are being edited are removed at once, so that no mark is on a wrong line.
local compat = require('intent.compat')
local options = require('intent.options')
local text = require('intent.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('intent.provenance')
local group = vim.api.nvim_create_augroup('intent.provenance', { clear = true })

-- By buffer: what is shown there, as { tick, blocks }.
local shown = {}
-- By buffer: true if its edits are followed.
local followed = {}
local timers = {}

local HIGHLIGHTS = { modified = 'IntentChanged', ambiguous = 'IntentUnsure' }

local function define_highlights()
  vim.cmd('highlight default link IntentProvenance LspCodeLens')
  vim.cmd('highlight default link IntentLine IntentProvenance')
  vim.cmd('highlight default link IntentChanged IntentProvenance')
  vim.cmd('highlight default link IntentUnsure IntentProvenance')
end

local function client_of(bufnr)
  return require('intent.server').client(bufnr)
end

local function tick_of(bufnr)
  return vim.api.nvim_buf_get_changedtick(bufnr)
end

local function is_registry(bufnr)
  return text.is_of_registry(vim.api.nvim_buf_get_name(bufnr))
end

--- Returns the surface of a buffer. The registry uses lenses, unless everything is off.
function M.surface(bufnr)
  local wanted = options.current.provenance
  if wanted == 'inlay' and not compat.has_inlay_hints then
    wanted = 'virtual_text'
  end
  if wanted ~= 'off' and is_registry(bufnr) then
    return 'lens'
  end
  return wanted
end

local function lens_namespace(client_id)
  local namespaces = vim.lsp.codelens.__namespaces
  return namespaces and namespaces[client_id]
end

local function clear_lenses(bufnr, client)
  local lenses = client and lens_namespace(client.id)
  if lenses and vim.api.nvim_buf_is_loaded(bufnr) then
    vim.api.nvim_buf_clear_namespace(bufnr, lenses, 0, -1)
  end
end

--- Returns true if a line of a buffer, counted from 1, has a lens or a text of ours at its end.
function M.has_text(bufnr, line)
  local client = client_of(bufnr)
  for _, space in pairs({ namespace, client and lens_namespace(client.id) or nil }) do
    if #vim.api.nvim_buf_get_extmarks(bufnr, space, { line - 1, 0 }, { line - 1, -1 }, { limit = 1 }) > 0 then
      return true
    end
  end
  return false
end

--- Removes all our marks from a buffer.
function M.clear(bufnr)
  shown[bufnr] = nil
  if vim.api.nvim_buf_is_loaded(bufnr) then
    vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
    clear_lenses(bufnr, client_of(bufnr))
  end
end

--- Called when the client is gone: removes everything that came from it.
function M.forget(client_id)
  local lenses = lens_namespace(client_id)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and not client_of(bufnr) then
      vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
      if lenses then
        vim.api.nvim_buf_clear_namespace(bufnr, lenses, 0, -1)
      end
      shown[bufnr] = nil
    end
  end
end

local function follow(bufnr)
  if followed[bufnr] then
    return
  end
  followed[bufnr] = vim.api.nvim_buf_attach(bufnr, false, {
    on_lines = function(_, _, _, first, _, last)
      -- Marks of deleted lines have moved to the next line.
      vim.api.nvim_buf_clear_namespace(bufnr, namespace, first, math.max(last, first + 1))
    end,
    on_detach = function()
      followed[bufnr], shown[bufnr] = nil, nil
    end,
    on_reload = function()
      vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
    end,
  })
end

local function mark(bufnr, line, block)
  local wanted = options.current.virtual_text
  local words = text.fill(wanted.template, text.block_values(block))
  if words == '' or line >= vim.api.nvim_buf_line_count(bufnr) then
    return
  end
  local highlight = HIGHLIGHTS[block.verdict] or 'IntentProvenance'
  vim.api.nvim_buf_set_extmark(bufnr, namespace, line, 0, {
    virt_text = { { wanted.prefix .. words, highlight } }, virt_text_pos = 'eol', hl_mode = 'combine',
  })
end

local function is_told(block)
  return block.verdict ~= 'unrecorded' and block.kind ~= 'region' and block.kind ~= 'paragraph'
end

--- Draws the known answer for a buffer, if it is for the present text.
function M.draw(bufnr)
  local known = shown[bufnr]
  if not known or known.tick ~= tick_of(bufnr) then
    return
  end
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  local taken = {}
  for _, block in ipairs(known.blocks) do
    -- If several blocks begin on a line, the outermost one is shown.
    if not taken[block.start_line] then
      taken[block.start_line] = true
      mark(bufnr, block.start_line - 1, block)
    end
  end
  require('intent.line').draw()
end

local function refresh_virtual_text(bufnr, client)
  local tick = tick_of(bufnr)
  follow(bufnr)
  require('intent.server').execute(client, 'intent.why', { uri = vim.uri_from_bufnr(bufnr) }, function(answer)
    if not vim.api.nvim_buf_is_loaded(bufnr) or tick_of(bufnr) ~= tick or M.surface(bufnr) ~= 'virtual_text' then
      return
    end
    local blocks = vim.tbl_filter(is_told, answer and answer.blocks or {})
    shown[bufnr] = { tick = tick, blocks = blocks }
    M.draw(bufnr)
  end)
end

local function resolve_all(client, bufnr, lenses, done)
  local left = #lenses
  if left == 0 then
    return done()
  end
  for _, lens in ipairs(lenses) do
    compat.request(client, 'codeLens/resolve', lens, function(_, resolved)
      if resolved and resolved.command then
        lens.command = resolved.command
      end
      left = left - 1
      if left == 0 then
        done()
      end
    end, bufnr)
  end
end

-- Only our own lenses are requested, not those of other servers. They are resolved before they are shown, so that
-- nothing flickers and no answer for an older text appears.
local function refresh_lenses(bufnr, client)
  if vim.lsp.codelens.enable then
    return vim.lsp.codelens.enable(true, { bufnr = bufnr, client_id = client.id })
  end
  local tick = tick_of(bufnr)
  local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }
  compat.request(client, 'textDocument/codeLens', params, function(err, lenses)
    if err or not vim.api.nvim_buf_is_loaded(bufnr) then
      return
    end
    lenses = type(lenses) == 'table' and lenses or {}
    resolve_all(client, bufnr, lenses, function()
      if not vim.api.nvim_buf_is_loaded(bufnr) or tick_of(bufnr) ~= tick or M.surface(bufnr) ~= 'lens' then
        return
      end
      lenses = vim.tbl_filter(function(lens)
        return lens.command ~= nil
      end, lenses)
      clear_lenses(bufnr, client)
      vim.lsp.codelens.on_codelens(nil, lenses, { bufnr = bufnr, client_id = client.id, method = 'textDocument/codeLens' })
      require('intent.line').draw()
    end)
  end, bufnr)
end

-- By buffer: true if we switched its hints on. Hints that somebody else switched on are left alone.
local hinted = {}

local function show_hints(bufnr, wanted)
  if not compat.has_inlay_hints then
    return
  end
  local filter = { bufnr = bufnr }
  -- Neovim switches them off by itself when a client stops.
  if wanted and not vim.lsp.inlay_hint.is_enabled(filter) then
    hinted[bufnr] = true
    vim.lsp.inlay_hint.enable(true, filter)
  elseif not wanted and hinted[bufnr] then
    hinted[bufnr] = nil
    vim.lsp.inlay_hint.enable(false, filter)
  end
end

--- Asks the server again what to show in a buffer.
function M.refresh(bufnr)
  local client = vim.api.nvim_buf_is_loaded(bufnr) and client_of(bufnr)
  if not client then
    return
  end
  local surface = M.surface(bufnr)
  show_hints(bufnr, surface == 'inlay')
  if surface ~= 'virtual_text' and shown[bufnr] then
    shown[bufnr] = nil
    vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  end
  if surface == 'lens' then
    refresh_lenses(bufnr, client)
  else
    clear_lenses(bufnr, client)
  end
  if surface == 'virtual_text' then
    refresh_virtual_text(bufnr, client)
  end
end

local function later(key, delay, work)
  local timer = timers[key]
  if not timer then
    timer = compat.uv.new_timer()
    timers[key] = timer
  end
  timer:start(delay, 0, vim.schedule_wrap(function()
    if timers[key] == timer then
      timers[key] = nil
      timer:stop()
      timer:close()
      work()
    end
  end))
end

--- Does the same after a short delay; several calls within it count as one.
function M.buffer_soon(bufnr, delay)
  later(bufnr, delay or options.current.debounce, function()
    M.refresh(bufnr)
  end)
end

--- Does the same for every visible buffer. The others follow when they become visible.
function M.refresh_soon()
  later('all', 50, function()
    local done = {}
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      local bufnr = vim.api.nvim_win_get_buf(window)
      if not done[bufnr] then
        done[bufnr] = true
        M.refresh(bufnr)
      end
    end
  end)
end

--- Starts to follow edits and the cursor.
function M.start()
  define_highlights()
  local on = function(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, callback = callback })
  end
  on('ColorScheme', define_highlights)
  on({ 'TextChanged', 'TextChangedI', 'InsertLeave' }, function(event)
    if client_of(event.buf) then
      M.buffer_soon(event.buf)
    end
  end)
  on('BufWinEnter', function(event)
    M.buffer_soon(event.buf, 50)
  end)
  on('BufWipeout', function(event)
    shown[event.buf], hinted[event.buf] = nil, nil
  end)
end

return M

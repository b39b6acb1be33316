-- Shows whose the line under the cursor is, at its end and for the statusline.
--
-- The server is asked when the cursor has rested and nobody has typed for a moment, one question at a time. An answer
-- is kept until the text or the ledger changes.
local compat = require('intent.compat')
local options = require('intent.options')
local text = require('intent.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('intent.line')
local group = vim.api.nvim_create_augroup('intent.line', { clear = true })

-- How long the cursor rests, and how long nobody has typed, before the server is asked; in milliseconds.
local RESTS, SETTLES = 150, 1000

-- By buffer: the answers for its lines, as { tick, texts }. A line without an answer that is known has an empty text.
local known = {}
local timer = compat.uv.new_timer()
local edited_at = -SETTLES
-- Where the cursor was, as { bufnr, line }.
local at = {}
-- The question that waits for its answer, as { client, id }; and a number that grows when questions are taken back.
local question, turn = nil, 0

local function client_of(bufnr)
  return options.current.lines ~= 'off' and require('intent.server').client(bufnr) or nil
end

--- Returns true if another plugin shows at the end of the line what git knows of it.
local function is_blamed()
  local gitsigns = package.loaded['gitsigns.config']
  return gitsigns and gitsigns.config and gitsigns.config.current_line_blame == true
    or vim.g.blamer_enabled == 1 or vim.g.blamer_enabled == true
end

--- Returns true for the server's words about a line that nobody recorded.
function M.is_unrecorded(short)
  return vim.startswith(short, 'git says: ') or short:find(' · git says: ', 1, true) ~= nil
    or short == 'not committed yet' or short == 'history is missing here'
end

local function texts_of(bufnr)
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  if not known[bufnr] or known[bufnr].tick ~= tick then
    known[bufnr] = { tick = tick, texts = {} }
  end
  return known[bufnr].texts
end

local function shown(short)
  if not short or (M.is_unrecorded(short) and is_blamed()) then
    return ''
  end
  return text.visible(short)
end

--- Returns what the line of the cursor shows, for a statusline; empty if there is nothing. It sends no request.
function M.text()
  local bufnr = vim.api.nvim_get_current_buf()
  if not client_of(bufnr) then
    return ''
  end
  local line = vim.api.nvim_win_get_cursor(0)[1]
  -- In a statusline a percent sign would be code.
  return (shown(texts_of(bufnr)[line]):gsub('%%', ''))
end

-- The lines that say whose they are, the cursor's first. Blank ones say nothing.
local function lines_of(bufnr)
  local cursor = vim.api.nvim_win_get_cursor(0)[1]
  local lines = { cursor }
  if options.current.lines == 'all' then
    for line = vim.fn.line('w0'), vim.fn.line('w$') do
      if line ~= cursor then
        lines[#lines + 1] = line
      end
    end
  end
  return vim.tbl_filter(function(line)
    return (vim.api.nvim_buf_get_lines(bufnr, line - 1, line, false)[1] or ''):find('%S') ~= nil
  end, lines)
end

--- Shows what is known of the current buffer, and removes what may be wrong.
function M.draw()
  local bufnr = vim.api.nvim_get_current_buf()
  for _, other in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(other) then
      vim.api.nvim_buf_clear_namespace(other, namespace, 0, -1)
    end
  end
  if client_of(bufnr) then
    local texts, cursor = texts_of(bufnr), vim.api.nvim_win_get_cursor(0)[1]
    for _, line in ipairs(lines_of(bufnr)) do
      local words = shown(texts[line])
      -- Of neighbours with the same text, only the first and the cursor's have it.
      local said_above = options.current.lines == 'all' and line ~= cursor and words == shown(texts[line - 1])
      if words ~= '' and not said_above and not require('intent.provenance').has_text(bufnr, line) then
        vim.api.nvim_buf_set_extmark(bufnr, namespace, line - 1, 0, {
          virt_text = { { '  ' .. words, 'IntentLine' } }, virt_text_pos = 'eol', hl_mode = 'combine',
        })
      end
    end
  end
  vim.cmd('redrawstatus')
end

local function take_back()
  turn = turn + 1
  if question then
    compat.cancel(question.client, question.id)
    question = nil
  end
end

local function ask(bufnr, asked_in)
  local client = vim.api.nvim_buf_is_loaded(bufnr) and bufnr == vim.api.nvim_get_current_buf() and client_of(bufnr)
  if not client then
    return M.draw()
  end
  local texts = texts_of(bufnr)
  local line
  for _, one in ipairs(lines_of(bufnr)) do
    if texts[one] == nil then
      line = one
      break
    end
  end
  if not line then
    return M.draw()
  end
  local argument = { uri = vim.uri_from_bufnr(bufnr), position = { line = line - 1, character = 0 } }
  local _, id = require('intent.server').execute(client, 'intent.why', argument, function(answer, problem)
    if turn ~= asked_in then
      return
    end
    question = nil
    -- While the server reads, it refuses; its status tells when it is done.
    if problem then
      return
    end
    texts[line] = answer and answer.short or ''
    if line == vim.api.nvim_win_get_cursor(0)[1] then
      M.draw()
    end
    ask(bufnr, asked_in)
  end)
  question = id and { client = client, id = id }
end

local function soon()
  take_back()
  local asked_in = turn
  local wait = math.max(RESTS, edited_at + SETTLES - compat.uv.now())
  timer:start(wait, 0, vim.schedule_wrap(function()
    if turn == asked_in then
      ask(vim.api.nvim_get_current_buf(), asked_in)
    end
  end))
end

--- Asks again: something was recorded, or the server is another.
function M.forget()
  known = {}
  soon()
end

--- Chooses the next of `off`, `line` and `all`, and returns it.
function M.cycle()
  local after = { off = 'line', line = 'all', all = 'off' }
  options.current.lines = after[options.current.lines]
  M.draw()
  soon()
  return options.current.lines
end

--- Starts to follow the cursor.
function M.start()
  local on = function(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, callback = callback })
  end
  on({ 'CursorMoved', 'CursorMovedI', 'BufEnter', 'WinEnter' }, function()
    local bufnr, line = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1]
    if at[1] ~= bufnr or at[2] ~= line then
      at = { bufnr, line }
      M.draw()
      soon()
    end
  end)
  on({ 'TextChanged', 'TextChangedI' }, function(event)
    if client_of(event.buf) then
      edited_at = compat.uv.now()
      M.draw()
      soon()
    end
  end)
  on('WinScrolled', function()
    if options.current.lines == 'all' then
      soon()
    end
  end)
  on('BufWipeout', function(event)
    known[event.buf] = nil
  end)
end

return M

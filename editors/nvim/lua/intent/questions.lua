-- Shows the server's questions to the person (`window/showMessageRequest`).
--
-- A question of an agent can arrive while somebody types. A list that takes the keyboard would then be answered by the
-- next keystroke. So such a question is shown in a corner, and `:Intent review` asks it. Until then nothing is decided.
-- A question that follows from the person's own command is asked at once.
local compat = require('intent.compat')
local text = require('intent.text')

local M = {}

local LATER = 'Later'
local namespace = vim.api.nvim_create_namespace('intent.questions')
-- How many seconds `:Intent review` waits for the questions that the server announced.
local PATIENCE = 60

-- The window of the notice in the corner.
local notice = {}
-- While `:Intent review` runs: how many questions arrived, how many were announced (nil if unknown), and until when it
-- waits for them.
local review
-- True while a list is open: only one is shown at a time.
local open, queue = false, {}

local function titles(actions)
  local out = {}
  for _, action in ipairs(actions) do
    out[#out + 1] = action.title
  end
  return out
end

--- Returns true if a question comes from an agent. Only such questions can be rejected.
local function is_agents(actions)
  return vim.tbl_contains(titles(actions), 'Reject')
end

local function wrap(message, width)
  local lines, line = {}, ''
  for word in message:gmatch('%S+') do
    while vim.fn.strdisplaywidth(word) > width do
      local part = vim.fn.strcharpart(word, 0, width)
      if line ~= '' then
        lines[#lines + 1] = line
        line = ''
      end
      lines[#lines + 1] = part
      word = vim.fn.strcharpart(word, width)
    end
    local longer = line == '' and word or line .. ' ' .. word
    if vim.fn.strdisplaywidth(longer) > width then
      lines[#lines + 1] = line
      line = word
    else
      line = longer
    end
  end
  if line ~= '' then
    lines[#lines + 1] = line
  end
  return lines
end

--- Removes the notice.
function M.close_notice()
  if notice.window and vim.api.nvim_win_is_valid(notice.window) then
    vim.api.nvim_win_close(notice.window, true)
  end
  notice = {}
end

--- Called when no question waits any more.
function M.settled()
  review = nil
  M.close_notice()
end

-- Returns true if the person asked for this question.
local function is_reviewed()
  if not review or os.time() > review.ends then
    review = nil
    return false
  end
  review.came = review.came + 1
  local last = review.promised and review.came >= review.promised
  if last then
    review = nil
  end
  return true
end

local function show_notice(message)
  local seen = notice.messages or {}
  if not vim.tbl_contains(seen, message) then
    seen[#seen + 1] = message
  end
  M.close_notice()
  local width = math.max(20, math.min(60, vim.o.columns - 6))
  local lines = {}
  for index, one in ipairs(seen) do
    if index > 3 then
      lines[#lines + 1] = ('and %d more'):format(#seen - 3)
      break
    end
    vim.list_extend(lines, wrap(one, width))
  end
  lines[#lines + 1] = ':Intent review answers'
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = 'wipe'
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.api.nvim_buf_set_extmark(buffer, namespace, #lines - 1, 0, { end_col = #lines[#lines], hl_group = 'Comment' })
  local height = math.max(1, math.min(#lines, vim.o.lines - 4))
  local opened, window = pcall(vim.api.nvim_open_win, buffer, false, {
    relative = 'editor', anchor = 'NE', row = 1, col = vim.o.columns - 1, width = width, height = height,
    style = 'minimal', border = 'rounded', focusable = false, noautocmd = true, zindex = 60,
  })
  if not opened then
    -- In some places no window can be opened (for example the command-line window). A message is shown instead.
    require('intent.tell')(message .. ' (:Intent review answers)', vim.log.levels.WARN)
  end
  notice = { window = opened and window or nil, messages = seen, lines = lines }
end

--- Returns the text of the notice in the corner, for tests.
function M.noticed()
  return notice.lines or {}
end

-- Shows a list that must be answered at once, because Neovim 0.7 cannot answer the server later.
local function choose_now(message, choices)
  local lines = { message }
  for index, choice in ipairs(choices) do
    lines[#lines + 1] = ('%d: %s'):format(index, choice)
  end
  local index = vim.fn.inputlist(lines)
  return choices[index]
end

local function next_in_queue()
  open = false
  local waiting = table.remove(queue, 1)
  if waiting then
    waiting()
  end
end

local function choose(message, choices, callback)
  local function ask()
    open = true
    vim.ui.select(choices, { prompt = message, kind = 'intent' }, function(choice)
      callback(choice)
      vim.schedule(next_in_queue)
    end)
  end
  if open then
    queue[#queue + 1] = ask
  else
    ask()
  end
end

local function answer_of(actions, title)
  for _, action in ipairs(actions) do
    if action.title == title then
      return action
    end
  end
  return vim.NIL
end

local function ask_person(message, actions, agents)
  local choices = titles(actions)
  if agents then
    choices[#choices + 1] = LATER
  end
  if not compat.may_answer_later() then
    return answer_of(actions, choose_now(message, choices))
  end
  local waiting = coroutine.running()
  vim.schedule(function()
    choose(message, choices, function(choice)
      -- Scheduled, because some pickers call back before the handler has reached its yield.
      vim.schedule(function()
        coroutine.resume(waiting, answer_of(actions, choice))
      end)
    end)
  end)
  return coroutine.yield()
end

--- Answers the server's question.
function M.asked(params)
  local actions = params.actions
  actions = type(actions) == 'table' and actions or {}
  local message = text.visible(params.message)
  if not is_agents(actions) then
    return ask_person(message, actions, false)
  end
  if is_reviewed() then
    return ask_person(message, actions, true)
  end
  vim.schedule(function()
    show_notice(message)
  end)
  return vim.NIL
end

--- Asks the person the waiting questions, one after the other. `done` gets their number, or why there are none.
function M.review(client, uri, done)
  review = { came = 0, ends = os.time() + PATIENCE }
  local mine = review
  -- A picker that was closed without a callback must not block the next question.
  open, queue = false, {}
  M.close_notice()
  require('intent.server').execute(client, 'intent.review', { uri = uri }, function(answer, problem)
    -- The questions may have arrived before the answer that says how many there are.
    mine.promised = answer and answer.waiting or 0
    if review == mine and mine.came >= mine.promised then
      review = nil
    end
    done(answer and mine.promised, problem)
  end)
end

return M

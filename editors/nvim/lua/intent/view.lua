-- Shows floats: why a block is here, and all records of it.
local text = require('intent.text')

local M = {}

--- Shows lines in a float at the cursor; a second call steps into it, `q` closes it.
function M.float(lines, focus_id)
  local buffer, window = vim.lsp.util.open_floating_preview(lines, 'intent', {
    border = 'rounded', focus_id = 'intent.' .. focus_id, max_width = 100, wrap = true,
  })
  vim.keymap.set('n', 'q', '<cmd>close<cr>', { buffer = buffer, nowait = true })
  return buffer, window
end

local function add(lines, label, value)
  if value and value ~= '' then
    lines[#lines + 1] = (' %-9s %s'):format(label, value)
  end
end

local function moment(timestamp)
  local ago, seconds = text.ago(timestamp), text.seconds(timestamp)
  local date = seconds and os.date('!%Y-%m-%d %H:%M UTC', seconds) or timestamp and text.visible(timestamp)
  return ago and ('%s (%s)'):format(ago, date) or date
end

local function by(contributor, tool, timestamp)
  local parts = {}
  for _, part in ipairs({ text.who(contributor, tool) or false, moment(timestamp) or false }) do
    if part then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, ' · ')
end

local function heading(block)
  local intent = block.intent
  if not intent then
    return block.verdict == 'ambiguous' and 'Two intents brought half of the lines each' or 'No intent brought half of its lines'
  end
  local words = { text.visible(intent.id) }
  for _, word in ipairs({ intent.name or false, intent.status or '(not in the registry)' }) do
    if word then
      words[#words + 1] = text.visible(word)
    end
  end
  return table.concat(words, '  ')
end

--- Shows why a block is here, from an answer of `intent.why`.
function M.why(path, block)
  local lines = { heading(block) }
  local asked = block.asked or {}
  local reasons = {}
  for _, list in ipairs({ asked.tickets or {}, asked.related_specs or {} }) do
    vim.list_extend(reasons, list)
  end
  local what_for = table.concat(reasons, ', ')
  if asked.owner then
    add(lines, 'asked by', text.visible(asked.owner .. (what_for ~= '' and ' for ' .. what_for or '')))
  elseif what_for ~= '' then
    add(lines, 'for', text.visible(what_for))
  end
  for _, constraint in ipairs(asked.constraints or {}) do
    add(lines, 'must hold', text.visible(constraint))
  end
  local name = ('%s %s'):format(block.kind, block.qualified_name or block.name or '')
  add(lines, 'block', ('%s  %s:%d-%d'):format(text.visible(name), text.visible(path), block.start_line, block.end_line))
  add(lines, 'by', by(block.contributor, block.tool, block.timestamp))
  add(lines, 'lines', text.shares(block))
  if block.session then
    add(lines, 'session', text.visible(block.session))
  end
  if block.commit then
    local words = ('%s %s: %s'):format(block.commit.id:sub(1, 10), block.commit.author, block.commit.subject)
    add(lines, 'commit', text.visible(words))
  elseif block.uncommitted then
    add(lines, 'commit', 'none yet')
  end
  add(lines, 'verdict', text.verdict(block))
  if block.record then
    local claimed = block.claimed and '  (claimed: this clone did not write it)' or ''
    add(lines, 'record', text.visible(block.record) .. '  ' .. text.visible(block.strength or '') .. claimed)
  end
  for _, candidate in ipairs(block.candidates or {}) do
    add(lines, 'either', text.visible(candidate.intent or 'no intent') .. '  ' .. by(candidate.contributor, nil, candidate.timestamp))
  end
  local steps = #(block.lineage or {})
  if steps > 1 then
    add(lines, 'also by', text.count(steps - 1, 'record') .. '; :Intent lineage shows them')
  end
  return lines
end

--- Shows all records that brought lines of a block, newest first.
function M.lineage(path, block)
  local lines = { ('%s  %s'):format(text.visible(block.qualified_name or block.name or ''), text.visible(path)) }
  add(lines, 'verdict', text.verdict(block))
  local lineage = block.lineage or {}
  if #lineage == 0 then
    lines[#lines + 1] = ' Nothing was recorded of it.'
  end
  for _, step in ipairs(lineage) do
    lines[#lines + 1] = (' ● %s  %s'):format(
      text.visible(step.intent or 'no intent'), by(step.contributor, step.tool, step.timestamp))
    lines[#lines + 1] = '   ' .. text.visible(step.record or '')
  end
  return lines
end

--- Shows the state of a workspace.
function M.status(status)
  local selected = status.selected
  local lines = { text.visible(status.root) }
  add(lines, 'selected', selected and ('%s  %s  %s'):format(
    text.visible(selected.id), text.visible(selected.name or ''), text.visible(selected.status or ''))
    or status.selection and text.visible(status.selection) .. '  (not in the registry)' or 'no intent')
  if selected then
    add(lines, 'scope', text.visible(table.concat(selected.owned_scope or {}, ', ')))
  end
  add(lines, 'intents', ('%d, %d in progress'):format(status.intents or 0, status.in_progress or 0))
  add(lines, 'ledger', ('%s · %s · %s'):format(
    text.count(status.open_records or 0, 'open record'), text.count(status.errors or 0, 'error'), text.count(status.warnings or 0, 'warning')))
  if status.off then
    local until_ = type(status.off) == 'table' and status.off['until']
    add(lines, 'gate', 'off' .. (until_ and ' until ' .. text.visible(until_) or ''))
  end
  if (status.waiting or 0) > 0 then
    add(lines, 'waiting', text.count(status.waiting, 'question') .. ' of agents; :Intent review answers')
  end
  return lines
end

local SOURCES = {
  openspec = 'OpenSpec', speckit = 'Spec Kit', kiro = 'Kiro', backlog = 'Backlog.md', bmad = 'BMAD',
  taskmaster = 'Taskmaster', conductor = 'Conductor', adr = 'decision record',
}

-- Says how far an intent is, as far as is known: `1 of 3 criteria`, which a passed test shows, `3 of 5 tasks`.
local function progress(intent)
  local criteria = intent.criteria
  if criteria then
    local noun = criteria.all == 1 and 'criterion' or 'criteria'
    return (criteria.shown and criteria.shown .. ' of ' or '') .. ('%d %s'):format(criteria.all, noun)
  end
  return intent.tasks and ('%d of %s'):format(intent.tasks_done or 0, text.count(intent.tasks, 'task'))
end

-- Returns what else is known of an intent: `in progress · 1 of 3 criteria · src/auth/**`.
local function facts(intent)
  local parts = {}
  for _, part in ipairs({
    ((intent.status or '?'):lower():gsub('_', ' ')), progress(intent) or false,
    intent.source and (SOURCES[intent.source] or intent.source) or false, table.concat(intent.owned_scope or {}, ' '),
  }) do
    if part and part ~= '' then
      parts[#parts + 1] = text.visible(part)
    end
  end
  return table.concat(parts, ' · ')
end

local function padded(word, width)
  return word .. (' '):rep(width - vim.fn.strdisplaywidth(word))
end

--- Returns a function that makes the row of an intent in a picker of these: `* INT-001  JWT Migration  in progress · 1 of
--- 3 criteria · src/auth/**`. The parts stand below each other.
function M.rows(intents)
  local ids, names = 0, 0
  for _, intent in ipairs(intents) do
    ids = math.max(ids, vim.fn.strdisplaywidth(text.visible(intent.id)))
    names = math.max(names, vim.fn.strdisplaywidth(text.visible(intent.name or '')))
  end
  return function(intent)
    local id, name = padded(text.visible(intent.id), ids), padded(text.visible(intent.name or ''), names)
    return ('%s %s  %s  %s'):format(intent.selected and '*' or ' ', id, name, facts(intent))
  end
end

local ORDER = { IN_PROGRESS = 1, BLOCKED = 2, PENDING = 3, DRAFT = 4, COMPLETED = 5, ARCHIVED = 6 }

--- Sorts intents by state, what is worked on first. The selected one is on top; others of one state stay in their order.
function M.by_state(intents)
  local places, out = {}, {}
  for place, intent in ipairs(intents) do
    places[intent] = (intent.selected and 0 or ORDER[intent.status] or 7) * #intents + place
    out[place] = intent
  end
  table.sort(out, function(a, b)
    return places[a] < places[b]
  end)
  return out
end

return M

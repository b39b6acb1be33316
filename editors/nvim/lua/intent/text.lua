-- Makes other people's text safe to show, and words ages, authors, verdicts and templates.
local M = {}

-- The ranges of invisible characters and of those that change the direction of text; the same list as in the server.
local INVISIBLE = {
  { 0x00, 0x1F }, { 0x7F, 0x9F }, { 0xAD, 0xAD }, { 0x34F, 0x34F }, { 0x61C, 0x61C }, { 0x115F, 0x1160 },
  { 0x17B4, 0x17B5 }, { 0x180B, 0x180F }, { 0x200B, 0x200F }, { 0x2028, 0x202E }, { 0x2060, 0x206F },
  { 0x2800, 0x2800 }, { 0x3164, 0x3164 }, { 0xFE00, 0xFE0F }, { 0xFEFF, 0xFEFF }, { 0xFFA0, 0xFFA0 },
  { 0xFFF0, 0xFFFB }, { 0x13430, 0x1343F }, { 0x1BCA0, 0x1BCA3 }, { 0x1D173, 0x1D17A }, { 0xE0000, 0xE0FFF },
}

local function codepoint(character)
  local first = character:byte(1)
  if first < 0x80 then
    return first
  end
  local value = first >= 0xF0 and first % 0x08 or first >= 0xE0 and first % 0x10 or first % 0x20
  for index = 2, #character do
    value = value * 64 + character:byte(index) % 64
  end
  return value
end

--- Tells whether a path or an address is of the registry: its list, or the file of one intent.
function M.is_of_registry(place)
  return place:match('/%.orchestration/active_intents%.yaml$') ~= nil
    or place:match('/%.orchestration/intents/[^/]+%.ya?ml$') ~= nil
end

--- Returns text of a registry or ledger on one line, with control, bidirectional and invisible characters as `U+202E`.
function M.visible(text)
  return (tostring(text):gsub('[%z\1-\127\192-\247][\128-\191]*', function(character)
    local value = codepoint(character)
    for _, range in ipairs(INVISIBLE) do
      if value >= range[1] and value <= range[2] then
        return ('U+%04X'):format(value)
      end
    end
  end))
end

--- Does the same for a text of several lines. Returns a list of lines.
function M.lines(text)
  local out = {}
  for _, line in ipairs(vim.split(tostring(text), '\n', { plain = true })) do
    out[#out + 1] = M.visible((line:gsub('\t', '  ')))
  end
  return out
end

--- Returns a value of JSON without its `null`s.
function M.without_null(value)
  if value == vim.NIL then
    return nil
  end
  if type(value) ~= 'table' then
    return value
  end
  local out = {}
  for key, inner in pairs(value) do
    out[key] = M.without_null(inner)
  end
  return out
end

-- Returns the days since 1970-01-01 of a date of the Gregorian calendar.
local function days(year, month, day)
  year = month <= 2 and year - 1 or year
  local era = math.floor(year / 400)
  local of_era = year - era * 400
  local of_year = math.floor((153 * (month + (month > 2 and -3 or 9)) + 2) / 5) + day - 1
  return era * 146097 + of_era * 365 + math.floor(of_era / 4) - math.floor(of_era / 100) + of_year - 719468
end

--- Returns the seconds since 1970 of a timestamp such as `2026-11-21T23:30:08.285Z`; nil if it is not one.
function M.seconds(timestamp)
  local year, month, day, hour, minute, second =
    tostring(timestamp or ''):match('^(%d%d%d%d)%-(%d%d)%-(%d%d)T(%d%d):(%d%d):(%d%d)[%.%d]*Z$')
  if not year then
    return nil
  end
  return days(tonumber(year), tonumber(month), tonumber(day)) * 86400 + hour * 3600 + minute * 60 + tonumber(second)
end

local UNITS = {
  -- As the server says it: weeks, months and years from two of them on.
  { 365 * 86400, 'year', 2 }, { 30 * 86400, 'month', 2 }, { 7 * 86400, 'week', 2 }, { 86400, 'day', 1 }, { 3600, 'hour', 1 },
  { 60, 'minute', 1 },
}

--- Returns `2 days ago`; nil if the text is no time, or a time in the future.
function M.ago(timestamp, now)
  local then_ = M.seconds(timestamp)
  local age = then_ and (now or os.time()) - then_
  -- The clock of another machine may be slightly ahead.
  if not age or age < -300 then
    return nil
  end
  for _, unit in ipairs(UNITS) do
    if age >= unit[1] * unit[3] then
      return M.count(math.floor(age / unit[1]), unit[2]) .. ' ago'
    end
  end
  return 'just now'
end

--- Returns `1 file`, `2 files`.
function M.count(number, noun)
  return ('%d %s%s'):format(number, noun, number == 1 and '' or 's')
end

--- Returns who wrote a block, as far as the record says.
function M.who(contributor, tool)
  if not contributor then
    return nil
  end
  -- The tool is named `intent` if a person or a script ran the command line. That says nothing about the author.
  local model = contributor.model_identifier
  local agent = tool ~= 'intent' and tool or model and model:match('[^/]*$')
  agent = agent and M.visible(agent)
  local kind = contributor.entity_type
  local person = contributor.name and M.visible(contributor.name) or 'a person'
  if kind == 'AI' then
    return agent or 'AI'
  elseif kind == 'HUMAN' then
    return person
  elseif kind == 'MIXED' then
    return person .. ' and ' .. (agent or 'AI')
  end
  return 'unknown author'
end

local MARKS = { exact = '✓', reformatted = '✓', moved = '✓', renamed = '✓', modified = '~', ambiguous = '?' }

--- Returns a verdict with its mark: `✓ exact`, `~ modified, 2 lines since`.
function M.verdict(block)
  local verdict = block.verdict or 'unrecorded'
  if block.accepted then
    return '✓ accepted'
  end
  local said = (MARKS[verdict] or '·') .. ' ' .. M.visible(verdict)
  if verdict == 'modified' and not block.only_inside then
    local newer = block.newer or 0
    if newer > 0 or block.cut then
      said = said .. ', ' .. (newer > 0 and M.count(newer, 'line') or 'lines removed') .. ' since'
    end
  end
  return said
end

local SEPARATORS = { '', '·', '|', ',', ';', ':', '-', '–', '—' }

local function is_separator(between)
  return vim.tbl_contains(SEPARATORS, vim.trim(between))
end

--- Fills in the tokens of a template. A token without a value is left out together with the separator before it.
function M.fill(template, values)
  local out, rest = '', template
  while true do
    local from, to, token = rest:find('%${(.-)}')
    if not from then
      return vim.trim(out .. rest)
    end
    local between, value = rest:sub(1, from - 1), values[token] or ''
    -- At the beginning there is nothing to separate either.
    if not is_separator(between) or (value ~= '' and out ~= '') then
      out = out .. between
    end
    out = out .. value
    rest = rest:sub(to + 1)
  end
end

--- Says who brought how many lines: `3 lines INT-001, 1 line git: Ada abc1234567`. Empty where one intent brought all.
function M.shares(block)
  local shares, said = block.shares or {}, {}
  if #shares == 1 and shares[1].intent then
    return ''
  end
  for _, share in ipairs(shares) do
    local whose = share.intent or share.uncommitted and 'not committed'
      or block.history_missing and 'history is missing here'
      or share.commit and ('git: %s %s'):format(share.commit.author, share.commit.id:sub(1, 10)) or 'no intent'
    said[#said + 1] = M.count(share.lines, 'line') .. ' ' .. M.visible(whose)
  end
  return table.concat(said, ', ')
end

--- Returns the values of a block's tokens, from an answer of `intent.why`.
function M.block_values(block)
  local intent = block.intent or {}
  local seconds = M.seconds(block.timestamp)
  local lineage = block.lineage or {}
  return {
    intent = intent.id and M.visible(intent.id),
    name = intent.name and M.visible(intent.name),
    status = intent.status and M.visible(intent.status),
    who = M.who(block.contributor, block.tool),
    when = M.ago(block.timestamp),
    date = seconds and os.date('%Y-%m-%d', seconds),
    verdict = M.verdict(block),
    block = M.visible(block.qualified_name or block.name or ''),
    tool = block.tool and M.visible(block.tool),
    records = #lineage > 0 and M.count(#lineage, 'record') or nil,
  }
end

return M

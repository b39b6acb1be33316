-- The options with their defaults, and the messages about invalid values.
local M = {}

local SURFACES = { 'lens', 'virtual_text', 'inlay', 'off' }
local LEVELS = { 'off', 'hint', 'info', 'warning', 'error' }
local LINES = { 'off', 'line', 'all' }
local TRACES = { 'off', 'messages', 'verbose' }
local ENCODINGS = { 'utf-8', 'utf-16', 'utf-32' }

--- The tokens of `virtual_text.template`.
M.BLOCK_TOKENS = { 'intent', 'name', 'status', 'who', 'when', 'date', 'verdict', 'block', 'tool', 'records' }
--- The tokens of `statusline`.
M.STATUS_TOKENS = { 'intent', 'name', 'findings', 'waiting', 'gate' }

M.defaults = {
  -- The program and its arguments: a name that is searched on PATH, or an absolute path.
  cmd = { 'intent', 'lsp' },
  -- True: the server starts by itself for files of a governed workspace.
  auto_start = true,
  -- True: agents' questions are shown here, and `:Intent review` can answer them.
  interactive = true,
  -- Which lines say at their end whose they are: none, the cursor's, or all that can be seen.
  lines = 'line',
  -- Where provenance is shown; one place at a time.
  provenance = 'lens',
  virtual_text = {
    template = '${intent} ${name} · ${who} · ${when} · ${verdict}',
    prefix = '  ',
  },
  -- The level of each diagnostic: { ['scope-violation'] = 'warning' }.
  levels = {},
  -- A template, or a function that gets the status and returns a text.
  statusline = '${intent}${findings}${waiting}${gate}',
  -- How long to wait after an edit before provenance is requested again, in milliseconds.
  debounce = 300,
  trace = 'off',
  position_encoding = nil,
  docs_url = nil,
}

--- The options in force.
M.current = vim.deepcopy(M.defaults)

local function quoted(names)
  local out = {}
  for _, name in ipairs(names) do
    out[#out + 1] = ('%q'):format(name)
  end
  return table.concat(out, ', ')
end

local function one_of(names)
  return function(value)
    if not vim.tbl_contains(names, value) then
      return 'has to be one of ' .. quoted(names)
    end
  end
end

local function of_type(wanted)
  return function(value)
    if type(value) ~= wanted then
      return 'has to be a ' .. wanted
    end
  end
end

local function template(tokens)
  return function(value)
    if type(value) ~= 'string' then
      return 'has to be a string'
    end
    for token in value:gmatch('%${(.-)}') do
      if not vim.tbl_contains(tokens, token) then
        return ('holds the unknown token ${%s}; there are %s'):format(token, table.concat(tokens, ', '))
      end
    end
  end
end

local function command(value)
  if type(value) ~= 'table' or type(value[1]) ~= 'string' or value[1] == '' then
    return "has to be a list that begins with the program, such as { 'intent', 'lsp' }"
  end
  for _, word in ipairs(value) do
    if type(word) ~= 'string' then
      return 'has to be a list of strings'
    end
  end
  if value[1]:find('[/\\]') and not M.is_absolute(value[1]) then
    return 'begins with a relative path, and would run whatever lies there; name the program or write the whole path'
  end
end

local function levels(value)
  if type(value) ~= 'table' then
    return 'has to be a table'
  end
  for code, level in pairs(value) do
    if type(code) ~= 'string' or not vim.tbl_contains(LEVELS, level) then
      return ('holds %s = %s; a level is one of %s'):format(tostring(code), vim.inspect(level), quoted(LEVELS))
    end
  end
end

local function statusline(value)
  if type(value) ~= 'function' then
    return template(M.STATUS_TOKENS)(value)
  end
end

local function whole_number(value)
  if type(value) ~= 'number' or value < 0 or value ~= math.floor(value) then
    return 'has to be a whole number of milliseconds'
  end
end

local RULES = {
  cmd = command,
  auto_start = of_type('boolean'),
  interactive = of_type('boolean'),
  lines = one_of(LINES),
  provenance = one_of(SURFACES),
  virtual_text = {
    template = template(M.BLOCK_TOKENS),
    prefix = of_type('string'),
  },
  levels = levels,
  statusline = statusline,
  debounce = whole_number,
  trace = one_of(TRACES),
  position_encoding = one_of(ENCODINGS),
  docs_url = of_type('string'),
}

--- Returns true if a path does not depend on the current folder.
function M.is_absolute(path)
  return path:sub(1, 1) == '/' or path:match('^%a:[/\\]') ~= nil or path:sub(1, 2) == '\\\\'
end

local function names_of(rules)
  local names = vim.tbl_keys(rules)
  table.sort(names)
  return table.concat(names, ', ')
end

local function examine(given, rules, prefix, problems)
  for key, value in pairs(given) do
    local rule = rules[key]
    local name = prefix .. tostring(key)
    if rule == nil then
      problems[#problems + 1] = ('there is no option %s; there are %s'):format(name, names_of(rules))
    elseif type(rule) == 'table' then
      if type(value) == 'table' then
        examine(value, rule, name .. '.', problems)
      else
        problems[#problems + 1] = name .. ' has to be a table'
      end
    else
      local problem = rule(value)
      if problem then
        problems[#problems + 1] = ('%s %s'):format(name, problem)
      end
    end
  end
end

--- Returns what is wrong with the given options, one sentence each; empty if nothing is.
function M.problems(given)
  if given ~= nil and type(given) ~= 'table' then
    return { 'setup takes a table' }
  end
  local problems = {}
  examine(given or {}, RULES, '', problems)
  table.sort(problems)
  return problems
end

--- Merges options over the defaults. If one is invalid, nothing changes, and the problems are returned.
function M.set(given)
  local problems = M.problems(given)
  if #problems > 0 then
    return problems
  end
  local cmd = given and given.cmd
  M.current = vim.tbl_deep_extend('force', vim.deepcopy(M.defaults), given or {})
  -- Lists are replaced, not merged.
  M.current.cmd = vim.deepcopy(cmd or M.defaults.cmd)
  return problems
end

return M

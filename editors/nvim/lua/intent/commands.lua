-- `:Intent`: one command with its subcommands and their completion.
local compat = require('intent.compat')
local server = require('intent.server')
local say = require('intent.tell')
local text = require('intent.text')
local view = require('intent.view')

local M = {}

local function complain(message)
  say(message, vim.log.levels.ERROR)
end

-- Calls a function with the client of this buffer, or says that there is none.
local function with_client(work)
  local client, uri = server.for_command(0)
  if client then
    return work(client, uri)
  end
  local file = server.file_of(vim.api.nvim_get_current_buf())
  if file and not server.root_of(file) then
    return say('this file is in no governed workspace (`intent setup init` makes one)', vim.log.levels.WARN)
  end
  say('no server runs for this buffer; open a file of a governed workspace (:checkhealth intent)', vim.log.levels.WARN)
end

-- Sends a command to the server, reports an error, and passes a result on.
local function ask(client, command, argument, done)
  server.execute(client, command, argument, function(answer, problem)
    if problem then
      complain(problem)
    else
      done(answer)
    end
  end)
end

-- The same for the workspace of this buffer. `done` also gets the client and the buffer's address.
local function ask_here(command, argument, done)
  with_client(function(client, uri)
    ask(client, command, vim.tbl_extend('error', { uri = uri }, argument), function(answer)
      done(answer, client, uri)
    end)
  end)
end

-- Lets the person choose one of these intents.
local function choose(intents, prompt, format, done)
  if #intents == 0 then
    return say('the registry holds no intent', vim.log.levels.WARN)
  end
  vim.ui.select(intents, { prompt = prompt, kind = 'intent', format_item = format }, function(intent)
    if intent then
      done(intent)
    end
  end)
end

local function line()
  return vim.api.nvim_win_get_cursor(0)[1]
end

local function same_id(a, b)
  return a:upper() == b:upper()
end

-- Finds the intent under the cursor: its id as a word, or else the intent of the block, or else a choice from a list.
local function with_intent(given, prompt, done)
  ask_here('intent.list', {}, function(intents, client, uri)
    local function pick()
      choose(intents, prompt, view.rows(intents), function(intent)
        done(client, uri, intent.id)
      end)
    end
    if given then
      return done(client, uri, given)
    end
    local word = vim.fn.expand('<cWORD>')
    for _, intent in ipairs(intents) do
      if word:find(intent.id, 1, true) then
        return done(client, uri, intent.id)
      end
    end
    if not server.client(0) then
      return pick()
    end
    server.execute(client, 'intent.why', { uri = uri, line = line() }, function(answer)
      local block = answer and answer.blocks and answer.blocks[1]
      if block and block.intent then
        return done(client, uri, block.intent.id)
      end
      pick()
    end)
  end)
end

-- Lists the places of an intent: its definition first, then its blocks as they are now.
local function places_of(client, uri, id, done)
  compat.request(client, 'workspace/symbol', { query = id }, function(err, symbols)
    if err then
      return complain(text.visible(err.message))
    end
    local definition, blocks = nil, {}
    local root = client.config.root_dir and vim.uri_from_fname(client.config.root_dir)
    for _, symbol in ipairs(text.without_null(symbols) or {}) do
      local of, rest = symbol.name:match('^(%S+)%s*(.*)$')
      if of and same_id(of, id) and (not root or vim.startswith(symbol.location.uri, root)) then
        if text.is_of_registry(symbol.location.uri) then
          definition = definition or symbol
        else
          symbol.block = rest
          blocks[#blocks + 1] = symbol
        end
      end
    end
    done(definition, blocks)
  end)
end

-- Calls a function with the definition of an intent, or says that there is none.
local function with_definition(client, uri, id, done)
  places_of(client, uri, id, function(definition)
    if not definition then
      return say(('the registry does not hold %s'):format(text.visible(id)), vim.log.levels.WARN)
    end
    done(definition)
  end)
end

local function with_block(done)
  with_client(function(client, uri)
    if not server.client(0) then
      return say('this buffer shows no file of a governed workspace', vim.log.levels.WARN)
    end
    ask(client, 'intent.why', { uri = uri, line = line() }, function(answer)
      local block = answer.blocks and answer.blocks[1]
      if not block then
        return say('there is no block at this line')
      end
      done(answer.path, block, client, uri)
    end)
  end)
end

-- Goes to an intent: to its place in the registry, or to what it is in another format.
local function go_to(client, uri, intent)
  local root = client.config.root_dir
  if intent.unit and root then
    vim.cmd("normal! m'")
    return vim.cmd('edit ' .. vim.fn.fnameescape(root .. '/' .. intent.unit))
  end
  with_definition(client, uri, intent.id, function(definition)
    vim.cmd("normal! m'")
    compat.jump(definition.location, client.offset_encoding)
  end)
end

local function quickfix(client, id, definition, blocks)
  local locations = {}
  for _, symbol in ipairs(blocks) do
    locations[#locations + 1] = {
      filename = vim.uri_to_fname(symbol.location.uri),
      lnum = symbol.location.range.start.line + 1,
      col = symbol.location.range.start.character + 1,
      text = text.visible(symbol.block),
    }
  end
  local title = definition and text.visible(definition.name) or id
  vim.fn.setqflist({}, ' ', { title = 'Intent ' .. title, items = locations })
  vim.cmd('botright copen')
end

local function changed_files(edit)
  local uris = {}
  for uri in pairs(edit.changes or {}) do
    uris[uri] = true
  end
  for _, change in ipairs(edit.documentChanges or {}) do
    if change.textDocument then
      uris[change.textDocument.uri] = true
    end
  end
  return vim.tbl_count(uris)
end

-- Renames an id at its definition. The registry's buffer is loaded first, so that the server sees its text.
local function rename(client, definition, old, new)
  local uri = definition.location.uri
  local bufnr = vim.uri_to_bufnr(uri)
  vim.fn.bufload(bufnr)
  vim.bo[bufnr].buflisted = true
  server.attach(bufnr)
  if not vim.wait(3000, function() return server.client(bufnr) ~= nil end, 20) then
    return complain('the registry could not be opened')
  end
  local params = { textDocument = { uri = uri }, position = definition.location.range.start, newName = new }
  compat.request(client, 'textDocument/rename', params, function(err, edit)
    if err then
      return complain(text.visible(err.message))
    end
    edit = text.without_null(edit)
    if not edit then
      return complain(('%s cannot be renamed'):format(old))
    end
    compat.apply(edit, client.offset_encoding)
    say(('%s is %s now, in %s; `:wa` writes them'):format(old, new, text.count(changed_files(edit), 'file')))
  end, bufnr)
end

local function record_result(answer)
  local recorded, said = answer.recorded or {}, {}
  for _, one in ipairs(recorded) do
    local under = one.intent and ' under ' .. text.visible(one.intent) or ' under no intent'
    local against = one.outcome == 'deny' and ', which the gate is against' or ''
    said[#said + 1] = ('recorded %s of %s%s%s'):format(text.count(one.blocks or 0, 'block'), text.visible(one.path or ''), under, against)
  end
  for _, one in ipairs(answer.skipped or {}) do
    said[#said + 1] = ('%s was not recorded: %s'):format(text.visible(one.path or ''), text.visible(one.reason or ''))
  end
  local all_well = #recorded > 0 and #(answer.skipped or {}) == 0
  return all_well, #said > 0 and table.concat(said, '; ') or 'nothing was recorded'
end

local function scratch(lines, name, filetype)
  vim.cmd('botright new')
  local bufnr = vim.api.nvim_get_current_buf()
  vim.bo[bufnr].buftype, vim.bo[bufnr].bufhidden, vim.bo[bufnr].swapfile = 'nofile', 'wipe', false
  pcall(vim.api.nvim_buf_set_name, bufnr, name)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].filetype = filetype
  vim.api.nvim_win_set_height(0, math.max(3, math.min(#lines, math.floor(vim.o.lines / 2))))
  vim.keymap.set('n', 'q', '<cmd>close<cr>', { buffer = bufnr, nowait = true })
end

-- What is completed after a subcommand.
local COMPLETED = { select = 'ids', blocks = 'ids', ['goto'] = 'ids', context = 'ids', record = 'files' }

-- Each function takes the words after its name, and whether there was a `!`.
M.subcommands = {
  select = function(words)
    local function select(id)
      ask_here('intent.select', { id = id }, function(answer)
        local intent = answer.intent or answer.selected or {}
        local name = type(intent) == 'table' and intent.name and '  ' .. text.visible(intent.name) or ''
        say(('you work under %s%s'):format(text.visible(id), name))
      end)
    end
    if words[1] then
      return select(words[1])
    end
    ask_here('intent.list', {}, function(intents)
      local open = vim.tbl_filter(function(intent)
        return intent.status == 'IN_PROGRESS'
      end, intents)
      if #open == 0 then
        return say('no intent is in progress; start or create one first', vim.log.levels.WARN)
      end
      choose(open, 'Work under', view.rows(open), function(intent)
        select(intent.id)
      end)
    end)
  end,
  list = function()
    ask_here('intent.list', {}, function(intents, client, uri)
      choose(view.by_state(intents), 'Intents', view.rows(intents), function(intent)
        go_to(client, uri, intent)
      end)
    end)
  end,
  clear = function()
    ask_here('intent.clear', {}, function()
      say('no intent is selected')
    end)
  end,
  why = function()
    with_block(function(path, block)
      view.float(view.why(path, block), 'why')
    end)
  end,
  lineage = function()
    with_block(function(path, block)
      view.float(view.lineage(path, block), 'lineage')
    end)
  end,
  record = function(words, bang)
    with_client(function(client, uri)
      local paths = {}
      for _, word in ipairs(words) do
        paths[#paths + 1] = vim.fn.fnamemodify(vim.fn.expand(word), ':p'):gsub('[/\\]$', '')
      end
      if #paths == 0 then
        local file = server.file_of(vim.api.nvim_get_current_buf())
        if not file then
          return say('this buffer shows no file', vim.log.levels.WARN)
        end
        if vim.bo.modified and bang then
          vim.cmd('silent write')
        elseif vim.bo.modified then
          return say('this buffer is not written, and what is on disk would be recorded; `:Intent! record` writes it first', vim.log.levels.WARN)
        end
        paths = { file }
      end
      ask(client, 'intent.record', { uri = uri, paths = paths }, function(answer)
        local well, said = record_result(answer)
        say(said, not well and vim.log.levels.WARN or nil)
      end)
    end)
  end,
  accept = function()
    with_block(function(_, _, client, uri)
      ask(client, 'intent.accept', { uri = uri, line = line() }, function()
        say('the block counts as right as it stands')
      end)
    end)
  end,
  blocks = function(words)
    with_intent(words[1], 'Blocks of', function(client, uri, id)
      places_of(client, uri, id, function(definition, blocks)
        if #blocks == 0 then
          return say(('nothing is recorded under %s'):format(text.visible(id)))
        end
        quickfix(client, id, definition, blocks)
      end)
    end)
  end,
  ['goto'] = function(words)
    with_intent(words[1], 'Go to', function(client, uri, id)
      go_to(client, uri, { id = id })
    end)
  end,
  rename = function(words)
    with_intent(words[2] and words[1], 'Rename', function(client, uri, id)
      with_definition(client, uri, id, function(definition)
        local new = words[2] or words[1]
        if new then
          return rename(client, definition, id, new)
        end
        vim.ui.input({ prompt = 'New id: ', default = id }, function(answer)
          if answer and answer ~= '' and answer ~= id then
            rename(client, definition, id, answer)
          end
        end)
      end)
    end)
  end,
  review = function()
    with_client(function(client, uri)
      require('intent.questions').review(client, uri, function(waiting, problem)
        if problem then
          complain(problem)
        elseif waiting == 0 then
          say('no agent asks for anything')
        end
      end)
    end)
  end,
  lines = function()
    say(require('intent.line').cycle() .. ' (off, line, all: which lines say whose they are)')
  end,
  status = function()
    ask_here('intent.status', {}, function(status)
      require('intent.status').told(status)
      view.float(view.status(status), 'status')
    end)
  end,
  context = function(words)
    ask_here('intent.context', { id = words[1] }, function(answer)
      scratch(text.lines((answer.context or ''):gsub('\n$', '')), 'intent://context/' .. text.visible(answer.id or ''), 'xml')
    end)
  end,
  report = function(words)
    with_client(function(client)
      M.report(client.config.root_dir, words[1])
    end)
  end,
  restart = function()
    server.restart(function()
      say('the server is started again')
    end)
    server.attach_all()
  end,
  log = function()
    vim.cmd('tabnew ' .. vim.fn.fnameescape(compat.log_path()))
    vim.cmd('normal! G')
  end,
}

--- Writes the report of a workspace as one page, to `out` or a temporary file, and opens it with the system's browser.
function M.report(root, out)
  local command, why = server.command(root)
  if not command then
    return complain(why)
  end
  local page = out and vim.fn.fnamemodify(vim.fn.expand(out), ':p') or vim.fn.tempname() .. '.html'
  local said = {}
  local function collect(_, data)
    vim.list_extend(said, data)
  end
  vim.fn.jobstart({ command[1], '-C', root, 'report', '--html', '--out', page }, {
    stderr_buffered = true,
    on_stderr = collect,
    on_exit = function(_, code)
      if code ~= 0 and vim.fn.filereadable(page) == 0 then
        return complain('no report: ' .. text.visible(table.concat(said, ' ')))
      end
      if out or not compat.open_outside(page) then
        say('the report is ' .. page)
      end
    end,
  })
end

local function names()
  local out = vim.tbl_keys(M.subcommands)
  table.sort(out)
  return out
end

--- Runs `:Intent WORDS…`; without words, it shows the status.
function M.run(given)
  local words = vim.deepcopy(given.fargs)
  local name = table.remove(words, 1) or 'status'
  local subcommand = M.subcommands[name]
  if not subcommand then
    return complain(('there is no :Intent %s; there are %s'):format(name, table.concat(names(), ', ')))
  end
  subcommand(words, given.bang)
end

local function ids()
  local client, uri = server.for_command(0)
  if not client then
    return {}
  end
  local params = { command = 'intent.list', arguments = { { uri = uri } } }
  local intents = compat.request_sync(client, 'workspace/executeCommand', params, 500, 0)
  local out = {}
  for _, intent in ipairs(text.without_null(intents) or {}) do
    out[#out + 1] = intent.id
  end
  return out
end

--- Completes the command line.
function M.complete(lead, command_line)
  local words = vim.split(vim.trim((command_line:gsub('^.-Intent!?', '', 1))), '%s+')
  local at_name = #words == 0 or (#words == 1 and lead == words[1])
  local completed = not at_name and COMPLETED[words[1]]
  if completed == 'files' then
    return vim.fn.getcompletion(lead, 'file')
  end
  local found = at_name and names() or completed == 'ids' and ids() or {}
  return vim.tbl_filter(function(word)
    return vim.startswith(word:lower(), lead:lower())
  end, found)
end

return M

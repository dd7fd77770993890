--- `:Assay` and what it does.
local client = require('assay.client')
local config = require('assay.config')
local report = require('assay.report')
local M = {}

-- Minutes that `:Assay pause` takes without a number.
local PAUSE_MINUTES = 30
-- A day: the longest pause that the server takes.
local MAX_MINUTES = 1440
-- The longest calibration that the server takes, in minutes.
local MAX_CALIBRATION = 240

local function say(text, level)
  vim.notify('Assay: ' .. text, level or vim.log.levels.INFO)
end

--- Whether the server can be asked; why not is said.
---@return boolean
local function running()
  if not config.ready then
    say("not set up: call require('assay').setup()", vim.log.levels.WARN)
  elseif not client.get() then
    local wanted, why = client.wanted(vim.api.nvim_get_current_buf())
    local because = client.failure or (not wanted and why) or 'it is still starting'
    say('no server: ' .. because, vim.log.levels.WARN)
  else
    return true
  end
  return false
end

--- Ask the server, and go on with its answer; what goes wrong is said.
---@param method string
---@param params table
---@param use fun(answer: table)
local function with(method, params, use)
  if not running() then
    return
  end
  client.request(method, vim.tbl_isempty(params) and vim.empty_dict() or params, function(err, answer)
    if err then
      say(err.message, vim.log.levels.WARN)
    else
      use(answer)
    end
  end)
end

local STOPS = { 'quiet', 'balanced', 'everything' }

--- Set the dial, and say what it does.
---@param setting number|string what `showAbove` is to be
---@param words string
local function turn(setting, words)
  client.change('showAbove', setting)
  say(('%s (showAbove = %s)'):format(words, setting))
end

---@param value number
local function turn_to_level(value)
  turn(value, value == 0 and 'shows all suggestions' or ('shows suggestions from %g %% on'):format(100 * value))
end

--- Set the dial to one of the stops.
---@param name string
local function stop(name)
  with('assay/dial', {}, function(answer)
    for _, each in ipairs(answer.stops or {}) do
      if each.stop == name then
        turn(each.setting, ('%s: %s'):format(name, each.words))
        return
      end
    end
    say('the server is older than this plugin and has no stops', vim.log.levels.WARN)
  end)
end

local function choose_dial()
  with('assay/dial', {}, function(answer)
    local levels, prompt = report.dial(answer)
    vim.ui.select(levels, {
      prompt = prompt,
      kind = 'assay_dial',
      format_item = function(each)
        return each.text
      end,
    }, function(chosen)
      if chosen and chosen.words then
        turn(chosen.value, chosen.words)
      elseif chosen then
        turn_to_level(chosen.value)
      end
    end)
  end)
end

---@param level? string
local function dial(level)
  local value = tonumber(level)
  if not level then
    choose_dial()
  elseif vim.list_contains(STOPS, level) then
    stop(level)
  -- nan is neither
  elseif not value or not (value >= 0 and value <= 1) then
    say('dial needs a number from 0 to 1, or quiet, balanced or everything', vim.log.levels.WARN)
  elseif running() then
    turn_to_level(value)
  end
end

--- Show lines beside the cursor until it moves.
---@param lines string[]
---@param syntax string
---@param id string
local function float(lines, syntax, id)
  vim.lsp.util.open_floating_preview(lines, syntax, {
    focus_id = id,
    border = 'rounded',
    max_width = 100,
    wrap = true,
    close_events = { 'CursorMoved', 'BufLeave', 'InsertLeave', 'TextChangedI' },
  })
end

local function status()
  with('assay/status', {}, function(answer)
    float(report.status(answer), '', 'assay_status')
  end)
end

local function explain()
  local id = require('assay.suggestion').latest
  if not id then
    say('no suggestion has been shown yet')
    return
  end
  with('assay/explain', { id = id }, function(answer)
    float(vim.split(answer.markdown, '\n', { plain = true }), 'markdown', 'assay_explain')
  end)
end

---@param name string
---@param lines string[]
local function show(name, lines)
  local buf = vim.fn.bufnr(name)
  if buf == -1 then
    buf = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buf, name)
    vim.bo[buf].filetype = 'markdown'
  end
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  local win = vim.fn.bufwinid(buf)
  if win ~= -1 then
    vim.api.nvim_set_current_win(win)
    return
  end
  vim.cmd('botright split')
  vim.api.nvim_win_set_buf(0, buf)
  vim.wo[0][0].wrap = false
  vim.wo[0][0].spell = false
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buf, desc = 'Assay: close the report' })
end

--- Pause for so many minutes; 0 goes on.
---@param minutes number
---@param use fun()
local function set_pause(minutes, use)
  if client.get() and not client.has('assay.pause') then
    say('the server is older than this plugin and has no pause', vim.log.levels.WARN)
  else
    with('workspace/executeCommand', { command = 'assay.pause', arguments = { { minutes = minutes } } }, use)
  end
end

---@param minutes? string
local function pause(minutes)
  local count = PAUSE_MINUTES
  if minutes then
    count = tonumber(minutes)
  end
  if not count or not (count > 0 and count <= MAX_MINUTES) then
    say(('pause needs a number of minutes, up to %d'):format(MAX_MINUTES), vim.log.levels.WARN)
    return
  end
  set_pause(count, function()
    require('assay.suggestion').leave()
    say(('paused for %g minutes; :Assay resume'):format(count))
  end)
end

local function resume()
  set_pause(0, function()
    say('resumed')
  end)
end

local function automatic()
  if not running() then
    return
  end
  local loud = config.current.settings.automatic == false
  client.change('automatic', loud)
  if loud then
    say('suggestions come automatically again')
  else
    require('assay.suggestion').leave()
    local key = config.current.keys and config.current.keys.invoke
    say(('suggestions come only when you ask for them (%s)'):format(key or "require('assay').invoke()"))
  end
end

-- It answers when somebody types again: more than a line would take the next key for the answer to "Press ENTER".
local function recalibrate()
  if not running() then
    return
  end
  say('fitting calibrators to your own log …')
  with('assay/recalibrate', {}, function(answer)
    local written, refused = #answer.written, #answer.refused
    if written + refused == 0 then
      say('your log has no suggestion yet that a calibrator could be fitted to')
    else
      say(('%d calibrator%s written, %d refused; see :Assay report'):format(written, written == 1 and '' or 's', refused))
    end
  end)
end

--- Fit calibrators to the model, in the background.
---@param minutes? string
local function calibrate(minutes)
  local count = minutes and tonumber(minutes)
  if minutes and not (count and count > 0 and count <= MAX_CALIBRATION) then
    say(('calibrate needs a number of minutes, up to %d'):format(MAX_CALIBRATION), vim.log.levels.WARN)
  elseif running() then
    require('assay.models').calibrate(count)
  end
end

--- The model of this name, or else one from the list.
---@param name? string
local function model(name)
  if not running() then
    return
  elseif name then
    require('assay.models').use(name)
  else
    require('assay.models').choose(false)
  end
end

--- The lines that a command was given, or else those on the screen.
---@param range? { [1]: integer, [2]: integer } from 1
local function surprise(_, range)
  if running() then
    local first, last = vim.fn.line('w0'), vim.fn.line('w$')
    require('assay.repair').surprise(range and range[1] or first, range and range[2] or last)
  end
end

--- The lines that a command was given, or else the cursor's.
---@param range? { [1]: integer, [2]: integer } from 1
local function repair(_, range)
  if running() then
    local row = vim.api.nvim_win_get_cursor(0)[1]
    require('assay.repair').choose(range and range[1] or row, range and range[2] or row)
  end
end

--- Run the tests that touch the lines that a command was given, or else the cursor's; or those that touch what was accepted last.
--- Or repair the file where tests fail that run it.
---@param which? 'accepted'|'forbid'|'repair'
---@param range? { [1]: integer, [2]: integer } from 1
local function tests(which, range)
  if running() then
    local uri = vim.uri_from_bufnr(0)
    if which == 'forbid' then
      client.execute('assay.forbidTests', { uri = uri }, 0)
    elseif which == 'repair' then
      client.execute('assay.repairTests', { uri = uri }, 0)
    elseif which == 'accepted' then
      client.execute('assay.runTests', { uri = uri }, 0)
    else
      local row = vim.api.nvim_win_get_cursor(0)[1]
      local first, last = range and range[1] or row, range and range[2] or row
      local lines = { start = { line = first - 1, character = 0 }, ['end'] = { line = last, character = 0 } }
      client.execute('assay.runTests', { uri = uri, range = lines }, 0)
    end
  end
end

---@class assay.Command
---@field run fun(argument?: string, range?: integer[])
---@field arguments? string[] to complete

---@type table<string, assay.Command>
M.COMMANDS = {
  calibrate = { run = calibrate, arguments = { '2', '5', '15', '60' } },
  dial = { run = dial, arguments = { 'quiet', 'balanced', 'everything', '0', '0.1', '0.2', '0.3', '0.4', '0.5', '0.6', '0.7', '0.8', '0.9' } },
  model = { run = model, arguments = { 'embedded' } },
  status = { run = status },
  explain = { run = explain },
  report = {
    run = function()
      with('assay/confidence', {}, function(answer)
        show('assay://confidence', report.confidence(answer))
      end)
    end,
  },
  pause = { run = pause, arguments = { '5', '15', '30', '60' } },
  resume = { run = resume },
  quiet = {
    run = function()
      stop('quiet')
    end,
  },
  balanced = {
    run = function()
      stop('balanced')
    end,
  },
  everything = {
    run = function()
      stop('everything')
    end,
  },
  automatic = { run = automatic },
  recalibrate = { run = recalibrate },
  repair = { run = repair },
  surprise = { run = surprise },
  tests = { run = tests, arguments = { 'accepted', 'forbid', 'repair' } },
  restart = {
    run = function()
      if config.ready then
        client.restart()
      else
        say("not set up: call require('assay').setup()", vim.log.levels.WARN)
      end
    end,
  },
}

---@return string[]
local function names()
  local found = vim.tbl_keys(M.COMMANDS)
  table.sort(found)
  return found
end

---@param arguments string[]
---@param range? integer[] the first and the last line that the command was given
function M.run(arguments, range)
  local name = arguments[1] or 'status'
  local command = M.COMMANDS[name]
  if not command then
    say(('there is no :Assay %s; see :help :Assay'):format(name), vim.log.levels.WARN)
  elseif #arguments > (command.arguments and 2 or 1) then
    say(('too many arguments: :Assay %s'):format(table.concat(arguments, ' ')), vim.log.levels.WARN)
  else
    command.run(arguments[2], range)
  end
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(vim.trim(line:gsub('^.-Assay!?', '', 1)), '%s+', { trimempty = true })
  local before = #words - (lead ~= '' and 1 or 0)
  local choices = {}
  if before == 0 then
    choices = names()
  elseif before == 1 and M.COMMANDS[words[1]] then
    choices = M.COMMANDS[words[1]].arguments or {}
  end
  return vim.tbl_filter(function(choice)
    return vim.startswith(choice, lead)
  end, choices)
end

return M

--- The server's answers as lines of text. Pure.
local M = {}

-- How wide a bar of a whole is, in characters.
local BAR = 20

--- In percents, with a tenth where whole ones would say next to nothing: "56 %", "7.8 %".
---@param share? number 0 to 1
---@return string
local function percent(share)
  if not share then
    return '–'
  end
  local text = 100 * share < 9.95 and ('%.1f'):format(100 * share):gsub('%.0$', '') or ('%d'):format(math.floor(100 * share + 0.5))
  return text .. ' %'
end

---@param share number 0 to 1
---@return string of BAR characters
local function bar(share)
  local full = math.floor(BAR * share + 0.5)
  return ('█'):rep(full) .. ('░'):rep(BAR - full)
end

--- null of JSON as nil, at every depth.
---@generic T
---@param value T
---@return T
function M.plain(value)
  if value == vim.NIL then
    return nil
  elseif type(value) ~= 'table' then
    return value
  end
  local out = {}
  for key, each in pairs(value) do
    out[key] = M.plain(each)
  end
  return out
end

--- An interval in whole percents that holds it: "29-40".
---@param interval { low: number, high: number }
---@return string
local function outward(interval)
  -- 100 * 0.29 is a little less than 29 in floats
  local low, high = math.floor(100 * interval.low + 1e-9), math.ceil(100 * interval.high - 1e-9)
  return ('%d-%d'):format(low, high)
end

--- A line with what one level of the dial shows and how much of it was right.
---@param level table of `levels` or `evidence` in `assay/dial`
---@param what string what a share of right ones is called
---@return string
local function shows(level, what)
  local text = ('shows %s'):format(percent(level.share))
  local right = level.right
  if not right then
    return text
  end
  local range = right.low and ('%s, '):format(outward(right)) or ''
  return ('%s, %s of it %s (%sn = %d)'):format(text, percent(right.value), what, range, right.n)
end

-- Tasks as short as a list needs them.
local SHORT = { line = 'line', line_rest = 'rest', line_middle = 'middle' }

--- The task of evidence; with its languages where other evidence of the same task is beside it.
---@param evidence table[] of `assay/dial`
---@param of table one of it
---@return string
local function name_among(evidence, of)
  local same = vim.tbl_filter(function(one)
    return one.task == of.task
  end, evidence)
  local name, languages = SHORT[of.task] or of.task, of.languages or {}
  if #same == 1 or #languages == 0 then
    return name
  end
  return ('%s (%s)'):format(name, #languages == 1 and languages[1] or ('%d languages'):format(#languages))
end

--- The evidence for a level, of each task: how much of held-out code it shows, and how much of that came true.
---@param evidence table[] of `assay/dial`
---@param index integer of the level
---@return string empty where there is none
local function held_out(evidence, index)
  local told = {}
  for _, of in ipairs(evidence or {}) do
    local level, name = of.levels[index], name_among(evidence, of)
    if not level or not level.share then
      table.insert(told, name .. ' not known')
    elseif not level.right then
      table.insert(told, ('%s %s'):format(name, percent(level.share)))
    else
      local right = level.right
      local range = right.low and (' (%s)'):format(outward(right)) or ''
      table.insert(told, ('%s %s, %s right%s'):format(name, percent(level.share), percent(right.value), range))
    end
  end
  return table.concat(told, '; ')
end

local EVENTS = { exact_match = 'exact matches', tests_pass = 'pass the tests', kept = 'kept' }

---@class assay.Level
---@field value number|string what `showAbove` is set to
---@field words? string of a stop: its name and what it does
---@field current boolean
---@field text string

--- The three stops of the dial, in plain words.
---@param dial table
---@return assay.Level[]
local function stops(dial)
  local told = {}
  for _, stop in ipairs(dial.stops or {}) do
    local current = stop.setting == dial.showAbove
    table.insert(told, {
      value = stop.setting,
      current = current,
      words = ('%s: %s'):format(stop.stop, stop.words),
      text = ('%s %-10s %s'):format(current and '●' or ' ', stop.stop, stop.words),
    })
  end
  return told
end

--- What a person chooses a stop or a level of the dial from. Of a level it is what it shows of what this machine's log has, and where there is no label, what the
--- calibrators' evidence says.
---@param dial table what `assay/dial` answers
---@return assay.Level[] levels
---@return string prompt
function M.dial(dial)
  dial = M.plain(dial)
  local levels, now = stops(dial), tonumber(dial.showAbove) or -1
  for index, level in ipairs(dial.levels) do
    local own = dial.n > 0 and ('here: %s'):format(shows(level, EVENTS[dial.label] or dial.label)) or ''
    local evidence = held_out(dial.evidence, index)
    local current = math.abs(level.showAbove - now) < 0.005 and (now > 0 or #(dial.stops or {}) == 0)
    local name = level.showAbove == 0 and 'all   ' or ('≥ %2d %%'):format(math.floor(100 * level.showAbove + 0.5))
    local told = {}
    for _, each in ipairs({ own, evidence }) do
      if each ~= '' then
        table.insert(told, each)
      end
    end
    if #told == 0 then
      told[1] = 'not known'
    end
    table.insert(levels, {
      value = level.showAbove,
      current = current,
      text = ('%s %s  %s'):format(current and '●' or ' ', name, table.concat(told, ' · ')),
    })
  end
  local first = dial.evidence and dial.evidence[1]
  local held = first and ('; then, of held-out code, how much it shows and is right: %s'):format(EVENTS[first.event] or first.event) or ''
  local seen = dial.logTrouble and ('your log can not be read: %s'):format(dial.logTrouble)
    or ('%d seen here in %.0f days, %d with a label'):format(dial.n, dial.days, dial.labelled)
  local prompt = ('What comes by itself? (%s%s)'):format(seen, held)
  return levels, prompt
end

--- A table of a reliability diagram: for each bin what was said, what happened, and a bar of it with a mark where it should end.
---@param bins table[] {low, high, n, mean, rate, rateLow, rateHigh}
---@return string[]
local function reliability(bins)
  local columns = '    %14s %8s  %14s %6s  '
  local lines = { (columns .. '0 %%%s100 %%'):format('said', 'happened', '95 % range', 'n', (' '):rep(BAR - 7)) }
  for _, bin in ipairs(bins) do
    if bin.n > 0 then
      local drawn = vim.fn.split(bar(bin.rate or 0), '\\zs')
      drawn[math.min(BAR, math.max(1, math.floor(BAR * (bin.mean or 0) + 0.5)))] = '┃'
      table.insert(
        lines,
        (columns .. '%s'):format(
          ('%s to %s'):format(percent(bin.low), percent(bin.high)),
          percent(bin.rate),
          ('%s to %s'):format(percent(bin.rateLow), percent(bin.rateHigh)),
          bin.n,
          table.concat(drawn)
        )
      )
    end
  end
  table.insert(lines, '    █ what happened, ┃ what was said')
  return lines
end

---@param interval? table {value, low, high}
local function range(interval)
  if not interval then
    return 'not known'
  end
  return ('%.2f (%.2f to %.2f)'):format(interval.value, interval.low, interval.high)
end

--- What studies say of a calibrator, each figure with its sentence; those that the summary counts have a star.
---@param figures table[] {id, primary, sentence, value, low, high, n, groups, unit, claim, reading}
---@return string[]
local function figures_of(figures)
  local lines = {}
  for _, figure in ipairs(figures) do
    local value = figure.value and ('%.3f (%.3f to %.3f)'):format(figure.value, figure.low, figure.high) or ''
    local of = figure.n > 0 and (', %d of %d %s%s'):format(figure.n, figure.groups, figure.unit, figure.groups == 1 and '' or 's') or ''
    local claim = figure.claim ~= '' and (', claim %s'):format(figure.claim) or ''
    local said = value == '' and '' or (': %s%s%s'):format(value, of, claim)
    table.insert(lines, ('  %s %-14s %s'):format(figure.primary and '★' or ' ', figure.id, figure.sentence))
    table.insert(lines, ('    %-14s %s%s'):format('', figure.reading, said))
  end
  return lines
end

---@param task table
---@return string[]
local function of_task(task)
  local judge = task.calibrator
  if not judge then
    return { ('## %s: no calibrator'):format(task.task), '', task.because or '', '' }
  end
  local lines = {
    ('## %s: %s'):format(task.task, judge.status),
    '',
    ('  calibrator   %s, %s %s'):format(judge.id, judge.origin, judge.file),
    ('  why          %s'):format(task.because or ''),
    ('  from         %s'):format(table.concat(judge.features or {}, ', ')),
    ('  fitted on    %d samples'):format(judge.fittedOn),
    ('  evidence     %d samples held out by %s, of which there are %d'):format(judge.n, judge.groupedBy, judge.groups),
    ('  base rate    %s'):format(percent(judge.baseRate)),
    ('  skill        %s'):format(range(judge.skill)),
  }
  if judge.status == 'borrowed' then
    table.insert(lines, ('  borrowed     %s'):format(judge.reason))
  elseif judge.status ~= 'informative' then
    table.insert(lines, ('  no number    %s'):format(judge.reason))
  end
  if judge.ece then
    table.insert(lines, ('  ECE          %.3f (noise alone gives %.3f)'):format(judge.ece, judge.eceNoiseFloor or 0))
  end
  if judge.validation then
    -- aligned with the other facts: "validated    4 of 5 hold, 1 undecided"
    local what, how = judge.validation.summary:match('^(%a+): (.*)$')
    table.insert(lines, ('  %-12s %s'):format(what or 'validated', how or judge.validation.summary))
    for _, sentence in ipairs(judge.validation.refuted or {}) do
      table.insert(lines, ('  refuted      %s'):format(sentence))
    end
    if judge.validation.figures and #judge.validation.figures > 0 then
      vim.list_extend(lines, { '', '  What the studies found (★: counted)', '' })
      vim.list_extend(lines, figures_of(judge.validation.figures))
    end
  end
  table.insert(lines, '')
  if judge.reliability and #judge.reliability > 0 then
    vim.list_extend(lines, reliability(judge.reliability))
    table.insert(lines, '')
  end
  return lines
end

---@param log table
---@return string[]
local function of_log(log)
  local lines = {
    '## Your own log',
    '',
    ('  file         %s'):format(log.path),
    ('  since        %s'):format(log.since or 'now'),
    ('  suggestions  %d, %d with a label, %d kept'):format(log.showings or 0, log.labelled or 0, log.kept or 0),
  }
  local endings = {}
  for name, count in vim.spairs(log.endings or {}) do
    if count > 0 then
      table.insert(endings, ('%d %s'):format(count, (name:gsub('_', ' '))))
    end
  end
  if #endings > 0 then
    table.insert(lines, ('  ended        %s'):format(table.concat(endings, ', ')))
  end
  if (log.dropped or 0) > 0 then
    table.insert(lines, ('  lost         %d events, which came faster than the disk took them'):format(log.dropped))
  end
  table.insert(lines, '')
  if log.reliability and #log.reliability > 0 then
    vim.list_extend(lines, reliability(log.reliability))
    table.insert(lines, '')
  end
  return lines
end

--- The panel's data as a text.
---@param report table what `assay/confidence` answers
---@return string[]
function M.confidence(report)
  report = M.plain(report)
  local lines = {
    '# Assay: confidence',
    '',
    ('The probability is that of the event %s.'):format(report.event),
    report.model and ('The model is %s (%s).'):format(report.model.name, report.model.id) or 'No model is loaded.',
    '',
  }
  for _, task in ipairs(report.tasks or {}) do
    vim.list_extend(lines, of_task(task))
  end
  if report.log then
    vim.list_extend(lines, of_log(report.log))
  else
    local why = report.logTrouble and ('It can not be read: %s'):format(report.logTrouble) or 'There is none (log.events is false).'
    vim.list_extend(lines, { '## Your own log', '', '  ' .. why, '' })
  end
  local again = report.recalibrate
  if again then
    table.insert(lines, '## Recalibrate')
    table.insert(lines, '')
    table.insert(lines, '  ' .. again.reason)
    if again.possible then
      table.insert(lines, '  :Assay recalibrate fits calibrators to it.')
    end
  end
  return vim.tbl_map(function(line)
    return (line:gsub('[\r\n]+', ' '))
  end, lines)
end

--- What `:Assay status` says.
---@param status table what `assay/status` answers
---@return string[]
function M.status(status)
  status = M.plain(status)
  local lines = { ('model        %s: %s'):format(status.state, status.reason or '') }
  if status.model then
    lines[1] = ('model        %s, loaded in %.1f s'):format(status.model.name, (status.model.load_ms or 0) / 1000)
  end
  if status.calibrators then
    table.insert(lines, ('calibrators  %d'):format(#status.calibrators))
  end
  if status.silent then
    table.insert(lines, ('silent       %s'):format(status.silent))
  end
  if status.paused then
    table.insert(lines, ('paused       until %s'):format(status.paused))
  end
  if status.dial and status.dial.stop then
    table.insert(lines, ('dial         %s: %s'):format(status.dial.stop, status.dial.words))
  end
  if status.hidden then
    table.insert(lines, ('hidden       %d by the dial'):format(status.hidden))
  end
  if status.tests then
    table.insert(lines, ('tests        %s, of what was accepted last'):format(status.tests.title))
  end
  local outcomes = {}
  for name, count in vim.spairs(status.outcomes or {}) do
    if count > 0 then
      table.insert(outcomes, ('%d %s'):format(count, name))
    end
  end
  if #outcomes > 0 then
    table.insert(lines, ('requests     %s'):format(table.concat(outcomes, ', ')))
  end
  local took = status.shown_ms
  if took and took.p50 then
    table.insert(lines, ('answered in  %.0f ms (median of %d; 95 %% within %.0f ms)'):format(took.p50, took.n, took.p95))
  end
  for _, note in ipairs(status.notes or {}) do
    table.insert(lines, ('note         %s'):format(note))
  end
  if status.log then
    local trouble = status.log.trouble and (', which fails: %s'):format(status.log.trouble) or ''
    table.insert(lines, ('log          %s%s'):format(status.log.path, trouble))
  end
  for _, problem in ipairs(status.settings or {}) do
    table.insert(lines, ('setting      %s'):format(problem))
  end
  for _, problem in ipairs(status.skipped_calibrators or {}) do
    table.insert(lines, ('skipped      %s'):format(problem))
  end
  return lines
end

return M

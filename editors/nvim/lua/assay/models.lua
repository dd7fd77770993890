--- The models of this machine: one is chosen from the list, set, opened, and the next step is told.
local client = require('assay.client')
local report = require('assay.report')
local M = {}

local EMBEDDED = 'embedded'

local function say(text, level)
  vim.notify('Assay: ' .. text, level or vim.log.levels.INFO)
end

--- Say it in a line, or beside the cursor where it is longer than the screen: then the next key would be taken for the answer to "Press
--- ENTER".
local function tell(text, level)
  if vim.fn.strdisplaywidth(text) < vim.o.columns - 20 then
    say(text, level)
  else
    vim.lsp.util.open_floating_preview({ text }, '', {
      focusable = false,
      border = 'rounded',
      max_width = 100,
      wrap = true,
      close_events = { 'CursorMoved', 'BufLeave', 'InsertLeave', 'TextChangedI' },
    })
  end
end

---@param method string
---@param params table
---@param use fun(answer: table)
local function ask(method, params, use)
  client.request(method, params, function(err, answer)
    if err then
      say(err.message, vim.log.levels.WARN)
    else
      use(report.plain(answer))
    end
  end)
end

---@param count number
---@param billions string
---@param millions string
---@return string
local function short(count, billions, millions)
  if count >= 1e9 then
    return ('%.1f%s'):format(count / 1e9, billions)
  end
  return ('%d%s'):format(math.max(1, math.floor(count / 1e6 + 0.5)), millions)
end

--- What a model of the list is, in one line.
---@param model table of `assay/models`
---@param now boolean whether it is the one that is set
---@return string
function M.line(model, now)
  local name = model.server_model ~= '' and ('%s (%s)'):format(model.server_model, model.name) or model.name
  local told = {}
  if model.problem ~= '' then
    told = { "can't be used: " .. model.problem }
  else
    if model.parameters > 0 then
      table.insert(told, short(model.parameters, 'B', 'M'))
    end
    if model.quantisation ~= '' then
      table.insert(told, model.quantisation)
    end
    if model.size > 0 then
      table.insert(told, short(model.size, ' GB', ' MB'))
    end
    if model.fills_middle ~= nil then
      table.insert(told, model.fills_middle and 'fills in the middle' or 'only continues the text')
    end
    if model.tokens_per_second then
      table.insert(told, ('about %d tokens/s'):format(math.floor(model.tokens_per_second + 0.5)))
    end
    table.insert(told, 'numbers: ' .. model.numbers)
  end
  return ('%s %s  %s'):format(now and '●' or ' ', name, table.concat(told, ', '))
end

---@param list table answer of `assay/models`
---@param model table of it
---@return boolean
function M.is_now(list, model)
  local loaded = model.fingerprint ~= '' and model.fingerprint == list.fingerprint
  if not list.setting then
    return loaded
  end
  -- The setting names a server; which of its models is in use only the fingerprint tells.
  if model.server_model ~= '' then
    return loaded and vim.list_contains(model.names, list.setting)
  end
  return vim.list_contains(model.names, list.setting) or model.where == list.setting
end

--- Set a model for as long as this Neovim runs, and tell whether it works.
---@param name string as `assay model list` shows it
---@param server_model? string
function M.use(name, server_model)
  local model = name ~= EMBEDDED and name or nil
  client.change('modelOptions.serverModel', server_model)
  client.change('model', model)
  say(('opening %s …'):format(name))
  ask('assay/checkModel', { model = model or vim.NIL }, function(checked)
    if not checked.ok then
      tell(checked.said, vim.log.levels.ERROR)
    else
      tell(('%s is open. %s'):format(checked.name, checked.said))
    end
  end)
end

--- Fit calibrators to the model in use, in the background.
---@param minutes? number
function M.calibrate(minutes)
  say('fitting calibrators to the model …')
  ask('assay/calibrateModel', minutes and { minutes = minutes } or vim.empty_dict(), function(answer)
    tell(answer.said)
  end)
end

--- What a model that can be had is, in one line.
---@param offer table of `assay/modelsToGet`
---@return string
function M.offer_line(offer)
  local told = { offer.commercial_use and offer.licence or (offer.licence .. ': not for commercial use') }
  if offer.bytes > 0 then
    table.insert(told, 1, short(offer.bytes, ' GB', ' MB'))
  end
  if offer.typing_ms then
    table.insert(told, ('about %d ms a suggestion'):format(offer.typing_ms))
  end
  table.insert(told, 'numbers: ' .. offer.numbers)
  return ('%s %s  %s'):format(offer.recommended and '●' or ' ', offer.name, table.concat(told, ', '))
end

--- Choose one that can be had, download and use it.
function M.get()
  ask('assay/modelsToGet', vim.empty_dict(), function(list)
    local offers = vim.tbl_filter(function(offer)
      return offer.fits
    end, list.models)
    vim.ui.select(offers, {
      prompt = 'A model to download (times are estimates)',
      kind = 'assay_model',
      format_item = M.offer_line,
    }, function(offer)
      local forbids = offer and not offer.commercial_use
      local question = offer and ('The licence of %s (%s) forbids commercial use. Download it?'):format(offer.name, offer.licence)
      if not offer or (forbids and vim.fn.confirm(question, '&Yes\n&No', 2) ~= 1) then
        return
      end
      say(('downloading %s …'):format(offer.name))
      ask('assay/getModel', { name = offer.name, acceptLicence = forbids }, function(got)
        M.use(got.model)
      end)
    end)
  end)
end

--- Choose from the list.
---@param probe boolean whether to ask servers on this machine, too
function M.choose(probe)
  ask('assay/models', { probe = probe }, function(list)
    local entries = {}
    for _, model in ipairs(list.models) do
      table.insert(entries, { model = model, text = M.line(model, M.is_now(list, model)) })
    end
    table.insert(entries, { get = true, text = '  … get a larger model' })
    if not probe then
      table.insert(entries, { probe = true, text = '  … ask the servers on this machine, too' })
    end
    vim.ui.select(entries, {
      prompt = list.notes[1] and ('A model (%s)'):format(list.notes[1]) or 'A model of this machine',
      kind = 'assay_model',
      format_item = function(each)
        return each.text
      end,
    }, function(chosen)
      if not chosen then
        return
      elseif chosen.get then
        M.get()
      elseif chosen.probe then
        M.choose(true)
      elseif chosen.model.problem ~= '' then
        tell(chosen.model.problem, vim.log.levels.WARN)
      else
        M.use(chosen.model.name, chosen.model.server_model ~= '' and chosen.model.server_model or nil)
      end
    end)
  end)
end

return M

--- Repairs of lines, chosen from a list, and the tokens of lines that surprise the model. Code actions offer repairs as well.
local client = require('assay.client')
local M = {}

local CHOOSE, REPAIR = 'assay.chooseRepair', 'assay.repair'
local SURPRISE = vim.api.nvim_create_namespace('assay_surprise')
-- One nat: the other token is 2.7 times as likely. Right code has such as well, below it there is little else.
local MARKED_FROM = 1
-- Of a line, the most surprising first: more would not be read.
local MAX_TOKENS = 3

---@class assay.Repair an item of the answer to assay/repairs in docs/formats.md
---@field id string
---@field title string

local function say(text, level)
  vim.notify('Assay: ' .. text, level or vim.log.levels.INFO)
end

--- The lines from `first` to `last`, from 1, as a range.
---@return lsp.Range
local function range_of(first, last)
  return { start = { line = first - 1, character = 0 }, ['end'] = { line = last, character = 0 } }
end

---@param id string
---@param lines table
---@param buf integer
local function put_in(id, lines, buf)
  local params = { command = REPAIR, arguments = { vim.tbl_extend('force', lines, { id = id }) } }
  client.request('workspace/executeCommand', params, function(err)
    if err then
      say(err.message, vim.log.levels.WARN)
    end
  end, buf)
end

--- Have the user choose, and the server put in what was chosen.
---@param params table of assay/repairs
---@param buf integer
local function choose(params, buf)
  local sent = client.request('assay/repairs', params, function(err, answer)
    if err then
      say(err.message, vim.log.levels.WARN)
      return
    end
    local repairs = answer.repairs ---@type assay.Repair[]
    if #repairs == 0 then
      local refused = answer.refused_by_tests or 0
      if refused > 0 then
        say(('no repair: the tests refuse all %d that were found'):format(refused))
      elseif answer.stopped_by and answer.stopped_by ~= vim.NIL then
        say('no repair: nothing was found in time (repair.maxMs)')
      else
        say('no repair: nothing else was found that fits there')
      end
      return
    end
    client.execute('assay.shown', { id = repairs[1].id }, buf)
    vim.ui.select(repairs, {
      prompt = answer.nothing_better and 'Assay: nothing better was found; repairs' or 'Assay: repairs',
      kind = 'assay_repair',
      format_item = function(repair)
        return repair.title
      end,
    }, function(chosen)
      if chosen then
        put_in(chosen.id, answer.lines, buf)
      else
        client.execute('assay.rejected', { id = repairs[1].id }, buf)
      end
    end)
  end, buf)
  if not sent then
    say('no server', vim.log.levels.WARN)
  end
end

--- Have the user choose a repair of lines of the current buffer, counted from 1.
---@param first integer
---@param last integer
function M.choose(first, last)
  local buf = vim.api.nvim_get_current_buf()
  choose({ textDocument = vim.lsp.util.make_text_document_params(buf), range = range_of(first, last) }, buf)
end

--- What a code action of the server's asks of this editor, by the names of commands.
---@type table<string, fun(command: lsp.Command, ctx: table)>
M.COMMANDS = {
  [CHOOSE] = function(command, ctx)
    local lines = command.arguments[1]
    choose({
      textDocument = { uri = lines.uri, version = lines.version },
      range = lines.range,
      lines = lines.lines,
      message = lines.message,
    }, ctx.bufnr)
  end,
}

---@param buf integer
local function clear(buf)
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, SURPRISE, 0, -1)
  end
end

--- What is said of a line: its surprising tokens, and what the model would write in their place.
---@param tokens table[]
---@return string? text
local function words(tokens)
  local most = vim.tbl_filter(function(token)
    return token.surprise >= MARKED_FROM
  end, tokens)
  table.sort(most, function(one, other)
    return one.surprise > other.surprise
  end)
  local said = vim.tbl_map(function(token)
    local text, other = vim.trim(token.text), vim.trim(token.alternative)
    local instead = other ~= '' and (' → `%s`'):format(other) or ''
    return ('%s%s %.1f nats'):format(text ~= '' and ('`%s`'):format(text) or 'end of line', instead, token.surprise)
  end, vim.list_slice(most, 1, MAX_TOKENS))
  return #said > 0 and table.concat(said, '; ') or nil
end

---@param buf integer
---@param lines table[] of the answer to assay/surprise
---@return integer how many have any
local function mark(buf, lines)
  local marked = 0
  for _, line in ipairs(lines) do
    local said = words(line.tokens)
    if said and line.line < vim.api.nvim_buf_line_count(buf) then
      marked = marked + 1
      vim.api.nvim_buf_set_extmark(buf, SURPRISE, line.line, 0, { virt_text = { { '  ' .. said, 'AssaySurprise' } }, hl_mode = 'combine' })
    end
  end
  return marked
end

--- Show which tokens of lines of the current buffer, counted from 1, surprise the model, until the buffer is edited.
---@param first integer
---@param last integer
function M.surprise(first, last)
  local buf = vim.api.nvim_get_current_buf()
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  local params = { textDocument = vim.lsp.util.make_text_document_params(buf), range = range_of(first, last) }
  local sent = client.request('assay/surprise', params, function(err, answer)
    if err then
      say(err.message, vim.log.levels.WARN)
    elseif not vim.api.nvim_buf_is_valid(buf) or vim.api.nvim_buf_get_changedtick(buf) ~= tick then
      say('the text has changed; ask for the surprising tokens again')
    else
      clear(buf)
      if mark(buf, answer.lines) == 0 then
        say('no token there surprises the model')
        return
      end
      vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
        group = vim.api.nvim_create_augroup('assay_surprise_' .. buf, {}),
        buffer = buf,
        once = true,
        callback = function()
          clear(buf)
        end,
      })
    end
  end, buf)
  if not sent then
    say('no server', vim.log.levels.WARN)
  end
end

return M

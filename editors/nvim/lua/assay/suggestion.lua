--- The suggestion at the cursor: asked for, shown, typed along, accepted, dismissed.
local client = require('assay.client')
local config = require('assay.config')
local ghost = require('assay.ghost')
local highlights = require('assay.highlights')
local menu = require('assay.menu')
local status = require('assay.status')
local M = {}

local METHOD = 'textDocument/inlineCompletion'
local INVOKED, AUTOMATIC = 1, 2
-- Shorter than a person looks at a place before typing there, and longer than the repeats of a key are apart.
local REST_MS = 150

---@class assay.Where
---@field buf integer
---@field win integer
---@field tick integer the text's version
---@field row integer of the cursor, from 0
---@field col integer of the cursor, in bytes from 0

---@class assay.Item
---@field id string
---@field text string what is inserted; its lines end with "\n"
---@field confidence assay.Confidence

---@class assay.Confidence `confidence` of docs/formats.md
---@field text string what people read: "◆ likely 70-85 % exact match"
---@field band string its word

---@class assay.Showing
---@field from assay.Where where the items begin
---@field head string the line before `from`
---@field tail string the line behind it
---@field items assay.Item[]
---@field index integer of the one that is shown
---@field chosen boolean whether the user asked for it
---@field typed string what stands between `from` and the cursor: each item begins so, or is not shown

---@type assay.Showing?
local showing
---@type { id: integer }?
local asked
---@type assay.Where?
local last
local resting = assert(vim.uv.new_timer())
---@type string? the id of the latest suggestion on the screen
M.latest = nil

---@return assay.Where
local function here()
  local win = vim.api.nvim_get_current_win()
  local buf, cursor = vim.api.nvim_win_get_buf(win), vim.api.nvim_win_get_cursor(win)
  return { buf = buf, win = win, tick = vim.api.nvim_buf_get_changedtick(buf), row = cursor[1] - 1, col = cursor[2] }
end

local function is_inserting()
  return vim.api.nvim_get_mode().mode:sub(1, 1) == 'i'
end

---@param buf integer
---@param row integer
local function line_of(buf, row)
  return vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
end

local function cancel()
  if asked then
    client.cancel(asked.id)
    asked = nil
  end
end

---@return assay.Item?
local function item()
  return showing and showing.items[showing.index]
end

--- What of the shown item is not in the text yet.
---@return string
local function rest()
  return item().text:sub(#showing.typed + 1)
end

local function hide()
  if showing then
    showing = nil
    ghost.clear()
    status.changed()
  end
end

local function draw()
  local now, shown = here(), item()
  local counted = showing.chosen and (' (%d/%d)'):format(showing.index, #showing.items) or ''
  local form, said = config.current.badge, shown.confidence
  -- A server that is older than this plugin has no short text.
  local text = form ~= 'words' and said.short or said.text
  local badge = form and { text = text .. counted, group = highlights.group(said.band) } or nil
  local on_screen
  if M.latest ~= shown.id then
    function on_screen()
      M.latest = shown.id
      client.execute('assay.shown', { id = shown.id }, now.buf)
    end
  end
  ghost.draw(now.buf, now.row, now.col, rest(), badge, on_screen)
  status.changed()
end

--- Follow what was typed since the items came. False where they do not fit any more.
---@return boolean
local function along()
  local now, from = here(), showing.from
  if now.buf ~= from.buf or now.win ~= from.win then
    return false
  end
  if now.row < from.row or (now.row == from.row and now.col < from.col) then
    return false
  end
  local line = line_of(now.buf, now.row)
  if line:sub(now.col + 1) ~= showing.tail or line_of(now.buf, from.row):sub(1, from.col) ~= showing.head then
    return false
  end
  local typed = table.concat(vim.api.nvim_buf_get_text(now.buf, from.row, from.col, now.row, now.col, {}), '\n')
  local text = item().text
  if #typed >= #text or text:sub(1, #typed) ~= typed then
    return false
  end
  showing.typed = typed
  return true
end

---@param sent table of the answer
---@param position lsp.Position
---@return assay.Item?
local function read(sent, position)
  local text = type(sent.insertText) == 'table' and sent.insertText.value or sent.insertText
  local told = vim.tbl_get(sent, 'command', 'arguments', 1)
  local range = sent.range
  -- Only what goes in at the cursor can be drawn there; the server sends nothing else to who tells of no menu.
  local fits = not range or (vim.deep_equal(range.start, position) and vim.deep_equal(range['end'], position))
  if type(text) ~= 'string' or not told or not fits then
    return nil
  end
  text = text:gsub('\r\n?', '\n')
  -- a server that is older than this plugin sends the band alone, and no number is made up from the rest
  told.confidence.text = told.confidence.text or told.confidence.band
  return text:find('%S') and { id = told.id, text = text, confidence = told.confidence } or nil
end

--- Show what the server answered. Of alternatives that the user chose from, the one that is on the screen stays.
---@param at assay.Where
---@param items assay.Item[]
---@param chosen boolean
local function take(at, items, chosen)
  if #items == 0 then
    hide()
    return
  end
  local index = 1
  if showing and chosen then
    local shown = rest()
    for number, each in ipairs(items) do
      if each.text == shown then
        index = number
      end
    end
  elseif showing and items[1].text == rest() then
    -- It goes on from where it began: what was typed along may be taken back without a moment of nothing.
    for _, each in ipairs(items) do
      each.text = showing.typed .. each.text
    end
    showing.items, showing.index, showing.chosen = items, 1, false
    draw()
    return
  end
  local line = line_of(at.buf, at.row)
  showing = {
    from = at,
    head = line:sub(1, at.col),
    tail = line:sub(at.col + 1),
    items = items,
    index = index,
    chosen = chosen,
    typed = '',
  }
  draw()
end

--- Ask the server about the cursor's place. An answer that comes too late for the text is dropped.
---@param kind integer
---@param chosen boolean
---@param done? fun() called after the answer was taken
---@return boolean asked
local function ask(kind, chosen, done)
  cancel()
  local server = client.get()
  local at = here()
  if not server or not client.attached(at.buf) then
    return false
  end
  local params = vim.lsp.util.make_position_params(at.win, server.offset_encoding)
  params.context = { triggerKind = kind }
  local mine = {}
  asked = mine
  mine.id = client.request(METHOD, params, function(err, result)
    if asked ~= mine then
      return
    end
    asked = nil
    local now = here()
    if not is_inserting() or now.buf ~= at.buf or now.tick ~= at.tick or now.row ~= at.row or now.col ~= at.col then
      return
    end
    if not config.current.show_with_menu and menu.visible() then
      hide()
      return
    end
    local items = {}
    for _, sent in ipairs(not err and type(result) == 'table' and (result.items or result) or {}) do
      local one = read(sent, params.position)
      if one then
        table.insert(items, one)
      end
    end
    take(at, items, chosen)
    if done then
      done()
    end
  end, at.buf)
  if not mine.id then
    asked = nil
  end
  return mine.id ~= nil
end

--- The text or the cursor may have changed: shorten at once what still fits, hide what does not, and ask what fits now.
function M.update()
  if not is_inserting() then
    return
  end
  local now = here()
  if last and now.buf == last.buf and now.win == last.win and now.tick == last.tick and now.row == last.row and now.col == last.col then
    return
  end
  last = now
  if not client.attached(now.buf) then
    hide()
    return
  end
  if not config.current.show_with_menu and menu.visible() then
    cancel()
    hide()
    return
  end
  local chosen = false
  if showing then
    if along() then
      chosen = showing.chosen
      draw()
    else
      hide()
    end
  end
  ask(chosen and INVOKED or AUTOMATIC, chosen)
end

--- Nothing is to be shown here any more.
function M.leave()
  cancel()
  hide()
  last = nil
end

--- The server is gone, and with it what it was asked.
function M.lost()
  asked, last = nil, nil
  hide()
end

---@return boolean
function M.visible()
  return showing ~= nil
end

--- The confidence of what is on the screen.
---@return assay.Confidence?
function M.confidence()
  local shown = item()
  return shown and shown.confidence
end

--- The beginning of a text that one acceptance puts in.
---@param text string
---@param part 'all'|'word'|'line'
---@return string
local function piece(text, part)
  if part == 'line' then
    return text:match('^\n?[^\n]*')
  elseif part == 'word' then
    -- bytes from 128 on are letters here: an identifier may hold any of them
    return text:match('^%s*[%w_\128-\255]+') or text:match('^%s*[^%w%s_\128-\255]+') or text
  end
  return text
end

--- What was typed before and what follows can be undone on their own.
local function break_undo(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

---@param text string
---@param at assay.Where
local function insert(text, at)
  local lines = vim.split(text, '\n', { plain = true })
  break_undo(at.buf)
  vim.api.nvim_buf_set_text(at.buf, at.row, at.col, at.row, at.col, lines)
  local col = (#lines == 1 and at.col or 0) + #lines[#lines]
  vim.api.nvim_win_set_cursor(at.win, { at.row + #lines, col })
  break_undo(at.buf)
  if vim.fn.foldclosed('.') ~= -1 then
    vim.cmd('silent! foldopen!')
  end
end

--- Put in the suggestion, or its first word or line.
---@param part 'all'|'word'|'line'
---@return boolean done
function M.accept(part)
  if not showing or not is_inserting() then
    return false
  end
  local at, text, id = here(), rest(), item().id
  local taken = piece(text, part)
  cancel()
  if #taken == #text then
    hide()
    insert(taken, at)
    client.execute('assay.accepted', { id = id }, at.buf)
  else
    insert(taken, at)
    client.execute('assay.acceptedPart', { id = id }, at.buf)
  end
  M.update()
  return true
end

---@return boolean done
function M.dismiss()
  if not showing then
    return false
  end
  local id, buf = item().id, showing.from.buf
  cancel()
  hide()
  client.execute('assay.rejected', { id = id }, buf)
  return true
end

--- Show another alternative; they are asked for when they are wanted first.
---@param step integer
---@return boolean done
function M.cycle(step)
  if not showing or not is_inserting() then
    return false
  end
  local function turn()
    if showing and #showing.items > 1 then
      showing.index = (showing.index - 1 + step) % #showing.items + 1
      showing.typed = ''
      draw()
    end
  end
  if showing.chosen and showing.typed == '' then
    turn()
    return true
  end
  return ask(INVOKED, true, turn)
end

---@return boolean done
function M.invoke()
  return is_inserting() and ask(INVOKED, true)
end

--- Tell the server where the cursor rests, so that the model has read that place when the user begins to type.
local function cursor_rests()
  local server, at = client.get(), here()
  if server and client.attached(at.buf) and vim.api.nvim_get_mode().mode:match('^[ni]') then
    client.notify('assay/cursorRests', vim.lsp.util.make_position_params(at.win, server.offset_encoding))
  end
end

--- Follow the user: what is typed, where the cursor goes, which menus open.
function M.follow()
  local group = vim.api.nvim_create_augroup('assay_suggestion', {})
  vim.api.nvim_create_autocmd({ 'InsertEnter', 'CursorMovedI', 'TextChangedI', 'TextChangedP' }, {
    group = group,
    callback = function(event)
      if event.event == 'InsertEnter' then
        last = nil
        -- the mode begins behind this event
        vim.schedule(M.update)
      else
        M.update()
      end
    end,
  })
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'BufEnter', 'LspAttach' }, {
    group = group,
    callback = function()
      resting:start(REST_MS, 0, vim.schedule_wrap(cursor_rests))
    end,
  })
  vim.api.nvim_create_autocmd({ 'InsertLeave', 'BufLeave', 'WinLeave' }, { group = group, callback = M.leave })
  menu.follow(group, function()
    if not config.current.show_with_menu then
      cancel()
      hide()
    end
  end, function()
    last = nil
    M.update()
  end)
end

return M

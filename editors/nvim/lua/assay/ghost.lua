--- Ghost text and badge on the screen. Knows no suggestions, only texts and places.
local M = {}

local NAMESPACE = vim.api.nvim_create_namespace('assay')
-- Fixed, so that drawing replaces what stands there in one step, and nothing flickers.
local GHOST, BADGE = 1, 2

---@class assay.Drawn
---@field buf integer
---@field row integer
---@field on_screen? fun() called once, after a window with it was drawn

---@type assay.Drawn?
local drawn

--- The text with its tabs as spaces, for virtual text has no tab stops.
---@param text string of one line
---@param column integer display column where it begins
---@param tabstop integer
---@return string
local function spaced(text, column, tabstop)
  if not text:find('\t', 1, true) then
    return text
  end
  local pieces = vim.split(text, '\t', { plain = true })
  local out = pieces[1]
  for index = 2, #pieces do
    local at = column + vim.api.nvim_strwidth(out)
    out = out .. (' '):rep(tabstop - at % tabstop) .. pieces[index]
  end
  return out
end

--- How many columns of a window show text.
---@param win integer
---@return integer
local function text_width(win)
  local info = vim.fn.getwininfo(win)[1]
  return info.width - info.textoff
end

--- Whether a badge fits behind a line in the window, which clips what does not.
---@param win integer
---@param columns integer of the line with its ghost text
---@param badge string
local function fits(win, columns, badge)
  local width, needed = text_width(win), vim.api.nvim_strwidth(badge) + 1
  if vim.wo[win].wrap then
    return columns % width + needed <= width
  end
  return columns - vim.fn.winsaveview().leftcol + needed <= width
end

--- Make room below the cursor for lines that would be cut off at the end of the window: the text moves up, the cursor stays on screen.
---@param win integer
---@param lines integer
local function make_room(win, lines)
  local row = vim.fn.winline()
  local missing = math.min(lines - (vim.api.nvim_win_get_height(win) - row), row - 1 - vim.wo[win].scrolloff)
  if missing > 0 then
    local view = vim.fn.winsaveview()
    vim.fn.winrestview({ topline = math.min(view.topline + missing, view.lnum) })
  end
end

--- Show a text at a place of the current window, and a badge at the end of its first line.
---@param buf integer
---@param row integer from 0
---@param col integer in bytes, from 0
---@param text string lines end with "\n"
---@param badge? { text: string, group: string }
---@param on_screen? fun() called once, after a window with it was drawn
function M.draw(buf, row, col, text, badge, on_screen)
  local win, tabstop = vim.api.nvim_get_current_win(), vim.bo[buf].tabstop
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  local lines = vim.split(text, '\n', { plain = true })
  local first = spaced(lines[1], vim.fn.strdisplaywidth(line:sub(1, col)), tabstop)
  local below = {}
  for index = 2, #lines do
    table.insert(below, { { spaced(lines[index], 0, tabstop), 'AssayGhost' } })
  end
  vim.api.nvim_buf_del_extmark(buf, NAMESPACE, BADGE)
  if badge then
    local columns = vim.fn.strdisplaywidth(line) + vim.api.nvim_strwidth(first)
    if fits(win, columns, badge.text) then
      vim.api.nvim_buf_set_extmark(buf, NAMESPACE, row, 0, {
        id = BADGE,
        virt_text = { { ' ' .. badge.text, badge.group } },
        virt_text_pos = 'eol',
        hl_mode = 'combine',
        strict = false,
      })
    else
      table.insert(below, 1, { { badge.text, badge.group } })
    end
  end
  vim.api.nvim_buf_set_extmark(buf, NAMESPACE, row, col, {
    id = GHOST,
    virt_text = first ~= '' and { { first, 'AssayGhost' } } or nil,
    virt_text_pos = 'inline',
    virt_lines = #below > 0 and below or nil,
    hl_mode = 'combine',
    strict = false,
  })
  if #below > 0 then
    make_room(win, #below)
  end
  drawn = { buf = buf, row = row, on_screen = on_screen }
end

--- Take it off the screen.
function M.clear()
  if drawn and vim.api.nvim_buf_is_valid(drawn.buf) then
    vim.api.nvim_buf_del_extmark(drawn.buf, NAMESPACE, GHOST)
    vim.api.nvim_buf_del_extmark(drawn.buf, NAMESPACE, BADGE)
  end
  drawn = nil
end

-- What Neovim says when it draws is the only proof that a person could see it: a fold or the window's edge may hide the line.
local seen = false
vim.api.nvim_set_decoration_provider(NAMESPACE, {
  on_start = function()
    seen = false
    return drawn ~= nil and drawn.on_screen ~= nil
  end,
  on_win = function(_, _, buf, top, bottom)
    seen = seen or (drawn ~= nil and drawn.buf == buf and top <= drawn.row and drawn.row <= bottom)
    return false
  end,
  on_end = function()
    if seen and drawn and drawn.on_screen then
      local on_screen = drawn.on_screen
      drawn.on_screen = nil
      vim.schedule(on_screen)
    end
  end,
})

return M

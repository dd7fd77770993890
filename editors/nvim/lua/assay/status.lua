--- What the server said of itself last, and what a status line makes of it.
local client = require('assay.client')
local M = {}

---@class assay.Status `$/assay/didChangeStatus` of docs/formats.md
---@field state 'loading'|'ready'|'failed'|'closed'
---@field reason string
---@field busy boolean
---@field silent? string
---@field hidden? integer
---@field paused? string
---@field tests? { title: string }

---@type assay.Status?
M.last = nil
-- Whether a status line shows Assay, and what all of them were drawn by last.
local shows, drawn = false, nil

--- Draw the status lines anew, if one shows Assay and would show something else.
function M.changed()
  local status, shown = M.last or {}, require('assay.suggestion').confidence()
  local tested = status.tests and status.tests.title
  local now = { status.state, status.paused, status.silent, status.busy, status.hidden, tested, shown and shown.text, client.failure }
  for place = 1, 8 do
    now[place] = tostring(now[place])
  end
  local key = table.concat(now, '\n')
  if shows and key ~= drawn then
    drawn = key
    vim.cmd.redrawstatus({ bang = true })
  end
end

---@param status table
function M.take(status)
  M.last = vim.tbl_map(function(value)
    return value ~= vim.NIL and value or nil
  end, status)
  M.changed()
end

--- The server is gone.
function M.forget()
  M.last = nil
  M.changed()
end

--- The time of day in an ISO 8601 time.
---@param iso string
---@return string
function M.clock(iso)
  return iso:match('T(%d%d:%d%d)') or iso
end

--- Whether a status line is drawn for a window other than the current one: `%{}` is evaluated as if that window were the current one, and
--- tells of the real one in g:actual_curwin; `%!` tells the window in g:statusline_winid.
---@return boolean
local function elsewhere()
  local here = vim.api.nvim_get_current_win()
  return tonumber(vim.g.actual_curwin or here) ~= here or (vim.g.statusline_winid or here) ~= here
end

---@param shown? { text: string }
---@return string
local function line(shown)
  if not client.attached(vim.api.nvim_win_get_buf(vim.g.statusline_winid or 0)) then
    return client.failure and 'Assay ✗' or ''
  end
  local status = M.last
  if not status or status.state == 'loading' then
    return 'Assay …'
  elseif status.state ~= 'ready' then
    return 'Assay ✗'
  end
  local parts = { 'Assay' }
  if status.paused then
    table.insert(parts, 'paused until ' .. M.clock(status.paused))
  elseif shown then
    table.insert(parts, shown.text)
  elseif status.silent then
    table.insert(parts, 'silent')
  elseif status.busy then
    table.insert(parts, '⋯')
  elseif status.tests then
    table.insert(parts, status.tests.title)
  end
  if (status.hidden or 0) > 0 then
    table.insert(parts, ('(%d hidden)'):format(status.hidden))
  end
  return table.concat(parts, ' ')
end

--- What `require('assay').statusline()` gives.
---@return string
function M.line()
  shows = true
  local text = line(not elsewhere() and require('assay.suggestion').confidence() or nil)
  -- what `%!` gives is read as a status line once more
  return vim.g.statusline_winid and text:gsub('%%', '%%%%') or text
end

return M

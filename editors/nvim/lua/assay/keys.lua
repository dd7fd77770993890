--- The keys of insert mode. Where a key has nothing to do it does what it did before.
local config = require('assay.config')
local M = {}

---@class assay.Action
---@field call string of require('assay')
---@field says string
---@field always? boolean also where no suggestion is on the screen

---@type table<string, assay.Action>
M.ACTIONS = {
  accept = { call = 'accept', says = 'accept the suggestion' },
  accept_word = { call = 'accept_word', says = "put the suggestion's next word in" },
  accept_line = { call = 'accept_line', says = "put the suggestion's next line in" },
  next = { call = 'next', says = 'show the next alternative' },
  previous = { call = 'previous', says = 'show the previous alternative' },
  dismiss = { call = 'dismiss', says = 'dismiss the suggestion' },
  invoke = { call = 'invoke', says = 'ask for a suggestion', always = true },
}

--- What the descriptions of Assay's mappings begin with.
M.MARK = 'Assay: '

local function raw(key)
  return vim.api.nvim_replace_termcodes(key, true, true, true)
end

---@param key string
---@param mappings table[]
---@return table?
local function find(key, mappings)
  local wanted = raw(key)
  for _, each in ipairs(mappings) do
    if each.lhsraw == wanted or each.lhsrawalt == wanted or raw(each.lhs) == wanted then
      return each
    end
  end
end

--- The mapping of a key that is not Assay's own, a buffer's before the global one.
---@param key string
---@param buf integer
---@param before? table the buffer's mapping that Assay's took the place of
---@return table?
local function other(key, buf, before)
  local own = find(key, vim.api.nvim_buf_get_keymap(buf, 'i'))
  if own and not vim.startswith(own.desc or '', M.MARK) then
    return own
  end
  return before or find(key, vim.api.nvim_get_keymap('i'))
end

--- Give what a mapping does to another key.
---@param lhs string
---@param mapping table as |maparg()| describes it
---@param buf integer
local function copy(lhs, mapping, buf)
  vim.api.nvim_buf_set_keymap(buf, 'i', lhs, mapping.callback and '' or mapping.rhs or '', {
    callback = mapping.callback,
    expr = mapping.expr == 1,
    noremap = mapping.noremap == 1,
    script = mapping.script == 1,
    silent = mapping.silent == 1,
    replace_keycodes = mapping.replace_keycodes == 1 or nil,
    nowait = mapping.nowait == 1,
    desc = mapping.desc,
  })
end

---@type table<integer, table<string, table|false>> by buffer and key what Assay's mapping took the place of there, false for nothing
local replaced = {}

---@param action string
---@param key string
---@param buf integer
local function map(action, key, buf)
  local what = M.ACTIONS[action]
  local before = find(key, vim.api.nvim_buf_get_keymap(buf, 'i'))
  if before and vim.startswith(before.desc or '', M.MARK) then
    return
  end
  replaced[buf] = replaced[buf] or {}
  replaced[buf][key] = before or false
  local through = ('<Plug>(assay-%s-otherwise)'):format(action)
  vim.keymap.set('i', key, function()
    if what.always or require('assay').visible() then
      return ('<Cmd>lua require("assay").%s()<CR>'):format(what.call)
    end
    local mapping = other(key, buf, before)
    if not mapping then
      -- Vim maps a key no second time that a mapping begins with itself
      return key
    end
    copy(through, mapping, buf)
    return through
  end, { buffer = buf, expr = true, remap = true, silent = true, desc = M.MARK .. what.says })
end

--- Map the keys in a buffer.
---@param buf integer
function M.map(buf)
  local keys = config.current.keys
  for action in pairs(M.ACTIONS) do
    local key = keys and keys[action]
    if key then
      map(action, key, buf)
    end
  end
end

--- Take them from a buffer, where they do again what they did before.
---@param buf integer
function M.unmap(buf)
  for key, before in pairs(replaced[buf] or {}) do
    local mapping = find(key, vim.api.nvim_buf_get_keymap(buf, 'i'))
    if mapping and vim.startswith(mapping.desc or '', M.MARK) then
      vim.api.nvim_buf_del_keymap(buf, 'i', key)
      if before then
        copy(key, before, buf)
      end
    end
  end
  replaced[buf] = nil
end

--- What stands in the way of the keys in a buffer, for `:checkhealth`.
---@param buf integer
---@return { action: string, key: string, state: 'ours'|'theirs'|'none', of?: string }[]
function M.look(buf)
  local found = {}
  for action, key in pairs(config.current.keys or {}) do
    if key then
      local mapping = find(key, vim.api.nvim_buf_get_keymap(buf, 'i'))
      local ours = mapping and vim.startswith(mapping.desc or '', M.MARK)
      local theirs = mapping
      if ours then
        theirs = (replaced[buf] or {})[key] or find(key, vim.api.nvim_get_keymap('i'))
      end
      table.insert(found, {
        action = action,
        key = key,
        state = ours and 'ours' or mapping and 'theirs' or 'none',
        of = theirs and (theirs.desc or theirs.rhs or 'a Lua function'),
      })
    end
  end
  table.sort(found, function(a, b)
    return a.action < b.action
  end)
  return found
end

return M

--- Whether a menu of completions is open: Neovim's own, nvim-cmp's or blink.cmp's. None of them has to be there.
local M = {}

--- Call a function of a plugin that is loaded, if it has it.
---@return boolean
local function says(plugin, ...)
  local module = package.loaded[plugin]
  if type(module) ~= 'table' then
    return false
  end
  for _, name in ipairs({ ... }) do
    -- blink.cmp gives its functions out by __index, and may raise before its own setup
    local ok, ask = pcall(function()
      return module[name]
    end)
    if ok and type(ask) == 'function' then
      local answered, answer = pcall(ask)
      return answered and answer == true
    end
  end
  return false
end

---@return boolean
function M.visible()
  return vim.fn.pumvisible() == 1 or says('cmp', 'visible') or says('blink.cmp', 'is_menu_visible', 'is_visible')
end

local followed_cmp = false

--- nvim-cmp tells its listeners, and is often loaded at the first insertion only.
local function follow_cmp(opened, closed)
  local cmp = package.loaded['cmp']
  if not followed_cmp and type(cmp) == 'table' and type(cmp.event) == 'table' then
    followed_cmp = true
    cmp.event:on('menu_opened', opened)
    cmp.event:on('menu_closed', closed)
  end
end

--- Call a function when a menu opens, and another one when it closes.
---@param group integer of the autocommands
---@param opened fun()
---@param closed fun()
function M.follow(group, opened, closed)
  local function on(event, pattern, callback)
    vim.api.nvim_create_autocmd(event, { group = group, pattern = pattern, callback = callback })
  end
  local function soon()
    vim.schedule(closed)
  end
  local function to_opened()
    opened()
  end
  on('CompleteChanged', '*', to_opened)
  on('CompleteDone', '*', soon)
  on('User', { 'BlinkCmpMenuOpen' }, to_opened)
  on('User', { 'BlinkCmpMenuClose' }, soon)
  on('InsertEnter', '*', function()
    follow_cmp(opened, soon)
  end)
  follow_cmp(opened, soon)
end

return M

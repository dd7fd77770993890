--- The highlight groups. All are defaults: a colour scheme or the user that sets one is not overruled.
local bands = require('assay.bands')
local M = {}

local GROUP_OF_WORD = {}
for _, band in ipairs(bands) do
  GROUP_OF_WORD[band.word] = band.group
end

--- The highlight group of a band.
---@param word string
---@return string
function M.group(word)
  return GROUP_OF_WORD[word] or 'AssayNoEvidence'
end

-- The levels of red, green and blue in the 6 × 6 × 6 cube that terminals with 256 colours have from number 16 on.
local CUBE = { 0, 95, 135, 175, 215, 255 }

--- The colour of such a terminal that is nearest to a hex colour: of the cube, or of the 24 greys from 232 on.
---@param hex string "#RRGGBB"
---@return integer
function M.cterm(hex)
  local rgb = { tonumber(hex:sub(2, 3), 16), tonumber(hex:sub(4, 5), 16), tonumber(hex:sub(6, 7), 16) }
  local best, nearest = math.huge, 0
  local function try(number, red, green, blue)
    local distance = (rgb[1] - red) ^ 2 + (rgb[2] - green) ^ 2 + (rgb[3] - blue) ^ 2
    if distance < best then
      best, nearest = distance, number
    end
  end
  for red = 0, 5 do
    for green = 0, 5 do
      for blue = 0, 5 do
        try(16 + 36 * red + 6 * green + blue, CUBE[red + 1], CUBE[green + 1], CUBE[blue + 1])
      end
    end
  end
  for step = 0, 23 do
    local grey = 8 + 10 * step
    try(232 + step, grey, grey, grey)
  end
  return nearest
end

-- What each group was given here: whoever gave it another look since is not overruled.
local given = {}

---@param group string
---@param look vim.api.keyset.highlight
local function define(group, look)
  local now = vim.api.nvim_get_hl(0, { name = group, create = false })
  local is_ours = given[group] ~= nil and now.fg == given[group]
  look.default = not is_ours
  vim.api.nvim_set_hl(0, group, look)
  given[group] = look.fg and tonumber(look.fg:sub(2), 16)
end

--- Define the groups for the background that is set.
function M.define()
  local dark = vim.o.background == 'dark'
  for _, band in ipairs(bands) do
    local colour = dark and band.colour_dark or band.colour
    define(band.group, { fg = colour, ctermfg = M.cterm(colour) })
  end
  -- 0.12 has a group for what its own inline completion shows
  local ghost = vim.fn.hlexists('ComplHint') == 1 and 'ComplHint' or 'NonText'
  vim.api.nvim_set_hl(0, 'AssayGhost', { link = ghost, default = true })
  vim.api.nvim_set_hl(0, 'AssaySurprise', { link = 'NonText', default = true })
end

--- Define them now, and again whenever a colour scheme has cleared them or the background changed.
function M.follow()
  M.define()
  local group = vim.api.nvim_create_augroup('assay_highlights', {})
  vim.api.nvim_create_autocmd('ColorScheme', { group = group, callback = M.define })
  vim.api.nvim_create_autocmd('OptionSet', { group = group, pattern = 'background', callback = M.define })
end

return M

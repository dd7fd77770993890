--- What `setup` was called with, checked, over the defaults.
local M = {}

---@class assay.Keys insert mode; false turns a key off
---@field accept? string|false
---@field accept_word? string|false
---@field accept_line? string|false
---@field next? string|false
---@field previous? string|false
---@field dismiss? string|false
---@field invoke? string|false

---@class assay.Options
---@field cmd? string[] the program and its arguments; nil: `assay` on PATH, else in the project's .venv
---@field filetypes? string[]|'*' where suggestions are made
---@field exclude? string[] filetypes where none are made
---@field enabled? fun(buf: integer): boolean the last word on a buffer
---@field root_markers? string[] what stands in a project's root folder
---@field keys? assay.Keys|false false: no keys at all
---@field badge? boolean|'words' whether the confidence stands at the end of the line, in short ("◆ 70-85 %") or with words
---@field show_with_menu? boolean whether ghost text stays while a completion menu is open
---@field settings? table the server's settings (docs/settings.md), without the leading `assay.`

---@class assay.Config : assay.Options
M.defaults = {
  cmd = nil,
  filetypes = '*',
  exclude = { 'gitcommit', 'gitrebase', 'hgcommit', 'svn', 'help', 'bigfile' },
  enabled = function()
    return true
  end,
  root_markers = { '.git', '.hg', 'pyproject.toml', 'setup.py', 'package.json', 'Cargo.toml', 'go.mod', 'pom.xml' },
  keys = {
    accept = '<Tab>',
    accept_word = '<M-Right>',
    accept_line = '<M-C-Right>',
    next = '<M-]>',
    previous = '<M-[>',
    dismiss = '<C-]>',
    invoke = '<M-\\>',
  },
  badge = true,
  show_with_menu = false,
  settings = {},
}

---@type assay.Config
M.current = vim.deepcopy(M.defaults)

--- Whether `setup` was called.
M.ready = false

---@return boolean
local function list_of_strings(value)
  if type(value) ~= 'table' or not vim.islist(value) then
    return false
  end
  for _, each in ipairs(value) do
    if type(each) ~= 'string' then
      return false
    end
  end
  return true
end

--- For each option whether a value can be, and what may stand there.
local MAY_BE = {
  cmd = {
    function(value)
      return list_of_strings(value) and #value > 0
    end,
    "a list of strings, such as { 'assay', 'serve' }",
  },
  filetypes = {
    function(value)
      return value == '*' or list_of_strings(value)
    end,
    "'*' or a list of filetypes",
  },
  exclude = { list_of_strings, 'a list of filetypes' },
  enabled = {
    function(value)
      return type(value) == 'function'
    end,
    'a function of a buffer number',
  },
  root_markers = { list_of_strings, 'a list of file names' },
  keys = {
    function(value)
      return value == false or type(value) == 'table'
    end,
    'a table of keys, or false',
  },
  badge = {
    function(value)
      return type(value) == 'boolean' or value == 'words'
    end,
    "true, false or 'words'",
  },
  show_with_menu = {
    function(value)
      return type(value) == 'boolean'
    end,
    'true or false',
  },
  settings = {
    function(value)
      return type(value) == 'table' and (vim.tbl_isempty(value) or not vim.islist(value))
    end,
    'a table of settings',
  },
}

---@param known table<string, any>
---@param prefix string
local function unknown(name, known, prefix)
  local names = vim.tbl_keys(known)
  table.sort(names)
  return ('  %s%s is no option; there are %s'):format(prefix, tostring(name), table.concat(names, ', '))
end

--- Take the options over the defaults. What can't be is left out and told.
---@param opts? table
---@return string[] problems for people, a line each
function M.set(opts)
  local config, problems = vim.deepcopy(M.defaults), {}
  if opts ~= nil and type(opts) ~= 'table' then
    problems[1], opts = '  the options are a table', {}
  end
  for name, value in pairs(opts or {}) do
    local rule = MAY_BE[name]
    if not rule then
      table.insert(problems, unknown(name, MAY_BE, ''))
    elseif not rule[1](value) then
      table.insert(problems, ('  %s is %s, not %s'):format(name, rule[2], vim.inspect(value)))
    elseif name == 'keys' and value then
      for action, key in pairs(value) do
        if M.defaults.keys[action] == nil then
          table.insert(problems, unknown(action, M.defaults.keys, 'keys.'))
        elseif key ~= false and (type(key) ~= 'string' or key == '') then
          table.insert(problems, ('  keys.%s is a key or false, not %s'):format(action, vim.inspect(key)))
        else
          config.keys[action] = key
        end
      end
    else
      config[name] = vim.deepcopy(value)
    end
  end
  local action_of = {}
  for action, key in vim.spairs(config.keys or {}) do
    local typed = key and vim.api.nvim_replace_termcodes(key, true, true, true)
    if typed and action_of[typed] then
      table.insert(problems, ('  keys.%s and keys.%s are both %s'):format(action_of[typed], action, key))
    end
    action_of[typed] = action
  end
  table.sort(problems)
  M.current, M.ready = config, true
  return problems
end

return M

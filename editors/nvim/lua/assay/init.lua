--- Suggestions from a local model as ghost text, each with how likely it is to be right.
--- Everything here may be called before `setup`, and then does nothing.
local M = {}

--- Begin: read the configuration, and attach to the buffers that there are and that come.
---@param opts? assay.Options see |assay-setup|
function M.setup(opts)
  if vim.fn.has('nvim-0.10') == 0 then
    vim.notify('Assay needs Neovim 0.10 or newer', vim.log.levels.ERROR)
    return
  end
  local config = require('assay.config')
  local problems = config.set(opts)
  if #problems > 0 then
    vim.notify('Assay: setup():\n' .. table.concat(problems, '\n'), vim.log.levels.WARN)
  end
  require('assay.highlights').follow()
  require('assay.suggestion').follow()
  require('assay.client').follow()
end

--- Whether ghost text is on the screen. It has to be cheap: mappings ask at each key.
---@return boolean
function M.visible()
  return require('assay.suggestion').visible()
end

--- Put the whole suggestion in.
---@return boolean done false where there is none
function M.accept()
  return require('assay.suggestion').accept('all')
end

--- Put its next word in.
---@return boolean done
function M.accept_word()
  return require('assay.suggestion').accept('word')
end

--- Put the rest of its first line in; where it begins with a new line, that one.
---@return boolean done
function M.accept_line()
  return require('assay.suggestion').accept('line')
end

--- Show the next alternative, and after the last the first.
---@return boolean done
function M.next()
  return require('assay.suggestion').cycle(1)
end

--- Show the alternative before.
---@return boolean done
function M.previous()
  return require('assay.suggestion').cycle(-1)
end

--- Take the suggestion away, and tell the server that it was not wanted.
---@return boolean done
function M.dismiss()
  return require('assay.suggestion').dismiss()
end

--- Ask for a suggestion here and now, whatever the dial says.
---@return boolean done false outside insert mode and where Assay is not attached
function M.invoke()
  return require('assay.suggestion').invoke()
end

--- What goes into a status line: the state, and the band of what is on the screen. Asks nobody, so it costs next to nothing.
---@return string text empty where Assay is not attached to the current buffer
function M.statusline()
  return require('assay.status').line()
end

return M

--- `:checkhealth assay`.
local M = {}

-- How long `assay --version` and the server may take to answer.
local ANSWER_MS = 10000

local function neovim()
  vim.health.start('Neovim')
  local version = tostring(vim.version())
  if vim.fn.has('nvim-0.10') == 1 then
    vim.health.ok(version)
  else
    vim.health.error(version .. ' is too old', 'Assay needs 0.10 or newer')
  end
end

---@param client table
---@param config table
local function server(client, config)
  vim.health.start('Server')
  if not config.ready then
    vim.health.error('not set up', "call require('assay').setup()")
    return
  end
  local cmd, where = client.find(vim.fs.root(0, config.current.root_markers))
  if not cmd then
    vim.health.error(where, {
      "setup({ cmd = { '/path/to/assay/.venv/bin/assay', 'serve' } }), or put it on PATH",
      "a project's own program: view .venv/bin/assay, :trust, :Assay restart",
    })
    return
  end
  vim.health.ok(('found in %s: %s'):format(where, table.concat(cmd, ' ')))
  local ran, answer = pcall(function()
    return vim.system({ cmd[1], '--version' }, { text = true }):wait(ANSWER_MS)
  end)
  if ran and answer.code == 0 then
    vim.health.ok(vim.trim(answer.stdout))
  elseif not config.current.cmd then
    local said = ran and vim.trim((answer.stderr or '') .. (answer.stdout or '')) or tostring(answer)
    vim.health.error(('%s --version failed: %s'):format(cmd[1], said), 'assay doctor')
  end
end

---@param client table
local function conversation(client)
  vim.health.start('Conversation')
  local found = client.get()
  if not found then
    local advice = client.failure and { ':Assay restart', 'its output: ' .. vim.lsp.log.get_filename() }
      or { 'open a file in which suggestions are wanted' }
    vim.health.warn('the server is not running' .. (client.failure and ': ' .. client.failure or ''), advice)
    return
  end
  local count = 0
  for buf in pairs(found.attached_buffers) do
    count = count + (vim.api.nvim_buf_is_valid(buf) and 1 or 0)
  end
  vim.health.ok(('the server runs (client %d, %d buffers, positions in %s)'):format(found.id, count, found.offset_encoding))
  local answer
  client.request('assay/status', vim.empty_dict(), function(err, result)
    answer = result or { state = 'failed', reason = err and err.message or '' }
  end)
  vim.wait(ANSWER_MS, function()
    return answer ~= nil
  end, 10)
  if not answer then
    vim.health.error(('the server did not answer within %d s'):format(ANSWER_MS / 1000), ':Assay restart')
    return
  end
  local plain = require('assay.report').plain(answer)
  if plain.state == 'ready' then
    vim.health.ok(('the model is ready: %s'):format(plain.model and plain.model.name or ''))
  elseif plain.state == 'loading' then
    vim.health.info('the model is still loading')
  else
    vim.health.error(('no model: %s'):format(plain.reason or ''), 'assay doctor')
  end
  local calibrators = plain.calibrators or {}
  if #calibrators > 0 then
    vim.health.ok(('%d calibrators were found'):format(#calibrators))
  else
    vim.health.warn('no calibrator was found: suggestions show no probability', 'assay calibrate show --why')
  end
  for _, why in ipairs(plain.skipped_calibrators or {}) do
    vim.health.warn('a calibrator can not be read: ' .. why)
  end
  for _, problem in ipairs(plain.settings or {}) do
    vim.health.warn('a setting is invalid: ' .. problem, 'docs/settings.md')
  end
  for _, note in ipairs(plain.notes or {}) do
    vim.health.info(note)
  end
  if plain.paused then
    vim.health.info('suggestions are paused until ' .. plain.paused)
  end
  if plain.silent then
    vim.health.info('in the last used file there are no automatic suggestions: ' .. plain.silent)
  end
  if plain.log and plain.log.trouble then
    vim.health.error(('events can not be logged in %s: %s'):format(plain.log.path, plain.log.trouble))
  elseif plain.log then
    vim.health.ok('what becomes of suggestions is logged in ' .. plain.log.path)
  else
    vim.health.info('what becomes of suggestions is not logged')
  end
end

---@param config table
local function keys(config)
  vim.health.start('Keys (in the buffer that was current)')
  local buf = vim.fn.bufnr('#') > 0 and vim.fn.bufnr('#') or 0
  local looked = require('assay.keys').look(buf)
  if #looked == 0 then
    vim.health.info('no keys are mapped (keys = false)')
  end
  for _, each in ipairs(looked) do
    local text = ('%s: %s'):format(each.key, each.action)
    if each.state == 'ours' then
      vim.health.ok(text .. (each.of and (' (else: %s)'):format(each.of) or ''))
    elseif each.state == 'theirs' then
      vim.health.warn(('%s is taken by: %s'):format(text, each.of), 'that mapping takes precedence; choose another key in setup{ keys = … }')
    else
      vim.health.info(text .. ': not mapped here, for Assay is not attached to this buffer')
    end
  end
  local menu = package.loaded['cmp'] and 'nvim-cmp' or package.loaded['blink.cmp'] and 'blink.cmp'
  if menu then
    local does = config.current.show_with_menu and 'stays' or 'is hidden'
    vim.health.info(('%s is loaded: ghost text %s while its menu is open'):format(menu, does))
  end
end

function M.check()
  neovim()
  local client, config = require('assay.client'), require('assay.config')
  server(client, config)
  if config.ready then
    conversation(client)
    keys(config)
  end
end

return M

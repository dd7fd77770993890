--- The one language server of this Neovim: found, started, given buffers, started again when it ends by itself.
local config = require('assay.config')
local M = {}

M.NAME = 'assay'

-- A server that ends more often than this within the time is broken, and starting it again would only waste the machine.
local RESTARTS = 3
local WITHIN_MS = 180000

-- 0.11 made methods of what are plain functions of a client before.
local HAS_METHODS = vim.fn.has('nvim-0.11') == 1

local ATTACHED = 'assay_client'

local UNTRUSTED = "the project's own `assay` is not trusted"

---@type integer? the client's id
local current
---@type table<integer, boolean> clients that were told to end
local ending = {}
---@type integer[] when the server was started again, in milliseconds
local restarted = {}
---@type string? why there is no server
M.failure = nil
---@type table<string, boolean> programs of projects that the user was asked about, and did not trust
local refused = {}

--- The client, where the server runs.
---@return vim.lsp.Client?
function M.get()
  local client = current and vim.lsp.get_client_by_id(current)
  if client and client.initialized and not ending[client.id] then
    return client
  end
end

local function notify(client, method, params)
  if HAS_METHODS then
    client:notify(method, params)
  else
    client.notify(method, params)
  end
end

--- Send a notification, where the server runs.
function M.notify(method, params)
  local client = M.get()
  if client then
    notify(client, method, params)
  end
end

--- Whether suggestions can come in a buffer.
---@param buf integer
---@return boolean
function M.attached(buf)
  return M.get() ~= nil and vim.lsp.buf_is_attached(buf, current)
end

--- Send a request. The handler gets (error, result) as |lsp-handler|s do; it is not called for what was cancelled.
---@return integer? id nil where there is no server
function M.request(method, params, handler, buf)
  local client = M.get()
  if not client then
    return nil
  end
  local sent, id
  if HAS_METHODS then
    sent, id = client:request(method, params, handler, buf)
  else
    sent, id = client.request(method, params, handler, buf)
  end
  return sent and id or nil
end

---@param id integer of a request
function M.cancel(id)
  local client = M.get()
  if client then
    if HAS_METHODS then
      client:cancel_request(id)
    else
      client.cancel_request(id)
    end
  end
end

--- Whether the server knows a command: one that is older than this plugin may not.
---@param name string such as "assay.accepted"
---@return boolean
function M.has(name)
  local client = M.get()
  local commands = client and vim.tbl_get(client.server_capabilities, 'executeCommandProvider', 'commands')
  return commands ~= nil and vim.list_contains(commands, name)
end

--- Run a command of the server; nobody waits for its end.
---@param name string
---@param argument table
---@param buf? integer
function M.execute(name, argument, buf)
  if not M.has(name) then
    return
  end
  M.request('workspace/executeCommand', { command = name, arguments = { argument } }, function(err)
    if err then
      vim.notify(('Assay: %s: %s'):format(name, err.message), vim.log.levels.WARN)
    end
  end, buf)
end

--- The settings that the server is given.
---@return table
local function settings()
  local own = config.current.settings
  return { assay = vim.tbl_isempty(own) and vim.empty_dict() or own }
end

local function tell_settings()
  local client = M.get()
  if client then
    client.settings = settings()
    notify(client, 'workspace/didChangeConfiguration', { settings = client.settings })
  end
end

--- Change one setting for as long as this Neovim runs, and tell the server.
---@param name string as in docs/settings.md, without `assay.`
---@param value any
function M.change(name, value)
  config.current.settings[name] = value
  tell_settings()
end

---@param buf integer
---@return string? folder
local function root_of(buf)
  return vim.fs.root(buf, config.current.root_markers)
end

--- The `assay` of a project's own environment.
---@return string? path
---@return boolean? trusted by the user: opening a file must not run what stands beside it
local function of_project(root)
  local windows = vim.fn.has('win32') == 1
  local path = vim.fs.joinpath(root, '.venv', windows and 'Scripts/assay.exe' or 'bin/assay')
  if vim.fn.executable(path) == 0 then
    return nil
  end
  if not refused[path] then
    -- beforehand, for the question may open the program in a window, and that would ask again
    refused[path] = true
    refused[path] = vim.secure.read(path) == nil or nil
  end
  return path, not refused[path]
end

--- The command that starts the server: of the option `cmd`, else on PATH, else of the project's .venv.
---@param root? string
---@return string[]? cmd
---@return string where it was found, or why it was not
function M.find(root)
  local cmd = config.current.cmd and vim.deepcopy(config.current.cmd)
  if cmd then
    cmd[1] = vim.fs.normalize(cmd[1])
    if vim.fn.executable(cmd[1]) == 1 then
      return cmd, 'the option cmd'
    end
    return nil, ('the option cmd names %s, which is not executable'):format(cmd[1])
  end
  local path = vim.fn.exepath('assay')
  if path ~= '' then
    return { path, 'serve' }, 'PATH'
  end
  local own, trusted = nil, nil
  if root then
    own, trusted = of_project(root)
  end
  if own and trusted then
    return { own, 'serve' }, "the project's .venv"
  elseif own then
    return nil, UNTRUSTED
  end
  return nil, 'no `assay` on PATH or in .venv'
end

--- Whether suggestions are wanted in a buffer.
---@param buf integer
---@return boolean wanted
---@return string? why_not
function M.wanted(buf)
  local options, filetype = config.current, vim.bo[buf].filetype
  if vim.bo[buf].buftype ~= '' or not vim.bo[buf].modifiable then
    return false, 'it is not an ordinary file'
  elseif vim.api.nvim_buf_get_name(buf) == '' then
    return false, 'it has no name yet'
  elseif vim.b[buf].assay == false then
    return false, 'b:assay is false'
  elseif filetype == '' then
    return false, 'it has no filetype'
  elseif vim.list_contains(options.exclude, filetype) then
    return false, ('the filetype %s is excluded'):format(filetype)
  elseif options.filetypes ~= '*' and not vim.list_contains(options.filetypes --[[@as string[] ]], filetype) then
    return false, ('the filetype %s is not among the filetypes'):format(filetype)
  elseif not options.enabled(buf) then
    return false, 'the option enabled turned it off'
  end
  return true
end

--- One server for all projects, for each holds a model in memory: it is told of the folders.
local function add_folder(client, root)
  local folders = client.workspace_folders or {}
  for _, folder in ipairs(folders) do
    if folder.name == root then
      return
    end
  end
  local folder = { name = root, uri = vim.uri_from_fname(root) }
  client.workspace_folders = vim.list_extend(folders, { folder })
  notify(client, 'workspace/didChangeWorkspaceFolders', { event = { added = { folder }, removed = {} } })
end

local attach_all

---@param how string
---@param id integer
local function ended(how, id)
  if id == current then
    current = nil
  end
  require('assay.suggestion').lost()
  require('assay.status').forget()
  if ending[id] or vim.v.exiting ~= vim.NIL then
    return
  end
  local now = vim.uv.now()
  restarted = vim.tbl_filter(function(at)
    return now - at < WITHIN_MS
  end, restarted)
  if #restarted >= RESTARTS then
    M.failure = ('it ended (%s), as it did %d times within %d minutes'):format(how, RESTARTS, WITHIN_MS / 60000)
    vim.notify(('Assay: the server ended again (%s), see :checkhealth assay'):format(how), vim.log.levels.ERROR)
    return
  end
  table.insert(restarted, now)
  vim.notify(('Assay: the server ended (%s) and is being restarted'):format(how), vim.log.levels.WARN)
  attach_all()
end

---@param buf integer
local function start(buf, root)
  local cmd, why = M.find(root)
  if not cmd then
    -- who was asked about trust knows
    if M.failure ~= why and why ~= UNTRUSTED then
      vim.notify(('Assay: %s, see :checkhealth assay'):format(why), vim.log.levels.WARN)
    end
    M.failure = why
    return
  end
  M.failure = nil
  local how
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.textDocument.inlineCompletion = { dynamicRegistration = false }
  local id = vim.lsp.start({
    name = M.NAME,
    cmd = function(dispatchers)
      -- Of an end that is no good one Neovim tells in a line that is longer than the screen, so that the next key is taken for the answer
      -- to "Press ENTER". What is told here is shorter.
      local on_exit = dispatchers.on_exit
      function dispatchers.on_exit(code, signal)
        how = signal ~= 0 and ('signal %d'):format(signal) or ('exit code %d'):format(code)
        on_exit(0, 0)
      end
      return vim.lsp.rpc.start(cmd, dispatchers)
    end,
    root_dir = root,
    settings = settings(),
    init_options = settings().assay,
    capabilities = capabilities,
    commands = require('assay.repair').COMMANDS,
    handlers = {
      ['$/assay/didChangeStatus'] = function(_, status)
        require('assay.status').take(status)
      end,
    },
    on_exit = vim.schedule_wrap(function(_, _, id)
      ended(how, id)
    end),
    on_attach = function(client, attached)
      current = client.id
      -- setup may have been called again while it started
      if not vim.deep_equal(client.settings, settings()) then
        tell_settings()
      end
      if M.wanted(attached) then
        M.prepare(client, attached)
      else
        vim.schedule(function()
          vim.lsp.buf_detach_client(attached, client.id)
        end)
      end
    end,
  }, {
    bufnr = buf,
    reuse_client = function()
      return false
    end,
  })
  if id then
    current = id
  else
    M.failure = ('%s could not be started'):format(cmd[1])
  end
end

--- What a buffer of the server's needs: its keys, and Neovim's own ghost text out of the way.
function M.prepare(client, buf)
  local built_in = vim.lsp.inline_completion
  if built_in then
    built_in.enable(false, { client_id = client.id })
  end
  require('assay.keys').unmap(buf)
  require('assay.keys').map(buf)
  local root = root_of(buf)
  if root then
    add_folder(client, root)
  end
end

--- Give a buffer to the server, which is started where it does not run.
---@param buf integer
function M.attach(buf)
  if not config.ready or not vim.api.nvim_buf_is_loaded(buf) or not M.wanted(buf) then
    return
  end
  local client = current and vim.lsp.get_client_by_id(current)
  if not client then
    start(buf, root_of(buf))
    return
  end
  if not vim.lsp.buf_is_attached(buf, client.id) then
    vim.lsp.buf_attach_client(buf, client.id)
  end
end

function attach_all()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    M.attach(buf)
  end
end

--- End the server, and start it for all its buffers again.
function M.restart()
  restarted, M.failure, refused = {}, nil, {}
  local client = current and vim.lsp.get_client_by_id(current)
  current = nil
  if not client then
    attach_all()
    return
  end
  ending[client.id] = true
  require('assay.suggestion').lost()
  if HAS_METHODS then
    client:stop()
  else
    client.stop()
  end
  -- The old one ends in its own time, and holds its model until then.
  local waited = 0
  local function when_ended()
    waited = waited + 50
    if vim.lsp.get_client_by_id(client.id) and waited < 5000 then
      vim.defer_fn(when_ended, 50)
    else
      attach_all()
    end
  end
  when_ended()
end

--- What runs already goes on by the configuration that is there now; but another program is run from a restart on.
local function reconfigure()
  local client = M.get()
  if not client then
    return
  end
  tell_settings()
  for _, buf in ipairs(vim.tbl_keys(client.attached_buffers)) do
    require('assay.keys').unmap(buf)
    if M.wanted(buf) then
      require('assay.keys').map(buf)
    else
      vim.lsp.buf_detach_client(buf, client.id)
    end
  end
end

--- Attach to the buffers that there are, and to those that come.
function M.follow()
  reconfigure()
  local group = vim.api.nvim_create_augroup(ATTACHED, {})
  vim.api.nvim_create_autocmd({ 'FileType', 'BufFilePost' }, {
    group = group,
    callback = function(event)
      M.attach(event.buf)
    end,
  })
  attach_all()
end

return M

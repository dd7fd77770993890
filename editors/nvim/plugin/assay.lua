if vim.g.loaded_assay then
  return
end
vim.g.loaded_assay = true

vim.api.nvim_create_user_command('Assay', function(command)
  require('assay.commands').run(command.fargs, command.range > 0 and { command.line1, command.line2 } or nil)
end, {
  nargs = '*',
  range = true,
  desc = 'Assay: what it knows, and how it behaves',
  complete = function(lead, line)
    return require('assay.commands').complete(lead, line)
  end,
})

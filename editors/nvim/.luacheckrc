std = "luajit"
read_globals = { "vim" }
globals = { "vim.bo", "vim.b", "vim.g", "vim.o", "vim.wo" }
max_line_length = 140

"""Repairs in a real Neovim: by its own code actions, by the plugin's list, and the tokens that surprise the model."""

from __future__ import annotations

from typing import Any

import pytest
from editors.nvim_terminal import Neovim

pytestmark = [pytest.mark.slow, pytest.mark.editor]

WRONG = "        if number > best:"
TEXT = f"""def smallest(numbers):
    best = numbers[0]
    for number in numbers:
{WRONG}
            best = number
    return best
"""
# Takes the entry with these words, as soon as there is a list; `offered` is what it had.
CHOOSE = """
local words = ...
offered = nil
vim.ui.select = function(items, opts, choose)
  offered = vim.tbl_map(opts.format_item or tostring, items)
  for index, each in ipairs(offered) do
    if each:find(words, 1, true) then return choose(items[index], index) end
  end
  choose(nil)
end
"""


def at_the_wrong_line(nvim: Neovim, name: str) -> None:
    nvim.edit(name, TEXT)
    nvim.v.current.window.cursor = (4, 8)
    nvim.attached()


def offered(nvim: Neovim) -> list[str]:
    found: list[str] = nvim.until(lambda: nvim.lua("return offered"), "a list")
    return found


def is_repaired_by_one_step(nvim: Neovim) -> None:
    nvim.until(lambda: WRONG not in nvim.lines(), "another line")
    assert [line for line in nvim.lines() if line not in TEXT.split("\n")] == [nvim.lines()[3]]
    nvim.command("undo")
    assert nvim.lines() == TEXT.rstrip("\n").split("\n")


def test_a_code_action_repairs_the_line(nvim: Neovim) -> None:
    at_the_wrong_line(nvim, "action.py")
    nvim.lua(CHOOSE, "Assay: repair this line")
    nvim.lua("vim.schedule(function() vim.lsp.buf.code_action() end)")
    assert any("Assay: choose a repair of this line…" in each for each in offered(nvim))
    is_repaired_by_one_step(nvim)


def test_a_code_action_opens_the_list_of_the_plugin(nvim: Neovim) -> None:
    at_the_wrong_line(nvim, "list.py")
    nvim.lua(CHOOSE, "Assay: choose a repair")
    nvim.lua("vim.schedule(function() vim.lsp.buf.code_action() end)")
    offered(nvim)
    nvim.lua(CHOOSE, " → ")
    assert all(" → " in each for each in offered(nvim))
    is_repaired_by_one_step(nvim)


def test_the_plugin_s_command_repairs_lines(nvim: Neovim) -> None:
    at_the_wrong_line(nvim, "command.py")
    nvim.lua(CHOOSE, " → ")
    nvim.command("3,5Assay repair")
    assert all(" → " in each for each in offered(nvim))
    nvim.until(lambda: nvim.lines() != TEXT.rstrip("\n").split("\n"), "other lines")


def test_who_leaves_the_list_keeps_the_text_and_the_server_is_told(nvim: Neovim) -> None:
    at_the_wrong_line(nvim, "left.py")
    nvim.lua(CHOOSE, "nothing of this")
    nvim.command("Assay repair")
    offered(nvim)
    nvim.until_sent("assay.rejected")
    assert nvim.lines() == TEXT.rstrip("\n").split("\n")


def test_surprising_tokens_are_virtual_text_until_the_next_edit(nvim: Neovim) -> None:
    at_the_wrong_line(nvim, "surprise.py")
    nvim.command("Assay surprise")

    def marks() -> list[Any]:
        found: list[Any] = nvim.lua(
            "return vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces().assay_surprise, 0, -1, { details = true })"
        )
        return found

    nvim.until(marks, "virtual text")
    assert all(" nats" in mark[3]["virt_text"][0][0] for mark in marks())
    assert nvim.lua("return #vim.diagnostic.get(0)") == 0
    nvim.keys("A", " ", "Escape")
    nvim.until(lambda: not marks(), "no virtual text")

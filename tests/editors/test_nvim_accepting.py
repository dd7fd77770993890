"""What the keys of a real Neovim put into the file, with a suggestion and without one."""

from __future__ import annotations

import re

import pytest
from editors.nvim_suggestion import RETURN, suggest
from editors.nvim_terminal import Neovim

pytestmark = [pytest.mark.slow, pytest.mark.editor]


def test_tab_puts_in_what_the_ghost_text_says_and_undo_takes_only_that(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    nvim.until_sent("assay.shown")
    nvim.press("Tab")
    assert nvim.lines()[-1] == RETURN + ghost
    assert nvim.cursor()[1] == len(RETURN + ghost)
    assert nvim.sent("assay.accepted") == nvim.sent("assay.shown")[:1]
    nvim.type(" # typed")
    nvim.press("Escape", "u")
    assert nvim.lines()[-1] == RETURN + ghost
    nvim.press("u")
    assert nvim.lines()[-1] == RETURN


def test_undo_takes_an_acceptance_and_not_what_was_typed_before_it(nvim: Neovim) -> None:
    nvim.edit("a.py", nvim.text + "        ")
    nvim.keys("A")
    nvim.write("return ")
    ghost = nvim.wait_ghost()
    nvim.press("Tab")
    assert nvim.lines()[-1] == RETURN + ghost
    nvim.press("Escape", "u")
    assert nvim.lines()[-1] == RETURN


def test_lines_are_put_in_below_and_the_cursor_stands_behind_them(nvim: Neovim) -> None:
    nvim.set("kind", "block")
    ghost = suggest(nvim, "        ")
    before = len(nvim.lines())
    assert "\n" in ghost
    nvim.press("Tab")
    assert "\n".join(nvim.lines()[before - 1 :]) == "        " + ghost
    assert nvim.cursor() == (before + ghost.count("\n"), len(ghost.split("\n")[-1]))


def test_a_word_at_a_time_comes_to_the_whole(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    words = re.findall(r"\s*[\w]+|\s*[^\w\s]+", ghost)
    for number, _ in enumerate(words[:3], 1):
        nvim.press("M-Right")
        assert nvim.lines()[-1] == RETURN + "".join(words[:number])
    assert len(nvim.sent("assay.acceptedPart")) == 3
    assert not nvim.sent("assay.accepted")
    assert nvim.wait_ghost() == "".join(words[3:])


def test_a_line_at_a_time_comes_to_the_whole(nvim: Neovim) -> None:
    nvim.set("kind", "block")
    ghost = suggest(nvim, "        for ").split("\n")
    before = len(nvim.lines())
    nvim.press("M-C-Right")
    assert nvim.lines()[before - 1 :] == ["        for " + ghost[0]]
    nvim.until(lambda: nvim.ghost() == "\n" + "\n".join(ghost[1:]), "the other lines")
    nvim.press("M-C-Right")
    assert nvim.lines()[before - 1 :] == ["        for " + ghost[0], ghost[1]]


def test_accepting_in_a_closed_fold_s_place_leaves_the_cursor_s_line_open(nvim: Neovim) -> None:
    nvim.lua("vim.wo.foldmethod, vim.wo.foldlevel = 'indent', 0")
    nvim.set("kind", "block")
    suggest(nvim, "        ")
    nvim.press("Tab")
    assert nvim.lua("return vim.fn.foldclosed('.')") == -1


def test_tab_without_a_suggestion_indents(nvim: Neovim) -> None:
    nvim.edit("empty.txt", "\n")
    nvim.press("A", "Tab")
    assert nvim.lines()[-1] == " " * 4


MAPPINGS = {
    "global": "vim.keymap.set('i', '<Tab>', 'GLOBAL')",
    "function": "vim.keymap.set('i', '<Tab>', function() vim.api.nvim_put({'FUNCTION'}, 'c', false, true) end)",
    "expression": "vim.keymap.set('i', '<Tab>', function() return 'EXPR' end, { expr = true })",
    "keycodes": "vim.cmd([[inoremap <expr> <Tab> \"A\\<lt>B\"]])",
    "plug": "vim.keymap.set('i', '<Plug>(mine)', 'PLUG'); vim.keymap.set('i', '<Tab>', '<Plug>(mine)', { remap = true })",
}  # fmt: skip
PUTS = {"global": "GLOBAL", "function": "FUNCTION", "expression": "EXPR", "keycodes": "A<B", "plug": "PLUG"}


@pytest.mark.parametrize("kind", MAPPINGS)
def test_tab_without_a_suggestion_does_what_its_mapping_did(nvim: Neovim, kind: str) -> None:
    nvim.edit("empty.md", "\n")
    nvim.lua(MAPPINGS[kind])
    nvim.press("i", "Tab")
    assert nvim.lines()[-1].strip() == PUTS[kind]


def test_tab_without_a_suggestion_does_what_the_buffer_s_own_mapping_did(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    nvim.lua(
        """vim.cmd('imapclear <buffer>')
        vim.keymap.set('i', '<Tab>', 'GLOBAL')
        vim.keymap.set('i', '<Tab>', 'OWN', { buffer = true })
        require('assay.keys').map(0)"""
    )
    nvim.press("Tab")
    assert nvim.lines()[-1] == RETURN + ghost
    nvim.keys("Escape", "o")
    nvim.until(lambda: not nvim.lua("return require('assay').visible()"), "no suggestion")
    nvim.press("Tab")
    assert nvim.lines()[-1].strip() == "OWN"


def test_tab_jumps_in_a_snippet(nvim: Neovim) -> None:
    """With the mapping that Neovim has from 0.11 on, and its manual recommends before."""
    nvim.edit("snippet.txt", "\n")
    nvim.lua(
        """if vim.fn.has('nvim-0.11') == 0 then
          vim.keymap.set('i', '<Tab>', function()
            return vim.snippet.active({ direction = 1 }) and '<Cmd>lua vim.snippet.jump(1)<CR>' or '<Tab>'
          end, { expr = true })
        end"""
    )
    nvim.press("i")
    nvim.lua("vim.snippet.expand('first($1, $2)$0')")
    nvim.type("x")
    nvim.press("Tab")
    nvim.write("y")
    assert nvim.lines()[-1] == "first(x, y)"


def test_keys_without_a_suggestion_do_what_they_did(nvim: Neovim) -> None:
    nvim.edit("empty.txt", "\n")
    nvim.command("inoreabbrev <buffer> teh the")
    nvim.keys("i")
    nvim.type("teh")
    nvim.press("C-]")
    assert nvim.lines()[-1] == "the"


def test_keys_typed_ahead_of_tab_keep_their_order(nvim: Neovim) -> None:
    suggest(nvim)
    ghost = nvim.ghost()
    nvim.press("Tab", "#", "1", "2", "3")
    assert nvim.lines()[-1] == f"{RETURN}{ghost}#123"


def test_a_file_with_carriage_returns_keeps_them(nvim: Neovim) -> None:
    nvim.set("kind", "block")
    ghost = suggest(nvim, "        \r\n", file="dos.py", text=nvim.text.replace("\n", "\r\n"))
    assert nvim.lua("return vim.bo.fileformat") == "dos"
    assert "\r" not in ghost
    assert "\n" in ghost
    nvim.press("Tab", "Escape")
    nvim.command("silent write")
    written = (nvim.folder / "dos.py").read_bytes()
    assert written.count(b"\n") == written.count(b"\r\n") == len(nvim.lines())
    assert ghost.split("\n")[-1].encode() in written


@pytest.mark.parametrize("before", ["é", "漢字", "😀👩‍👩‍👧", "a\u0301"])
def test_columns_are_right_behind_letters_of_many_bytes(nvim: Neovim, before: str) -> None:
    typed = f'        name = "{before}" if self.end else self.'
    ghost = suggest(nvim, typed)
    assert nvim.marks()[1]["col"] == len(typed.encode())
    nvim.press("Tab")
    assert nvim.lines()[-1] == typed + ghost
    nvim.settle()
    # what the server has of the file is what stands in it
    at = {"textDocument": {"uri": f"file://{nvim.folder}/a.py"}, "position": {"line": len(nvim.lines()) - 1, "character": 1000}}
    assert nvim.ask("assay/context", at)["prefix"]["text"].endswith(typed + ghost)


def test_a_macro_plays_back_what_was_typed(nvim: Neovim) -> None:
    nvim.edit("macro.txt", "one\ntwo\n", at=(1, 0))
    nvim.keys("q", "a", "A")
    nvim.type("!")
    nvim.keys("Tab")
    nvim.type("?")
    nvim.press("Escape", "q", "j", "@", "a")
    first, second = nvim.lines()[:2]
    assert (first[3:], second[3:]) == ("!   ?"[:1] + first[4:], first[3:])
    assert first.startswith("one!")
    assert first.endswith("?")


def test_a_macro_with_an_acceptance_plays_back_without_an_error(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    nvim.press("Escape", "q", "a", "A")
    assert nvim.wait_ghost() == ghost
    nvim.keys("Tab")
    nvim.type("!")
    nvim.press("Escape", "q")
    assert nvim.lines()[-1] == f"{RETURN}{ghost}!"
    nvim.press("o", "-", "Escape", "@", "a")
    assert nvim.v.api.get_mode()["mode"] == "n"
    assert re.fullmatch(r"\s*- +!", nvim.lines()[-1])


def test_dot_repeats_what_was_typed_and_not_what_was_accepted(nvim: Neovim) -> None:
    suggest(nvim)
    nvim.press("Tab")
    nvim.type(" or 0")
    nvim.press("Escape", "o", "Escape", ".")
    assert nvim.v.api.get_mode()["mode"] == "n"
    assert "stack traceback" not in nvim.messages()

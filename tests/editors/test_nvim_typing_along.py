"""Which suggestion a real Neovim shows while one types, takes back, leaves, chooses another or has a menu open."""

from __future__ import annotations

import re
import time

import pytest
from editors.nvim_suggestion import BADGE, LOUD, MUTE, RETURN, suggest
from editors.nvim_terminal import Neovim

pytestmark = [pytest.mark.slow, pytest.mark.editor]


def test_typing_along_never_flickers(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    whole = RETURN + ghost
    nvim.seen(whole)
    nvim.lua(
        """cleared = 0
        local ghost = require('assay.ghost')
        local clear = ghost.clear
        ghost.clear = function() cleared = cleared + 1; return clear() end"""
    )

    def typed() -> None:
        for character in ghost[:8]:
            nvim.write(character)

    frames = nvim.frames(typed)
    assert nvim.lines()[-1] == RETURN + ghost[:8]
    assert nvim.ghost() == ghost[8:]
    assert nvim.lua("return cleared") == 0
    # the first picture is what was there when the looking began
    assert len(frames) > 8
    drawn = re.compile(re.escape(whole) + "  " + BADGE.pattern)
    assert [frame for frame in frames if not any(drawn.fullmatch(line) for line in frame)] == []


def test_typing_something_else_hides_it_at_once(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    badge = nvim.badge_text()
    nvim.lua(MUTE)
    try:
        nvim.write("Zq")
        assert nvim.ghost() is None
        assert nvim.badge() is None
        nvim.gone(RETURN + "Zq" + ghost)
        nvim.gone(badge)
    finally:
        nvim.lua(LOUD)


def test_what_was_typed_along_may_be_taken_back_without_a_flicker(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    for number in range(1, 4):
        nvim.write(ghost[number - 1])
        # an answer to this text is there, too
        nvim.until(lambda: not nvim.status()["busy"], "the server is done")

    def taken_back() -> None:
        for _ in range(2):
            nvim.press("BSpace")

    frames = nvim.frames(taken_back)
    assert nvim.lines()[-1] == RETURN + ghost[:1]
    assert nvim.ghost() == ghost[1:]
    assert [frame for frame in frames if not any(line.startswith(f"{RETURN}{ghost}  ") for line in frame)] == []


def test_text_that_comes_behind_the_cursor_hides_what_was_made_without_it(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    nvim.lua(MUTE)  # so that no answer can mend it
    try:
        row = len(nvim.lines()) - 1
        nvim.v.api.buf_set_text(0, row, len(RETURN), row, len(RETURN), ["foo()"])
        nvim.v.api.win_set_cursor(0, [row + 1, len(RETURN)])
        nvim.write(ghost[0])
        assert nvim.lines()[-1] == f"{RETURN}{ghost[0]}foo()"
        assert nvim.ghost() is None
    finally:
        nvim.lua(LOUD)


def test_an_answer_about_an_earlier_text_is_not_shown(nvim: Neovim) -> None:
    suggest(nvim)
    nvim.lua(MUTE)
    try:
        nvim.write("Zq")
        nvim.lua("late = answer")
        nvim.lua("answer = nil; vim.api.nvim_buf_set_text(0, 0, 0, 0, 0, { 'new ' })")
        told = {"id": "0123456789ab", "confidence": {"band": "likely", "text": "late"}}
        item = {"insertText": "late", "command": {"title": "", "command": "assay.accepted", "arguments": [told]}}
        nvim.lua("late(nil, ...)", {"items": [item]})
        assert nvim.ghost() is None
    finally:
        nvim.lua(LOUD)


def test_outdated_requests_are_cancelled(nvim: Neovim) -> None:
    nvim.set("remember", False)
    try:
        nvim.keys("i")
        for character in "        self.start = max(self.start, other":
            nvim.write(character)
        asked, cancelled = nvim.sent("textDocument/inlineCompletion"), nvim.sent("cancel")
        assert len(asked) > 5
        assert cancelled
        assert len(set(cancelled)) == len(cancelled)
        nvim.until(lambda: nvim.status()["outcomes"]["cancelled"] >= 1, "the server took a cancellation")
    finally:
        nvim.set("remember", True)


def test_leaving_insert_mode_hides_it(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    nvim.seen(ghost)
    badge = nvim.badge_text()
    nvim.keys("Escape")
    nvim.gone(badge)
    assert nvim.marks() == {}


def test_another_window_hides_it_and_a_second_view_of_the_file_does_no_harm(nvim: Neovim) -> None:
    nvim.command("split")
    ghost = suggest(nvim)
    nvim.lua("vim.cmd.stopinsert(); vim.cmd.wincmd('w')")
    nvim.settle()
    assert nvim.marks() == {}
    nvim.press("A")
    assert nvim.wait_ghost()
    nvim.press("Tab")
    assert nvim.lines()[-1].startswith(RETURN)
    assert ghost in nvim.lines()[-1]


def test_alternatives_go_round_in_both_directions(nvim: Neovim) -> None:
    first = suggest(nvim)
    nvim.keys("M-]")
    nvim.until(lambda: nvim.badge_text().count(" (2/"), "the second of the alternatives")
    second = nvim.ghost()
    nvim.press("M-]")
    third = nvim.ghost()
    for _ in range(3):
        # ESC [ begins the codes of many keys: a terminal tells it apart by the pause behind it
        nvim.keys("M-[")
        time.sleep(0.2)
    count = int(nvim.badge_text().rpartition("/")[2].rstrip(")"))
    assert nvim.badge_text().endswith(f"({count}/{count})")
    nvim.press("M-]", "M-]")
    assert nvim.ghost() == second
    assert len({first, second, third}) == 3
    assert 1 in nvim.sent("textDocument/inlineCompletion")


def test_the_chosen_alternative_stays_while_it_is_typed_along(nvim: Neovim) -> None:
    suggest(nvim)
    nvim.keys("M-]")
    nvim.until(lambda: nvim.badge_text().count(" (2/"), "the second of the alternatives")
    second = nvim.wait_ghost()
    nvim.write(second[:2])
    nvim.until(lambda: nvim.sent("textDocument/inlineCompletion")[-1] == 1, "asked again")
    assert nvim.ghost() == second[2:]
    nvim.press("Tab")
    assert nvim.lines()[-1] == RETURN + second


def test_dismissed_means_gone_until_something_is_typed(nvim: Neovim) -> None:
    suggest(nvim)
    shown = nvim.until_sent("assay.shown")
    nvim.press("C-]")
    assert nvim.ghost() is None
    assert nvim.sent("assay.rejected") == shown
    nvim.settle()
    assert nvim.ghost() is None
    assert nvim.lines()[-1] == RETURN
    nvim.write("self.")
    assert nvim.wait_ghost()


def test_ghost_text_is_hidden_while_the_menu_of_completions_is_open(nvim: Neovim) -> None:
    nvim.command("set completeopt=menuone,noselect")
    suggest(nvim, RETURN + "self.")
    nvim.press("C-n")
    nvim.until(lambda: nvim.lua("return vim.fn.pumvisible()") == 1, "the menu is open")
    assert nvim.ghost() is None
    nvim.write("e")
    assert nvim.lua("return vim.fn.pumvisible()") == 1
    assert nvim.ghost() is None
    nvim.press("C-e")
    assert nvim.wait_ghost()


def test_ghost_text_stays_beside_a_menu_for_who_wants_it(nvim: Neovim) -> None:
    nvim.command("set completeopt=menuone,noselect")
    nvim.lua("require('assay.config').current.show_with_menu = true")
    suggest(nvim, RETURN + "self.")
    nvim.keys("C-n")
    nvim.write("e")
    assert nvim.lua("return vim.fn.pumvisible()") == 1
    assert nvim.wait_ghost()


MENUS = {
    "nvim-cmp": """
        menu_open, listeners = false, {}
        package.loaded.cmp = {
          visible = function() return menu_open end,
          event = { on = function(_, name, callback) listeners[name] = callback end },
        }
        function open_menu() menu_open = true; listeners.menu_opened({}) end
        function close_menu() menu_open = false; listeners.menu_closed({}) end
    """,
    "blink.cmp": """
        menu_open = false
        package.loaded['blink.cmp'] = setmetatable({}, { __index = function(_, name)
          if name == 'is_menu_visible' then return function() return menu_open end end
        end })
        function open_menu() menu_open = true; vim.api.nvim_exec_autocmds('User', { pattern = 'BlinkCmpMenuOpen' }) end
        function close_menu() menu_open = false; vim.api.nvim_exec_autocmds('User', { pattern = 'BlinkCmpMenuClose' }) end
    """,
}


@pytest.mark.parametrize("plugin", MENUS)
def test_ghost_text_is_hidden_while_the_menu_of_another_plugin_is_open(nvim: Neovim, plugin: str) -> None:
    """The plugins themselves can't be had here: these are their documented functions and events."""
    nvim.lua(MENUS[plugin])
    try:
        suggest(nvim, RETURN + "self.")
        nvim.lua("open_menu()")
        assert nvim.ghost() is None
        nvim.lua("sent = {}")
        nvim.write("e")
        assert nvim.ghost() is None
        assert nvim.sent("textDocument/inlineCompletion") == []
        nvim.lua("close_menu()")
        assert nvim.wait_ghost()
    finally:
        nvim.lua("package.loaded.cmp, package.loaded['blink.cmp'] = nil, nil")

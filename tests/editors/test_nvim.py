"""What a developer meets in a real Neovim with the plugin, the real server and the embedded model."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from editors.nvim_terminal import Neovim, colour_of

pytestmark = [pytest.mark.slow, pytest.mark.editor]

CODE = '''class Interval:
    """A closed interval of numbers."""

    def __init__(self, start, end):
        self.start = start
        self.end = end

    def length(self):
        """Return how long the interval is."""
        return self.end - self.start

    def overlaps(self, other):
        """Return whether the two intervals have a point in common."""

'''
RETURN = "        return "
STATUSLINE = """vim.o.statusline = "%{v:lua.require'assay'.statusline()}" """
MUTE = "local c = require('assay.client'); real, c.request = c.request, function(_, _, handler) answer = handler; return 1 end"
LOUD = "require('assay.client').request = real"
BADGE = re.compile(r"[◆◈◇] (likely|possible|unlikely) \d+-\d+ % exact match")


@pytest.fixture
def nvim(shared: Neovim, request: pytest.FixtureRequest) -> Iterator[Neovim]:
    """The shared Neovim with a file of its own, whatever the last test left behind. The server remembers no suggestion for its text."""
    shared.fresh()
    # the test's name without that of the Neovim: the same text, and so the same suggestion, in all of them
    name = re.sub(r"nvim-[0-9.]+-?", "", request.node.name)
    shared.text = f"# {name}\n{CODE}"
    shared.edit("a.py", shared.text)
    yield shared
    assert "stack traceback" not in shared.v.command_output("messages")


def suggest(nvim: Neovim, typed: str = RETURN, *, file: str = "a.py", text: str | None = None) -> str:
    """The ghost text behind a beginning of the file's last line."""
    nvim.edit(file, (nvim.text if text is None else text) + typed)
    nvim.keys("A")
    nvim.settle()
    return nvim.wait_ghost()


def setup_again(nvim: Neovim, options: str = "") -> None:
    nvim.configure(lambda: nvim.lua(f"require('assay').setup({{ cmd = require('assay.config').current.cmd, {options} }})"))


# -- shown


def test_ghost_text_and_badge_are_on_the_screen_and_not_in_the_file(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    badge, group = nvim.badge() or ("", "")
    assert BADGE.fullmatch(badge)
    nvim.seen(f"{RETURN}{ghost}  {badge}")
    assert nvim.lines()[-1] == RETURN
    assert group in ("AssayLikely", "AssayPossible", "AssayUnlikely")


@pytest.mark.parametrize(("word", "shape", "colour", "boundaries"), [
    ("likely", "◆", "#00AAEE", (0.002, 0.001)),
    ("possible", "◈", "#FFDD00", (1.0, 0.001)),
    ("unlikely", "◇", "#EE7766", (1.0, 0.999)),
])  # fmt: skip
def test_the_badge_has_the_colour_of_its_band(nvim: Neovim, word: str, shape: str, colour: str, boundaries: tuple[float, float]) -> None:
    likely, possible = boundaries
    nvim.set("bands", {"likelyFrom": likely, "possibleFrom": possible})
    try:
        suggest(nvim)
        nvim.seen(f"{shape} {word} ")
        assert colour_of(nvim.screen().coloured, f"{shape} {word}") == colour
    finally:
        nvim.set("bands", {"likelyFrom": 0.7, "possibleFrom": 0.4})


def test_the_server_is_told_of_what_was_drawn_once(nvim: Neovim) -> None:
    suggest(nvim)
    shown = nvim.until(lambda: nvim.sent("assay.shown"), "assay.shown was sent")
    nvim.keys("Escape")
    nvim.settle()
    assert len(set(shown)) == len(shown)


def test_what_is_off_the_screen_was_not_shown(nvim: Neovim) -> None:
    nvim.lua(
        """
        local ghost = require('assay.ghost')
        vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(('x\\n'):rep(200), '\\n'))
        vim.api.nvim_win_set_cursor(0, { 1, 0 })
        drawn = 0
        ghost.draw(vim.api.nvim_get_current_buf(), 150, 0, 'far away', nil, function() drawn = drawn + 1 end)
        """
    )
    nvim.settle()
    assert nvim.lua("return drawn") == 0
    nvim.v.api.win_set_cursor(0, [151, 0])
    nvim.until(lambda: nvim.lua("return drawn") == 1, "it was drawn")
    nvim.lua("require('assay.ghost').clear()")


def test_lines_of_a_suggestion_stand_below_the_cursor(nvim: Neovim) -> None:
    nvim.set("kind", "block")
    ghost = suggest(nvim, "        ")
    assert "\n" in ghost
    nvim.seen(ghost.split("\n")[1])
    assert nvim.badge() == ("○ no evidence", "AssayNoEvidence")


def test_room_is_made_for_lines_at_the_end_of_the_window(nvim: Neovim) -> None:
    nvim.set("kind", "block")
    ghost = suggest(nvim, "        for ", text="x = 1\n" * 60 + CODE)
    assert ghost.count("\n") >= 1
    for line in ghost.split("\n")[1:]:
        nvim.seen(line)
    nvim.keys("Tab")
    nvim.settle()
    assert nvim.lines()[-1] == ghost.split("\n")[-1]


def test_tabs_of_a_suggestion_are_as_wide_as_the_text_s(nvim: Neovim) -> None:
    nvim.lua("vim.bo.tabstop = 4; require('assay.ghost').draw(0, 0, 2, 'a\\tb\\n\\tc', nil)")
    assert nvim.ghost() == "a b\n    c"
    nvim.lua("require('assay.ghost').clear()")


@pytest.mark.parametrize("wrap", [True, False])
def test_the_badge_of_a_long_line_is_seen_behind_it_or_below(nvim: Neovim, wrap: bool) -> None:
    nvim.lua("vim.o.wrap = ...", wrap)
    suggest(nvim, f"        {'x' * 75} = self.length() - other.len")
    nvim.seen((nvim.badge() or ("", ""))[0])
    assert (2 in nvim.marks()) == wrap


# -- accepted


def test_tab_puts_in_what_the_ghost_text_says_and_undo_takes_only_that(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    nvim.until(lambda: nvim.sent("assay.shown"), "assay.shown was sent")
    nvim.keys("Tab")
    nvim.settle()
    assert nvim.lines()[-1] == RETURN + ghost
    assert nvim.cursor()[1] == len(RETURN + ghost)
    assert nvim.sent("assay.accepted") == nvim.sent("assay.shown")[:1]
    nvim.type(" # typed")
    nvim.keys("Escape", "u")
    nvim.settle()
    assert nvim.lines()[-1] == RETURN + ghost
    nvim.keys("u")
    nvim.settle()
    assert nvim.lines()[-1] == RETURN


def test_undo_takes_an_acceptance_and_not_what_was_typed_before_it(nvim: Neovim) -> None:
    nvim.edit("a.py", nvim.text + "        ")
    nvim.keys("A")
    nvim.type("return ")
    nvim.settle()
    ghost = nvim.wait_ghost()
    nvim.keys("Tab")
    nvim.settle()
    assert nvim.lines()[-1] == RETURN + ghost
    nvim.keys("Escape", "u")
    nvim.settle()
    assert nvim.lines()[-1] == RETURN


def test_lines_are_put_in_below_and_the_cursor_stands_behind_them(nvim: Neovim) -> None:
    nvim.set("kind", "block")
    ghost = suggest(nvim, "        ")
    before = len(nvim.lines())
    assert "\n" in ghost
    nvim.keys("Tab")
    nvim.settle()
    assert "\n".join(nvim.lines()[before - 1 :]) == "        " + ghost
    assert nvim.cursor() == (before + ghost.count("\n"), len(ghost.split("\n")[-1]))


def test_a_word_at_a_time_comes_to_the_whole(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    words = re.findall(r"\s*[\w]+|\s*[^\w\s]+", ghost)
    for number, _ in enumerate(words[:3], 1):
        nvim.keys("M-Right")
        nvim.settle()
        assert nvim.lines()[-1] == RETURN + "".join(words[:number])
    assert len(nvim.sent("assay.acceptedPart")) == 3
    assert not nvim.sent("assay.accepted")
    assert nvim.wait_ghost() == "".join(words[3:])


def test_a_line_at_a_time_comes_to_the_whole(nvim: Neovim) -> None:
    nvim.set("kind", "block")
    ghost = suggest(nvim, "        for ").split("\n")
    before = len(nvim.lines())
    nvim.keys("M-C-Right")
    nvim.settle()
    assert nvim.lines()[before - 1 :] == ["        for " + ghost[0]]
    nvim.until(lambda: nvim.ghost() == "\n" + "\n".join(ghost[1:]), "the other lines")
    nvim.keys("M-C-Right")
    nvim.settle()
    assert nvim.lines()[before - 1 :] == ["        for " + ghost[0], ghost[1]]


def test_accepting_in_a_closed_fold_s_place_leaves_the_cursor_s_line_open(nvim: Neovim) -> None:
    nvim.lua("vim.wo.foldmethod, vim.wo.foldlevel = 'indent', 0")
    nvim.set("kind", "block")
    suggest(nvim, "        ")
    nvim.keys("Tab")
    nvim.settle()
    assert nvim.lua("return vim.fn.foldclosed('.')") == -1


# -- Tab and the other keys where there is nothing to accept


def test_tab_without_a_suggestion_indents(nvim: Neovim) -> None:
    nvim.edit("empty.txt", "\n")
    nvim.keys("A", "Tab")
    nvim.settle()
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
    nvim.keys("i", "Tab")
    nvim.settle()
    assert nvim.lines()[-1].strip() == PUTS[kind]


def test_tab_without_a_suggestion_does_what_the_buffer_s_own_mapping_did(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    nvim.lua(
        """vim.cmd('imapclear <buffer>')
        vim.keymap.set('i', '<Tab>', 'GLOBAL')
        vim.keymap.set('i', '<Tab>', 'OWN', { buffer = true })
        require('assay.keys').map(0)"""
    )
    nvim.keys("Tab")
    nvim.settle()
    assert nvim.lines()[-1] == RETURN + ghost
    nvim.keys("Escape", "o")
    nvim.until(lambda: not nvim.lua("return require('assay').visible()"), "no suggestion")
    nvim.keys("Tab")
    nvim.settle()
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
    nvim.keys("i")
    nvim.settle()
    nvim.lua("vim.snippet.expand('first($1, $2)$0')")
    nvim.type("x")
    nvim.keys("Tab")
    nvim.settle()
    nvim.type("y")
    nvim.settle()
    assert nvim.lines()[-1] == "first(x, y)"


def test_keys_without_a_suggestion_do_what_they_did(nvim: Neovim) -> None:
    nvim.edit("empty.txt", "\n")
    nvim.command("inoreabbrev <buffer> teh the")
    nvim.keys("i")
    nvim.type("teh")
    nvim.keys("C-]")
    nvim.settle()
    assert nvim.lines()[-1] == "the"


def test_keys_typed_ahead_of_tab_keep_their_order(nvim: Neovim) -> None:
    suggest(nvim)
    ghost = nvim.ghost()
    nvim.keys("Tab", "#", "1", "2", "3")
    nvim.settle()
    assert nvim.lines()[-1] == f"{RETURN}{ghost}#123"


# -- typed along, away from, taken back


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
            nvim.type(character)
            nvim.settle()

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
    nvim.lua(MUTE)
    try:
        nvim.type("Zq")
        nvim.settle()
        assert nvim.ghost() is None
        assert nvim.badge() is None
        nvim.gone(RETURN + "Zq" + ghost)
        nvim.gone("exact match")
    finally:
        nvim.lua(LOUD)


def test_what_was_typed_along_may_be_taken_back_without_a_flicker(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    for number in range(1, 4):
        nvim.type(ghost[number - 1])
        nvim.settle()
        # an answer to this text is there, too
        nvim.until(lambda: not nvim.status()["busy"], "the server is done")

    def taken_back() -> None:
        for _ in range(2):
            nvim.keys("BSpace")
            nvim.settle()

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
        nvim.type(ghost[0])
        nvim.settle()
        assert nvim.lines()[-1] == f"{RETURN}{ghost[0]}foo()"
        assert nvim.ghost() is None
    finally:
        nvim.lua(LOUD)


def test_an_answer_about_an_earlier_text_is_not_shown(nvim: Neovim) -> None:
    suggest(nvim)
    nvim.lua(MUTE)
    try:
        nvim.type("Zq")
        nvim.settle()
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
            nvim.type(character)
        nvim.settle()
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
    nvim.keys("Escape")
    nvim.gone("exact match")
    assert nvim.marks() == {}


def test_another_window_hides_it_and_a_second_view_of_the_file_does_no_harm(nvim: Neovim) -> None:
    nvim.command("split")
    ghost = suggest(nvim)
    nvim.lua("vim.cmd.stopinsert(); vim.cmd.wincmd('w')")
    nvim.settle()
    assert nvim.marks() == {}
    nvim.keys("A")
    nvim.settle()
    assert nvim.wait_ghost()
    nvim.keys("Tab")
    nvim.settle()
    assert nvim.lines()[-1].startswith(RETURN)
    assert ghost in nvim.lines()[-1]


# -- alternatives, dismissal


def test_alternatives_go_round_in_both_directions(nvim: Neovim) -> None:
    first = suggest(nvim)
    nvim.keys("M-]")
    nvim.until(lambda: (nvim.badge() or ("",))[0].count(" (2/"), "the second of the alternatives")
    second = nvim.ghost()
    nvim.keys("M-]")
    nvim.settle()
    third = nvim.ghost()
    for _ in range(3):
        # ESC [ begins the codes of many keys: a terminal tells it apart by the pause behind it
        nvim.keys("M-[")
        time.sleep(0.2)
    count = int((nvim.badge() or ("",))[0].rpartition("/")[2].rstrip(")"))
    assert (nvim.badge() or ("",))[0].endswith(f"({count}/{count})")
    nvim.keys("M-]", "M-]")
    nvim.settle()
    assert nvim.ghost() == second
    assert len({first, second, third}) == 3
    assert 1 in nvim.sent("textDocument/inlineCompletion")


def test_the_chosen_alternative_stays_while_it_is_typed_along(nvim: Neovim) -> None:
    suggest(nvim)
    nvim.keys("M-]")
    nvim.until(lambda: (nvim.badge() or ("",))[0].count(" (2/"), "the second of the alternatives")
    second = nvim.wait_ghost()
    nvim.type(second[:2])
    nvim.settle()
    nvim.until(lambda: nvim.sent("textDocument/inlineCompletion")[-1] == 1, "asked again")
    assert nvim.ghost() == second[2:]
    nvim.keys("Tab")
    nvim.settle()
    assert nvim.lines()[-1] == RETURN + second


def test_dismissed_means_gone_until_something_is_typed(nvim: Neovim) -> None:
    suggest(nvim)
    shown = nvim.until(lambda: nvim.sent("assay.shown"), "assay.shown was sent")
    nvim.keys("C-]")
    nvim.settle()
    assert nvim.ghost() is None
    assert nvim.sent("assay.rejected") == shown
    nvim.settle()
    assert nvim.ghost() is None
    assert nvim.lines()[-1] == RETURN
    nvim.type("self.")
    nvim.settle()
    assert nvim.wait_ghost()


# -- what the user wants of the server


def test_the_dial_hides_what_is_below_it_and_not_what_is_asked_for(nvim: Neovim) -> None:
    nvim.configure(lambda: nvim.command("Assay dial 0.9"))
    nvim.lua(STATUSLINE)
    hidden = nvim.status()["hidden"]
    try:
        nvim.edit("a.py", nvim.text + RETURN)
        nvim.keys("A")
        nvim.settle()
        nvim.until(lambda: nvim.status()["hidden"] > hidden, "a suggestion was hidden")
        assert nvim.ghost() is None
        nvim.seen("hidden)")
        nvim.keys("M-\\")
        nvim.settle()
        assert nvim.wait_ghost()
        nvim.seen((nvim.badge() or ("",))[0])
    finally:
        nvim.configure(lambda: nvim.command("Assay dial 0"))


def test_pause_and_resume(nvim: Neovim) -> None:
    nvim.lua(STATUSLINE)
    nvim.command("Assay pause 5")
    nvim.seen("paused until ")
    nvim.edit("a.py", nvim.text + RETURN)
    nvim.keys("A")
    nvim.settle()
    nvim.until(lambda: nvim.sent("textDocument/inlineCompletion"), "it was asked")
    assert nvim.status()["paused"]
    assert nvim.ghost() is None
    nvim.keys("Escape")
    nvim.command("Assay resume")
    nvim.gone("paused until ")
    nvim.keys("A")
    nvim.settle()
    assert nvim.wait_ghost()


def test_quiet_means_only_when_asked(nvim: Neovim) -> None:
    nvim.configure(lambda: nvim.command("Assay quiet"))
    try:
        nvim.edit("a.py", nvim.text + RETURN)
        nvim.keys("A")
        nvim.settle()
        nvim.until(lambda: nvim.status()["state"] == "ready", "the server answers")
        assert nvim.ghost() is None
        nvim.keys("M-\\")
        assert nvim.wait_ghost()
    finally:
        nvim.configure(lambda: nvim.command("Assay quiet"))
    nvim.keys("Escape", "A")
    assert nvim.wait_ghost()


# -- files of all kinds


def test_a_file_with_carriage_returns_keeps_them(nvim: Neovim) -> None:
    nvim.set("kind", "block")
    ghost = suggest(nvim, "        \r\n", file="dos.py", text=nvim.text.replace("\n", "\r\n"))
    assert nvim.lua("return vim.bo.fileformat") == "dos"
    assert "\r" not in ghost
    assert "\n" in ghost
    nvim.keys("Tab", "Escape")
    nvim.settle()
    nvim.command("silent write")
    written = (nvim.folder / "dos.py").read_bytes()
    assert written.count(b"\n") == written.count(b"\r\n") == len(nvim.lines())
    assert ghost.split("\n")[-1].encode() in written


@pytest.mark.parametrize("before", ["é", "漢字", "😀👩‍👩‍👧", "a\u0301"])
def test_columns_are_right_behind_letters_of_many_bytes(nvim: Neovim, before: str) -> None:
    typed = f'        name = "{before}" if self.end else self.'
    ghost = suggest(nvim, typed)
    assert nvim.marks()[1]["col"] == len(typed.encode())
    nvim.keys("Tab")
    nvim.settle()
    assert nvim.lines()[-1] == typed + ghost
    nvim.settle()
    # what the server has of the file is what stands in it
    at = {"textDocument": {"uri": f"file://{nvim.folder}/a.py"}, "position": {"line": len(nvim.lines()) - 1, "character": 1000}}
    seen = nvim.lua(
        """local answer
        require('assay.client').request('assay/context', ..., function(_, result) answer = result end)
        vim.wait(10000, function() return answer end, 5)
        return answer""",
        at,
    )
    assert seen["prefix"]["text"].endswith(typed + ghost)


# -- repeating


def test_a_macro_plays_back_what_was_typed(nvim: Neovim) -> None:
    nvim.edit("macro.txt", "one\ntwo\n", at=(1, 0))
    nvim.keys("q", "a", "A")
    nvim.type("!")
    nvim.keys("Tab")
    nvim.type("?")
    nvim.keys("Escape", "q", "j", "@", "a")
    nvim.settle()
    first, second = nvim.lines()[:2]
    assert (first[3:], second[3:]) == ("!   ?"[:1] + first[4:], first[3:])
    assert first.startswith("one!")
    assert first.endswith("?")


def test_a_macro_with_an_acceptance_plays_back_without_an_error(nvim: Neovim) -> None:
    ghost = suggest(nvim)
    nvim.keys("Escape", "q", "a", "A")
    nvim.settle()
    assert nvim.wait_ghost() == ghost
    nvim.keys("Tab")
    nvim.type("!")
    nvim.keys("Escape", "q")
    nvim.settle()
    assert nvim.lines()[-1] == f"{RETURN}{ghost}!"
    nvim.keys("o", "-", "Escape", "@", "a")
    nvim.settle()
    assert nvim.v.api.get_mode()["mode"] == "n"
    assert re.fullmatch(r"\s*- +!", nvim.lines()[-1])


def test_dot_repeats_what_was_typed_and_not_what_was_accepted(nvim: Neovim) -> None:
    suggest(nvim)
    nvim.keys("Tab")
    nvim.settle()
    nvim.type(" or 0")
    nvim.keys("Escape", "o", "Escape", ".")
    nvim.settle()
    assert nvim.v.api.get_mode()["mode"] == "n"
    assert "stack traceback" not in nvim.v.command_output("messages")


# -- beside menus


def test_ghost_text_is_hidden_while_the_menu_of_completions_is_open(nvim: Neovim) -> None:
    nvim.command("set completeopt=menuone,noselect")
    suggest(nvim, RETURN + "self.")
    nvim.keys("C-n")
    nvim.settle()
    nvim.until(lambda: nvim.lua("return vim.fn.pumvisible()") == 1, "the menu is open")
    assert nvim.ghost() is None
    nvim.type("e")
    nvim.settle()
    assert nvim.lua("return vim.fn.pumvisible()") == 1
    assert nvim.ghost() is None
    nvim.keys("C-e")
    nvim.settle()
    assert nvim.wait_ghost()


def test_ghost_text_stays_beside_a_menu_for_who_wants_it(nvim: Neovim) -> None:
    nvim.command("set completeopt=menuone,noselect")
    nvim.lua("require('assay.config').current.show_with_menu = true")
    suggest(nvim, RETURN + "self.")
    nvim.keys("C-n")
    nvim.type("e")
    nvim.settle()
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
        nvim.type("e")
        nvim.settle()
        assert nvim.ghost() is None
        assert nvim.sent("textDocument/inlineCompletion") == []
        nvim.lua("close_menu()")
        assert nvim.wait_ghost()
    finally:
        nvim.lua("package.loaded.cmp, package.loaded['blink.cmp'] = nil, nil")


# -- commands, help, health


def test_explain_shows_the_evidence_beside_the_cursor(nvim: Neovim) -> None:
    suggest(nvim)
    badge = (nvim.badge() or ("",))[0]
    nvim.until(lambda: nvim.sent("assay.shown"), "assay.shown was sent")
    nvim.lua("vim.cmd('Assay explain')")
    nvim.seen("Calibrator:")
    assert badge in nvim.screen().text
    nvim.keys("Escape")
    nvim.gone("Calibrator:")


def test_the_dial_s_menu_says_what_each_level_would_have_shown(nvim: Neovim) -> None:
    nvim.lua("vim.ui.select = function(items, opts, choose) offered = vim.tbl_map(opts.format_item, items); choose(items[6]) end")
    nvim.command("Assay dial")
    offered = nvim.until(lambda: nvim.lua("return offered"), "the levels")
    assert len(offered) == 10
    assert offered[0].startswith("● all")
    level = r"(line|rest|middle) (not known|[\d.]+ %(, [\d.]+ % right( \(\d+-\d+\))?)?)"
    assert all(re.match(rf"  ≥ \d0 %  (here: shows ([\d.]+ %|–).* · )?{level}; {level}; {level}$", line) for line in offered[1:])
    assert re.search(r"line [\d.]+ %, \d+ % right \(\d+-\d+\); rest", offered[2])
    assert nvim.lua("return require('assay.config').current.settings.showAbove") == 0.5


def test_the_report_has_the_reliability_of_each_calibrator(nvim: Neovim) -> None:
    nvim.command("Assay report")
    nvim.until(lambda: nvim.lua("return vim.api.nvim_buf_get_name(0)") == "assay://confidence", "the report")
    text = "\n".join(nvim.lines())
    assert "## line: informative" in text
    assert re.search(r"skill +0\.\d\d \(0\.\d\d to 0\.\d\d\)", text)
    assert re.search(r"\d+ %  +\d+ % to +\d+ % +\d+  [█░┃]{20}", text)
    assert "no number" not in text
    nvim.keys("q")
    nvim.until(lambda: nvim.lua("return vim.api.nvim_buf_get_name(0)") != "assay://confidence", "it is closed")


def test_status_says_what_the_server_has(nvim: Neovim) -> None:
    nvim.command("Assay status")
    nvim.seen("assay-embedded, loaded in")


def test_commands_are_completed_and_unknown_ones_are_told(nvim: Neovim) -> None:
    complete = nvim.v.funcs.getcompletion
    everything = ["dial", "explain", "pause", "quiet", "recalibrate", "report", "restart", "resume", "status"]
    assert complete("Assay ", "cmdline") == everything
    assert complete("Assay re", "cmdline") == ["recalibrate", "report", "restart", "resume"]
    assert complete("Assay pause ", "cmdline") == ["5", "15", "30", "60"]
    assert complete("Assay status ", "cmdline") == []
    nvim.command("Assay nonsense")
    assert "there is no :Assay nonsense" in nvim.v.command_output("messages")
    for wrong in ("dial nan", "dial 2", "dial x", "pause abc", "pause inf", "pause nan", "pause -3"):
        nvim.command(f"messages clear | Assay {wrong}")
        assert " needs a number " in nvim.v.command_output("messages"), wrong
    assert nvim.status().get("paused") is None
    assert nvim.lua("return require('assay.config').current.settings.showAbove") is None


def test_checkhealth_says_what_works_and_which_keys_are_taken(nvim: Neovim) -> None:
    nvim.command("silent checkhealth assay")
    text = "\n".join(nvim.lines())
    for line in ("found in the option cmd", "the server runs (client", "the model is ready: assay-embedded", "calibrators were found"):
        assert line in text
    assert "ERROR" not in text
    assert re.search(r"<Tab>: accept", text)
    assert "(else: Assay" not in text
    nvim.command("silent! bwipeout!")
    nvim.lua("vim.keymap.set('i', '<Tab>', 'x', { buffer = true, desc = 'some other plugin' })")
    nvim.command("silent checkhealth assay")
    assert "<Tab>: accept is taken by: some other plugin" in "\n".join(nvim.lines())


def test_the_help_has_tags_for_all_that_it_describes(nvim: Neovim, folder: Path) -> None:
    nvim.command(f"silent !cp -r {Path(__file__).parents[2] / 'editors' / 'nvim'} {folder}/plugin")
    nvim.command(f"helptags {folder}/plugin/doc")
    tags = [line.split("\t")[0] for line in (folder / "plugin" / "doc" / "tags").read_text().splitlines()]
    commands = nvim.lua("return vim.tbl_keys(require('assay.commands').COMMANDS)")
    options = nvim.lua("local d = vim.deepcopy(require('assay.config').defaults); d.cmd = false; return vim.tbl_keys(d)")
    keys = nvim.lua("return vim.tbl_keys(require('assay.keys').ACTIONS)")
    functions = ["setup", "statusline", "visible", *keys]
    wanted = {"assay", "assay.nvim", *(f":Assay-{name}" for name in commands), *(f"assay-option-{name}" for name in options)}
    wanted |= {f"assay.{name}()" for name in functions} | {f"assay-key-{name}" for name in keys}
    assert wanted - set(tags) == set()


def test_what_can_not_be_is_told_by_setup_and_the_rest_holds(nvim: Neovim) -> None:
    problems = nvim.lua(
        "return require('assay.config').set({ colour = 'red', badge = 1, keys = { acept = 'x', next = 3 }, exclude = {'lua'} })"
    )
    assert [problem.split(" ")[2] for problem in problems] == ["badge", "colour", "keys.acept", "keys.next"]
    assert nvim.lua("return require('assay.config').current.exclude") == ["lua"]
    assert nvim.lua("return require('assay.config').current.badge") is True
    problems = nvim.lua("return require('assay.config').set({ keys = { next = '<C-y>', accept = '<C-y>' } })")
    assert problems == ["  keys.accept and keys.next are both <C-y>"]


def test_setup_again_changes_settings_and_keys_of_what_runs(nvim: Neovim) -> None:
    setup_again(nvim, "settings = { showAbove = 0.9, explore = 0 }")
    hidden = nvim.status()["outcomes"]["hidden"]
    nvim.edit("a.py", nvim.text + RETURN)
    nvim.lua("vim.keymap.set('i', '<C-l>', 'OWN', { buffer = true })")
    nvim.keys("A")
    nvim.settle()
    nvim.until(lambda: nvim.status()["outcomes"]["hidden"] > hidden, "a suggestion was hidden")
    setup_again(nvim, "keys = { accept = '<C-l>' }")
    nvim.keys("Escape", "A")
    nvim.settle()
    ghost = nvim.wait_ghost()
    nvim.keys("C-l")
    nvim.settle()
    assert nvim.lines()[-1] == RETURN + ghost
    setup_again(nvim)
    nvim.keys("Escape", "o", "C-l")
    nvim.settle()
    assert nvim.lines()[-1].strip() == "OWN"
    assert nvim.lua("return vim.fn.maparg('<Tab>', 'i', false, true).desc") == "Assay: accept the suggestion"


def test_setup_again_lets_go_of_what_is_excluded_then(nvim: Neovim) -> None:
    assert nvim.lua("return require('assay.client').attached(0)")
    setup_again(nvim, "exclude = { 'python' }")
    assert not nvim.lua("return require('assay.client').attached(0)")
    assert nvim.lua("return vim.fn.maparg('<M-Right>', 'i')") == ""
    setup_again(nvim)
    nvim.until(lambda: nvim.lua("return require('assay.client').attached(0)"), "the file is attached")


# -- colours


# Foreground of each group on a light and on a dark background: of true colour, and the nearest of 256.
LIGHT = {
    "AssayLikely": ("#0044DD", 26),
    "AssayPossible": ("#884400", 94),
    "AssayUnlikely": ("#440033", 235),
    "AssayNoEvidence": ("#585858", 240),
}
DARK = {
    "AssayLikely": ("#00AAEE", 39),
    "AssayPossible": ("#FFDD00", 220),
    "AssayUnlikely": ("#EE7766", 209),
    "AssayNoEvidence": ("#B4B4B4", 249),
}


def test_colours_follow_the_background_and_a_colour_scheme_and_give_way_to_the_user_s(nvim: Neovim) -> None:
    def looks() -> dict[str, tuple[str, int]]:
        found = {group: nvim.lua("return vim.api.nvim_get_hl(0, { name = ... })", group) for group in LIGHT}
        return {group: (f"#{look['fg']:06X}", look["ctermfg"]) for group, look in found.items()}

    assert looks() == DARK
    try:
        nvim.command("set background=light")
        assert looks() == LIGHT
        nvim.command("colorscheme habamax")
        assert nvim.v.options["background"] == "dark"
        assert looks() == DARK
        nvim.command("highlight AssayLikely guifg=#123456")
        setup_again(nvim)
        assert looks()["AssayLikely"][0] == "#123456"
        nvim.command("autocmd ColorScheme * highlight AssayPossible guifg=#654321")
        nvim.command("colorscheme shine")
        assert nvim.v.options["background"] == "light"
        assert looks() == LIGHT | {"AssayPossible": ("#654321", looks()["AssayPossible"][1])}
    finally:
        nvim.command("autocmd! ColorScheme *")
        nvim.command("set background=dark | colorscheme default")
        nvim.lua("require('assay.highlights').follow()")


def test_the_status_line_has_the_band_of_what_is_on_the_screen(nvim: Neovim) -> None:
    nvim.lua(STATUSLINE)
    nvim.seen("Assay")
    suggest(nvim)
    badge = (nvim.badge() or ("",))[0]
    nvim.seen(f"Assay {badge}")
    nvim.keys("Escape")
    nvim.gone(f"Assay {badge}")


@pytest.mark.parametrize("how", ["%{v:lua.require'assay'.statusline()}", "%!v:lua.require'assay'.statusline()"])
def test_of_two_windows_only_the_one_with_the_cursor_has_the_band(nvim: Neovim, how: str) -> None:
    nvim.v.options["statusline"] = how
    nvim.edit("a.py", nvim.text + RETURN)
    nvim.command("vsplit")
    nvim.keys("A")
    nvim.settle()
    nvim.wait_ghost()
    badge = (nvim.badge() or ("",))[0]
    nvim.until(lambda: [line.count(badge) for line in nvim.screen().lines if "Assay" in line] == [1], "one band in two status lines")
    (line,) = [line for line in nvim.screen().lines if "Assay" in line]
    assert line.count("Assay") == 2
    nvim.keys("Escape")
    nvim.command("vnew")
    nvim.until(lambda: [line.count("Assay") for line in nvim.screen().lines if "Assay" in line] == [2], "none of the buffer without Assay")
    nvim.command("Assay pause 60")
    nvim.until(lambda: "".join(nvim.screen().lines).count("Assay paused until") == 2, "the pause in both of the others")
    nvim.command("bwipeout")
    nvim.command("Assay resume")

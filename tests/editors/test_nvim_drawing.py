"""What a real Neovim draws: ghost text, badge, colours and the status line."""

from __future__ import annotations

import pytest
from editors.nvim_suggestion import BADGE, CODE, RETURN, STATUSLINE, setup_again, suggest
from editors.nvim_terminal import Neovim, colour_of

pytestmark = [pytest.mark.slow, pytest.mark.editor]


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
        badge, group = nvim.badge() or ("", "")
        assert (badge[0], group) == (shape, f"Assay{word.capitalize()}")
        nvim.seen(badge)
        assert colour_of(nvim.screen().coloured, badge) == colour
    finally:
        nvim.set("bands", {"likelyFrom": 0.7, "possibleFrom": 0.4})


def test_the_server_is_told_of_what_was_drawn_once(nvim: Neovim) -> None:
    suggest(nvim)
    shown = nvim.until_sent("assay.shown")
    nvim.press("Escape")
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
    nvim.press("Tab")
    assert nvim.lines()[-1] == ghost.split("\n")[-1]


def test_tabs_of_a_suggestion_are_as_wide_as_the_text_s(nvim: Neovim) -> None:
    nvim.lua("vim.bo.tabstop = 4; require('assay.ghost').draw(0, 0, 2, 'a\\tb\\n\\tc', nil)")
    assert nvim.ghost() == "a b\n    c"
    nvim.lua("require('assay.ghost').clear()")


@pytest.mark.parametrize("wrap", [True, False])
def test_the_badge_of_a_long_line_is_seen_behind_it_or_below(nvim: Neovim, wrap: bool) -> None:
    nvim.lua("vim.o.wrap = ...", wrap)
    suggest(nvim, f"        {'x' * 75} = self.length() - other.len")
    nvim.seen(nvim.badge_text())
    assert (2 in nvim.marks()) == wrap


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
    words = nvim.lua("return require('assay.suggestion').confidence().text")
    assert words.endswith(" exact match")
    nvim.seen(f"Assay {words}")
    nvim.keys("Escape")
    nvim.gone(f"Assay {words}")


def test_the_badge_has_words_where_the_user_wants_them(nvim: Neovim) -> None:
    nvim.lua("require('assay.config').current.badge = 'words'")
    suggest(nvim)
    badge = nvim.badge_text()
    assert badge == nvim.lua("return require('assay.suggestion').confidence().text")
    assert badge.endswith(" exact match")


@pytest.mark.parametrize("how", ["%{v:lua.require'assay'.statusline()}", "%!v:lua.require'assay'.statusline()"])
def test_of_two_windows_only_the_one_with_the_cursor_has_the_band(nvim: Neovim, how: str) -> None:
    nvim.v.options["statusline"] = how
    nvim.edit("a.py", nvim.text + RETURN)
    nvim.command("vsplit")
    nvim.press("A")
    nvim.wait_ghost()
    badge = nvim.lua("return require('assay.suggestion').confidence().text")
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

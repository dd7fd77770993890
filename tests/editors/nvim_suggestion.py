"""A suggestion in a Neovim: the text that it is made for, and what tests look for on the screen."""

from __future__ import annotations

import re

from editors.nvim_terminal import Neovim

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
BADGE = re.compile(r"[◆◈◇] \d+-\d+ %")


def suggest(nvim: Neovim, typed: str = RETURN, *, file: str = "a.py", text: str | None = None) -> str:
    """The ghost text behind a beginning of the file's last line."""
    nvim.edit(file, (nvim.text if text is None else text) + typed)
    nvim.press("A")
    return nvim.wait_ghost()


def setup_again(nvim: Neovim, options: str = "") -> None:
    nvim.configure(
        lambda: nvim.lua(
            f"require('assay').setup({{ cmd = require('assay.config').current.cmd, settings = {{ showAbove = 0 }}, {options} }})"
        )
    )

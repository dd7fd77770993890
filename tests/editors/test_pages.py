"""The pages of the editors say what a user sees who has set nothing."""

import re
from pathlib import Path

import pytest

from assay.server.settings.table import SETTINGS

EDITORS = Path(__file__).parents[2] / "editors"
PAGES = ("vscode/README.md", "nvim/doc/assay.txt", "vscode/media/walkthrough/dial.md")


@pytest.mark.parametrize("page", PAGES[:2])
def test_the_badge_that_is_shown_first_is_the_short_one_of_the_default(page: str) -> None:
    first = re.search("◆[^`\n]*", (EDITORS / page).read_text(encoding="utf-8"))
    assert first is not None
    assert first[0] == "◆ 70-85 %"


@pytest.mark.parametrize("page", PAGES)
def test_the_stops_of_the_dial_are_named_and_which_is_the_default(page: str) -> None:
    assert next(setting.default for setting in SETTINGS if setting.name == "showAbove") == "auto"
    text = " ".join((EDITORS / page).read_text(encoding="utf-8").lower().split())
    assert re.search(r"quiet.*balanced\W* \((at least one in two; )?the default.*everything", text)

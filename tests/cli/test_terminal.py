"""Colour, width and control characters on a terminal."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.control_characters import strip_control_characters
from assay.cli.terminal import Paint, clip, wants_colour

ESCAPE = re.compile("\x1b\\[[0-9;]*m")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("terminal", "environment", "colour"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (True, {"FORCE_COLOR": "0"}, False),
    ],
)
def test_colour_is_for_terminals_and_the_environment_decides(terminal: bool, environment: dict[str, str], colour: bool) -> None:
    assert wants_colour(Terminal() if terminal else io.StringIO(), environment) is colour


@given(st.text(alphabet=st.characters(exclude_categories=["Cc"])))
def test_paint_changes_nothing_but_the_colour(text: str) -> None:
    assert Paint(colour=False)(text, "bold") == text
    assert ESCAPE.sub("", Paint(colour=True)(text, "ghost", "bold")) == text


def test_each_painted_line_ends_its_own_colour() -> None:
    lines = Paint(colour=True)("a\n\nb", "red").split("\n")
    assert lines == ["\x1b[31ma\x1b[0m", "", "\x1b[31mb\x1b[0m"]


@given(st.text(), st.integers(1, 40))
def test_a_clipped_text_is_never_wider_and_a_short_one_is_left_alone(text: str, width: int) -> None:
    clipped = clip(text, width)
    assert len(clipped) <= width
    assert clipped == text if len(text) <= width else clipped.endswith("…")


@given(st.text())
def test_what_a_model_writes_can_not_drive_the_terminal(text: str) -> None:
    made = strip_control_characters(text + "\x1b]0;title\x07\r\x9b2J")
    assert not [c for c in made if (ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160]
    assert len(made) == len(text) + len("\x1b]0;title\x07\r\x9b2J")

"""Colour, width and control characters on a terminal."""

import io
import json
import re
from pathlib import Path
from typing import TextIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.calibration.control_characters import EscapingStream, escaped, escaped_json, escaped_line, unseen_in, write_exactly
from assay.cli.terminal import Paint, Style, clip, say, show, wants_colour

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
        (True, {"TERM": "dumb"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"FORCE_COLOR": "0"}, False),
    ],
)
def test_colour_is_for_terminals_and_the_environment_decides(terminal: bool, environment: dict[str, str], colour: bool) -> None:
    assert wants_colour(Terminal() if terminal else io.StringIO(), environment) is colour


def painted(text: str, *styles: Style) -> str:
    """What is written of it, without the escapes of what others wrote."""
    below = io.StringIO()
    write_exactly(cast(TextIO, EscapingStream(below)), Paint(colour=True)(text, *styles))
    return below.getvalue()


@given(st.text(alphabet=st.characters(exclude_categories=["Cc"])))
def test_paint_changes_nothing_but_the_colour(text: str) -> None:
    assert Paint(colour=False)(text, "bold") == text
    assert ESCAPE.sub("", painted(text, "ghost", "bold")) == text


@given(st.text(), st.integers(1, 40))
def test_a_clipped_text_is_never_wider_and_a_short_one_is_left_alone(text: str, width: int) -> None:
    clipped = clip(text, width)
    assert len(clipped) <= width
    assert clipped == text if len(text) <= width else clipped.endswith("…")


@given(st.text(), st.text())
def test_what_others_wrote_is_shown_with_its_controls_written_out_and_nothing_else_of_it_changes(text: str, more: str) -> None:
    made = escaped(text + "\x1b]0;title\x07\r\x9b2J\u202e\u200b" + more)
    assert r"\x1b]0;title\x07\r\x9b2J\u202e\u200b" in made
    assert not unseen_in(made)
    assert not [c for c in made if (ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160]
    assert escaped(made) == made
    assert "\n" not in escaped_line(text)


@pytest.mark.parametrize("text", ["naïve — “ß”", "می‌خواهم", "👩‍👩‍👧 ❤️ 1️⃣", "葛󠄀城", "שלום", "\ta\n  b\n"])
def test_what_a_reader_sees_is_left_alone(text: str) -> None:
    assert escaped(text) == text
    assert unseen_in(text) == ""


@pytest.mark.parametrize(
    "hidden", ["\u200d", "\ufe0f", "\u200b", "\u202e", "\u2066", "\ufeff", "\u3164", "\u00ad", "\U000e0041", "\x7f", "\ud800"]
)
def test_what_makes_two_names_look_the_same_is_written_out(hidden: str) -> None:
    assert escaped(f"adm{hidden}in").startswith("adm\\")
    assert unseen_in(f"adm{hidden}in").startswith("\\")


@given(st.text())
def test_json_says_the_same_with_its_own_escapes(text: str) -> None:
    written = escaped_json(json.dumps({"a": text + "\x9b\u202e\U000e0041"}, ensure_ascii=False))
    assert not unseen_in(written)
    assert json.loads(written) == {"a": text + "\x9b\u202e\U000e0041"}


def test_a_stream_shows_our_colours_and_writes_out_the_sequences_of_others() -> None:
    below = io.StringIO()
    stream = cast(TextIO, EscapingStream(below))
    print(Paint(colour=True)("a\x1b[8mb", "red"), "\x1b[31;1mc", file=stream)
    write_exactly(stream, "\x1b[2J")
    assert below.getvalue() == "\x1b[31ma\\x1b[8mb\x1b[0m \\x1b[31;1mc\n\x1b[2J"


def test_commands_print_nothing_by_another_way() -> None:
    """What is printed by `show` and `say` is escaped, whatever is in it, and makes no line of its own."""
    files = [file for file in Path(assay.__file__).with_name("cli").rglob("*.py") if file.name not in ("terminal.py", "exit_codes.py")]
    assert len(files) > 20
    assert [file.name for file in files if re.search(r"(?m)^ +print\(|std(out|err)\.write", file.read_text(encoding="utf-8"))] == []


def test_a_newline_in_a_name_writes_no_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    say("the folder shop\nassay: fine")
    show("shop\nassay: fine", "next")
    assert capsys.readouterr() == ("shop\\nassay: fine\nnext\n", "the folder shop\n  assay: fine\n")

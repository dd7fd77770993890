"""Output for people and programs: stderr and JSON, colour only where it is wanted, lines no wider than the window."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TextIO, cast

from ..calibration.control_characters import EscapingStream, escaped_json, escaped_line, own, write_exactly

Style = Literal["bold", "dim", "ghost", "green", "yellow", "red", "blue"]

_CODES: dict[Style, str] = {"bold": "1", "dim": "2", "ghost": "3;36", "green": "32", "yellow": "33", "red": "31", "blue": "34"}
_PLAIN_WIDTH = 120


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person reads a stream. None: it was closed before the start."""
    return stream is not None and stream.isatty()


def wants_colour(stream: TextIO | None, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour what is written to a stream: on terminals that can; NO_COLOR forbids it, FORCE_COLOR asks for it anywhere."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return environ["FORCE_COLOR"] != "0"
    return is_terminal(stream) and environ.get("TERM") != "dumb"


def width_of(stream: TextIO | None) -> int:
    """Columns of the terminal behind a stream. COLUMNS takes precedence; a stream that is no terminal has 120."""
    return shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns if is_terminal(stream) or "COLUMNS" in os.environ else _PLAIN_WIDTH


def columns(rows: Sequence[Sequence[str]], right: bool = False) -> list[str]:
    """Rows of cells as lines with columns of one width each. right: cells stand at the right of theirs, but for the last column's."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    if right:
        lines = ("  ".join([*map(str.rjust, row[:-1], widths), row[-1]]) for row in rows)
    else:
        lines = ("  ".join(map(str.ljust, row, widths)) for row in rows)
    return [line.rstrip() for line in lines]


def agrees() -> bool:
    """Whether the user, who was just asked, answers yes."""
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def clip(text: str, width: int) -> str:
    """The text on at most `width` columns, with an ellipsis for what was cut off."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def escape_output() -> None:
    """From now on escape control characters in all output of this process, except the colours of `Paint`."""
    sys.stdout, sys.stderr = _escaping(sys.stdout), _escaping(sys.stderr)


def say(text: str, *styles: Style) -> None:
    """Print text for people on stderr. Lines after the first are indented, so that a name can't fake a message."""
    if sys.stderr is not None:  # it was closed before the start, and print() would take stdout instead
        print(Paint(wants_colour(sys.stderr))(text.replace("\n", "\n  "), *styles), file=sys.stderr, flush=True)


def show(*lines: str) -> None:
    """Print lines for people on stdout. A newline in one is shown escaped."""
    for line in lines:
        print(line.replace("\n", escaped_line("\n")))
    print(end="", flush=True)


def show_text(text: str) -> None:
    """Print a text on stdout: escaped for people, exactly as it is for a program."""
    if sys.stdout is None or is_terminal(sys.stdout):
        print(text)
    else:
        write_exactly(sys.stdout, f"{text}\n")


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document on stdout, in characters that its encoding has."""
    encoding = getattr(sys.stdout, "encoding", "utf-8")  # stdout is None where it was closed before the start
    plain = encoding.lower().replace("-", "") != "utf8"
    print(escaped_json(json.dumps(document, indent=2, ensure_ascii=plain, allow_nan=False)))


def _escaping(stream: TextIO | None) -> TextIO:
    """The stream with an `EscapingStream` around it, which writes whatever its encoding lacks as it can."""
    if stream is None or isinstance(stream, EscapingStream):
        return cast(TextIO, stream)
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")
    return cast(TextIO, EscapingStream(stream))


@dataclass(frozen=True, slots=True)
class Paint:
    """Puts styles on text, or leaves it alone where there is no colour."""

    colour: bool

    def __call__(self, text: str, *styles: Style) -> str:
        """The text in the styles. Each line is styled by itself, so that a pager shows it right."""
        if not self.colour or not styles:
            return text
        codes = ";".join(_CODES[style] for style in styles)
        return "\n".join(f"{own(f'{codes}m')}{line}{own('0m')}" if line else line for line in text.split("\n"))

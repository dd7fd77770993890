"""Output for people and programs: stderr and JSON, colour only where it is wanted, lines no wider than the window."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TextIO

from ..calibration.control_characters import strip_control_characters

Style = Literal["bold", "dim", "ghost", "green", "yellow", "red", "blue"]

_CODES: dict[Style, str] = {"bold": "1", "dim": "2", "ghost": "3;36", "green": "32", "yellow": "33", "red": "31", "blue": "34"}
_PLAIN_WIDTH = 120


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person reads a stream. One that was closed before the start is None."""
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


def clip(text: str, width: int) -> str:
    """The text on at most `width` columns, with an ellipsis for what was cut off."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def say(text: str) -> None:
    """Print text for people on stderr, without control characters."""
    if sys.stderr is not None:  # it was closed before the start, and print() would take stdout instead
        print(strip_control_characters(text), file=sys.stderr, flush=True)


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document on stdout, in characters that its encoding has."""
    encoding = getattr(sys.stdout, "encoding", "utf-8")  # stdout is None where it was closed before the start
    plain = encoding.lower().replace("-", "") != "utf8"
    print(json.dumps(document, indent=2, ensure_ascii=plain, allow_nan=False))


@dataclass(frozen=True, slots=True)
class Paint:
    """Puts styles on text, or leaves it alone where there is no colour."""

    colour: bool

    def __call__(self, text: str, *styles: Style) -> str:
        """The text in the styles. Each line is styled by itself, so that a pager shows it right."""
        if not self.colour or not styles:
            return text
        codes = ";".join(_CODES[style] for style in styles)
        return "\n".join(f"\x1b[{codes}m{line}\x1b[0m" if line else line for line in text.split("\n"))

"""What a terminal can show: colour only where it is wanted, lines no wider than the window."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TextIO

Style = Literal["bold", "dim", "ghost", "green", "yellow", "red", "blue"]

_CODES: dict[Style, str] = {"bold": "1", "dim": "2", "ghost": "3;36", "green": "32", "yellow": "33", "red": "31", "blue": "34"}
_PLAIN_WIDTH = 120


def wants_colour(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour what is written to a stream: on terminals that can; NO_COLOR forbids it, FORCE_COLOR asks for it anywhere."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return environ["FORCE_COLOR"] != "0"
    return stream.isatty() and environ.get("TERM") != "dumb"


def width_of(stream: TextIO) -> int:
    """Columns of the terminal behind a stream; COLUMNS goes before, and 120 stands for anything that is no terminal."""
    return shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns if stream.isatty() or "COLUMNS" in os.environ else _PLAIN_WIDTH


def clip(text: str, width: int) -> str:
    """The text on at most `width` columns, with an ellipsis for what was cut off."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON document on stdout, in characters that its encoding has."""
    plain = sys.stdout.encoding.lower().replace("-", "") != "utf8"
    print(json.dumps(document, indent=2, ensure_ascii=plain))


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

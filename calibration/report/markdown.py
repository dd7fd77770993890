"""Blocks as Markdown (GitHub's, for its tables)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..control_characters import escaped
from .blocks import Block, Bullets, Heading, Paragraph, Table
from .plots import Picture

# An underscore inside a word is only that, and measures are full of them.
_SPECIAL = re.compile(r"[\\`*\[\]<>|&~$]|(?<!\w)_|_(?!\w)")


def as_markdown(blocks: Sequence[Block]) -> str:
    """The document; pictures are links to NAME.svg beside it."""
    return "\n\n".join(map(_block, blocks)) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {_escaped(text)}"
        case Paragraph(text, lead):
            return f"**{_escaped(lead)}** {_escaped(text)}" if lead else _escaped(text)
        case Bullets(items):
            return "\n".join(f"* {_escaped(item)}" for item in items)
        case Table(title, columns, align, rows):
            rule = [":---" if side == "l" else "---:" for side in align]
            return "\n".join([_escaped(title), "", _escaped_row(columns), _row(rule), *map(_escaped_row, rows)])
        case Picture(name, title, alt, svg):
            return f"{_escaped(title)}\n\n" + (f"![{_escaped(alt)}]({name}.svg)" if svg else _escaped(alt))


def _escaped_row(cells: Sequence[str]) -> str:
    return _row(tuple(map(_escaped, cells)))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", " ".join(escaped(text).split()))

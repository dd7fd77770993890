"""Lines end as the document's do."""

from __future__ import annotations

import re

from ...inference.completion.task import start_of_line
from ..cursor import Cursor
from ..positions import content, split_lines

_LINE_END = re.compile(r"\r\n|\r|\n")


def with_the_documents_newlines(text: str, cursor: Cursor) -> str:
    """The text with its lines ended as the line before the cursor's is."""
    return _newline_at(cursor).join(map(content, split_lines(text)))


def _newline_at(cursor: Cursor) -> str:
    r"""What ends the line before the cursor's; in the first line, what ends that one; `\n` where neither is in sight."""
    end = len(cursor.prefix) - len(start_of_line(cursor.prefix))
    if end:
        return "\r\n" if cursor.prefix.endswith("\r\n", 0, end) else cursor.prefix[end - 1]
    found = _LINE_END.search(cursor.suffix)
    return found[0] if found else "\n"

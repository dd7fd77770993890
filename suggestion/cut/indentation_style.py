"""Lines are indented as the document's are, by tabs or by spaces."""

from __future__ import annotations

import re

from ...inference.completion.task import start_of_line
from ..cursor import Cursor

# So many characters on either side of the cursor are looked at for the document's indentation.
_NEAR = 1 << 12
# Spaces of a level of indentation where nothing speaks against it.
_LEVEL = 4

_LINE_END = re.compile(r"\r\n|\r|\n")
_INDENT = re.compile(r"^[ \t]+(?=[^\s])", re.MULTILINE)
# Not of the first line: it may be the rest of one.
_INDENT_BELOW = re.compile(r"[\r\n]([ \t]+)(?=[^\s])")


def in_the_documents_style(text: str, cursor: Cursor) -> str:
    """The text with its lines indented as all of the document's are that are indented; unchanged where these differ."""
    prefix, suffix = cursor.prefix, cursor.suffix
    first = 0 if not start_of_line(prefix).strip() else len(_LINE_END.split(text, maxsplit=1)[0])
    indents = [match[0] for match in _INDENT.finditer(text) if match.start() >= first]
    if not indents:
        return text
    around = [indent for near in (prefix[-_NEAR:], suffix[:_NEAR]) for indent in _INDENT_BELOW.findall(near)]
    styles = {indent[0] for indent in around}
    if styles == {"\t"}:
        widths = [len(indent) for indent in indents if "\t" not in indent]
        level = next((level for level in (_LEVEL, 2) if not any(width % level for width in widths)), None)
        if level is None or any("\t" in indent and " " in indent for indent in indents):
            return text
        converted = {" " * width: "\t" * (width // level) for width in widths}
    elif styles == {" "}:
        # One level: the least indentation beyond 1.
        level = min((len(indent) for indent in around if 1 < len(indent) <= 8), default=_LEVEL)
        converted = {indent: indent.replace("\t", " " * level) for indent in indents}
    else:
        return text
    return _INDENT.sub(lambda match: converted.get(match[0], match[0]) if match.start() >= first else match[0], text)

"""Text of Python files: from bytes and back without loss, and where its lines begin.

Offsets everywhere in `analysis` are in characters of the text; a byte order mark and every carriage return are among them.
"""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from itertools import pairwise

BOM = "\ufeff"
# what Python's parser ends a line at; a form feed or U+2028 does not end one, as str.splitlines would have it
LINE_END = re.compile(r"\r\n?|\n")


class UnreadableSource(ValueError):
    """Text that Python does not parse; the message says line and reason."""


def decoded(data: bytes) -> tuple[str, str]:
    """The text of a file's bytes and its encoding (PEP 263, else UTF-8), such that text.encode(encoding) is the bytes again.

    A byte order mark stays as the first character. Raises UnreadableSource: unknown encoding, or bytes that are not of it.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        # its own name for UTF-8 behind a byte order mark would swallow the mark
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        text = data.decode(encoding)
        same = text.encode(encoding) == data
    except (SyntaxError, UnicodeError, LookupError) as error:
        raise UnreadableSource(f"not text of the encoding that its first lines name: {error}") from None
    if not same:
        raise UnreadableSource(f"its encoding, {codecs.lookup(encoding).name}, would not write its bytes back as they are")
    return text, encoding


def line_starts(source: str) -> list[int]:
    """Offset of the first character of each line, a byte order mark not counted, then the length of the text.

    Line n, numbered from 1, is source[starts[n - 1] : starts[n]], with its line end.
    """
    return [int(source.startswith(BOM)), *(match.end() for match in LINE_END.finditer(source)), len(source)]


def code_end(source: str, offset: int) -> int:
    """The end of the line that an offset is on, its comment included, without trailing white space."""
    end = LINE_END.search(source, offset)
    return offset + len(source[offset : end.start() if end else len(source)].rstrip())


def lines_of(source: str) -> list[str]:
    """The lines of a text, each with its line end; joined they are the text."""
    ends = [match.end() for match in LINE_END.finditer(source)]
    if not ends or ends[-1] < len(source):
        ends.append(len(source))
    return [source[start:end] for start, end in pairwise([0, *ends])] if source else []

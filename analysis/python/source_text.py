"""The text of Python files: decoded without loss, and split into lines.

Offsets everywhere in `analysis` count characters of the text, a byte order mark and every carriage return included.
"""

from __future__ import annotations

import ast
import codecs
import io
import re
import threading
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

BOM = "\ufeff"
_READING = threading.RLock()
# where Python's parser ends a line; unlike str.splitlines, it does not at a form feed or U+2028
LINE_END = re.compile(r"\r\n?|\n")


# Their time grows with the square of the text's length, and no program is written in them.
_SLOW = frozenset({"punycode", "idna"})


class UnreadableSource(ValueError):
    """Text that Python does not parse; the message says line and reason."""


def decoded(data: bytes) -> tuple[str, str]:
    """Decode a file by the encoding that it declares (PEP 263), else UTF-8. A byte order mark stays as the first character.

    Returns: the text and its encoding; text.encode(encoding) gives the same bytes again.
    Raises: UnreadableSource for an unknown encoding, or bytes that are not of it.
    """
    try:
        # "utf-8-sig" would drop the byte order mark
        encoding = "utf-8" if (named := encoding_of(data)) == "utf-8-sig" else named
        text = data.decode(encoding)
        same = text.encode(encoding) == data
    except (SyntaxError, UnicodeError, LookupError) as error:
        raise UnreadableSource(f"not text of the encoding that its first lines name: {error}") from None
    if not same:
        raise UnreadableSource(f"its encoding, {codecs.lookup(encoding).name}, would not write its bytes back as they are")
    return text, encoding


def encoding_of(data: bytes) -> str:
    """The encoding that a Python file declares. Raises SyntaxError for one that is unknown, and LookupError for one that is too slow."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    if codecs.lookup(encoding).name in _SLOW:
        raise LookupError(f"{encoding} is not read")
    return encoding


def text_of(data: bytes, *, python: bool) -> str:
    """The text of a file without its byte order mark: of Python as `decoded`, of another language UTF-8. Raises UnreadableSource."""
    if python:
        return decoded(data)[0].removeprefix(BOM)
    try:
        return data.decode().removeprefix(BOM)
    except UnicodeDecodeError as error:
        raise UnreadableSource(str(error)) from None


@contextmanager
def without_warnings() -> Iterator[None]:
    """Python says nothing of the source that it reads, such as of invalid escapes. One thread at a time: its filters are the process's."""
    with _READING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def tree_of(text: str) -> ast.Module:
    """Python's own tree of a text, without its warnings, such as of invalid escapes. Raises UnreadableSource."""
    try:
        with without_warnings():
            return ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise UnreadableSource(str(error)) from None


def tree_or_none(text: str) -> ast.Module | None:
    """The same; None for what Python does not parse."""
    try:
        return tree_of(text)
    except UnreadableSource:
        return None


def line_starts(source: str) -> list[int]:
    """The offset of the first character of each line (after a byte order mark), then the length of the text.

    Line n, numbered from 1, is source[starts[n - 1] : starts[n]], with its line end.
    """
    return [int(source.startswith(BOM)), *(match.end() for match in LINE_END.finditer(source)), len(source)]


def code_end(source: str, offset: int) -> int:
    """The end of the line of an offset, without trailing white space; a comment belongs to the line."""
    end = LINE_END.search(source, offset)
    return offset + len(source[offset : end.start() if end else len(source)].rstrip())


def lines_of(source: str) -> list[str]:
    """Split a text into lines with their line ends; joined they give the text again."""
    ends = [match.end() for match in LINE_END.finditer(source)]
    if not ends or ends[-1] < len(source):
        ends.append(len(source))
    return [source[start:end] for start, end in pairwise([0, *ends])] if source else []


def characters(text: str, shift: int = 0) -> range | list[int]:
    """The character offset, plus shift, of each byte offset of a text in UTF-8."""
    if text.isascii():
        return range(shift, len(text) + shift + 1)
    offsets: list[int] = []
    for i, character in enumerate(text):
        offsets += [i + shift] * len(character.encode(errors="surrogatepass"))
    return [*offsets, len(text) + shift]

"""A project's source files as texts: read and written as Python reads them."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path


class NotJudged(ValueError):
    """A request that the oracle can't judge; the message says which and why."""


def source_of(folder: Path, file: str) -> str:
    """The text of a project's file, as `as_source` has it. Raises NotJudged where it can't be read as Python source."""
    try:
        data = (folder / file).read_bytes()
        return as_source(data.decode(_encoding(data)))
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise NotJudged(f"{file}: can't be read as Python source: {error}") from None


def as_source(text: str) -> str:
    """A text with \\n for line ends, and without a byte order mark."""
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


def encoded(text: str) -> bytes:
    """Encode a text as it declares itself, as Python reads it. Raises SyntaxError and UnicodeEncodeError."""
    return text.encode(_encoding(text.encode()))


def unwritable(text: str) -> str:
    """Why a text can't be encoded, or nothing."""
    try:
        encoded(text)
    except (SyntaxError, UnicodeEncodeError) as error:
        return str(error)
    return ""


def _encoding(source: bytes) -> str:
    return tokenize.detect_encoding(io.BytesIO(source).readline)[0]

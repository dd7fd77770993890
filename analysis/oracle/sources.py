"""A project's source files as texts: read and written as Python reads them."""

from __future__ import annotations

from pathlib import Path

from ..python.source_text import UnreadableSource, decoded, encoding_of, without_warnings
from .copying import MAX_COPIED_BYTES


class NotJudged(ValueError):
    """A request that the oracle can't judge; the message says which and why."""


def source_of(folder: Path, file: str) -> str:
    """The text of a project's file, as `as_source` has it. Raises NotJudged where it can't be read as Python source.

    The file may have grown since the project was copied: its interpreter, which may be any program, can write to the copy once.
    """
    try:
        with (folder / file).open("rb") as opened:
            data = opened.read(MAX_COPIED_BYTES + 1)
        if len(data) > MAX_COPIED_BYTES:
            raise NotJudged(f"{file}: larger than {MAX_COPIED_BYTES >> 20} MiB")
        return as_source(decoded(data)[0])
    except (OSError, UnreadableSource) as error:
        raise NotJudged(f"{file}: can't be read as Python source: {error}") from None


def as_source(text: str) -> str:
    """A text with \\n for line ends, and without a byte order mark."""
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


def encoded(text: str) -> bytes:
    """Encode a text as it declares itself, as Python reads it. Raises SyntaxError, UnicodeEncodeError and LookupError."""
    return text.encode(encoding_of(text.encode()))


def unwritable(text: str) -> str:
    """Why a text can't be encoded, or nothing."""
    try:
        encoded(text)
    except (SyntaxError, UnicodeEncodeError, LookupError) as error:
        return str(error)
    return ""


def uncompilable(text: str) -> str:
    """Why the Python that runs Assay can't compile a text, or nothing."""
    try:
        with without_warnings():
            compile(text, "text", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return str(error)
    return ""

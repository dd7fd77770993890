"""A place in a document where a suggestion is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..calibration.samples import Event
from ..inference.completion.task import Kind
from .cursor import Cursor
from .positions import Range


@dataclass(frozen=True, slots=True)
class Place:
    """A cursor: the text around it that a model can be given, the range that a suggestion replaces, and what is asked for.

    file: absolute path, None for a text that is in no file.
    """

    prefix: str
    suffix: str
    range: Range
    kind: Kind = "line"
    language: str = "plaintext"
    event: Event = "exact_match"
    file: Path | None = None

    @property
    def cursor(self) -> Cursor:
        """What the steps that cut a suggestion see of it."""
        return Cursor(self.prefix, self.suffix, self.kind, self.language)

"""A change made of several edits."""

from __future__ import annotations

from collections.abc import Iterable

from ...morphisms.java.program.syntax import JavaSource, splice
from ...morphisms.text_edits import Edit, changed_span
from ..rule import Change


def changed(java: JavaSource, edits: Iterable[Edit], rank: int = 0) -> Change:
    """The one change that makes all edits, with blanks where words or operators would run into one another."""
    return Change(*changed_span(java.source, splice(java.source, list(edits))), rank)

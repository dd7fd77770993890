"""Swap two arguments of a call back, where both are shown to have the same type."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress

from ...bugs.java import swapped_arguments as bug
from ...morphisms.morphism import Refused
from ...morphisms.text_edits import changed_span
from ..rule import Change, touches

NAME = "swapped_arguments"
EXAMPLE = (bug.EXAMPLE[1], bug.EXAMPLE[0])


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Each two that the bug would swap. Raises UnreadableSource."""
    for site in bug.sites(source):
        if touches(site.start, site.end, lines):
            with suppress(Refused):
                yield Change(*changed_span(source, bug.apply(source, site, random.Random(0))))

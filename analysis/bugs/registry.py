"""The kinds of bug for Python, one line each. A new one is a module beside this, written like its neighbours, and a line here."""

from __future__ import annotations

import importlib

from ..morphisms.morphism import Morphism
from ..morphisms.text_edits import edited

KINDS = (
    "swapped_arguments",
    "wrong_name",
    "off_by_one",
    "wrong_operator",
    "missing_negation",
    "removed_guard",
)


def bug(kind: str) -> Morphism:
    """The morphism that makes such a bug. Raises ValueError that lists what there is."""
    if kind not in KINDS:
        raise ValueError(f"no bug {kind!r}; there are {', '.join(KINDS)}")
    from ..python.syntax.parsed import parse

    return Morphism(kind, False, importlib.import_module(f".{kind}", __package__), parse, edited)

"""The kinds of bug, one line each. A new one is a module in `python/` and in `java/`, written like its neighbours, and a line here."""

from __future__ import annotations

import importlib

from ..morphisms.morphism import Morphism
from ..morphisms.registry import LANGUAGES

KINDS = (
    "swapped_arguments",
    "wrong_name",
    "off_by_one",
    "wrong_operator",
    "missing_negation",
    "removed_guard",
)


def bug(kind: str, language: str) -> Morphism:
    """The morphism that makes such a bug. Raises ValueError that lists what there is; ImportError without the language's parser."""
    if language not in LANGUAGES:
        raise ValueError(f"no bugs for {language!r}; there are some for {', '.join(LANGUAGES)}")
    if kind not in KINDS:
        raise ValueError(f"no bug {kind!r}; there are {', '.join(KINDS)}")
    module: Morphism = importlib.import_module(f".{language}.{kind}", __package__)
    return module

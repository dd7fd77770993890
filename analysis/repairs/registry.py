"""The rules of each language, by name. Of two rules that propose the same, the first one is named."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from .rule import Change, Rule

LANGUAGES = ("python", "java")


def rules(language: str) -> Mapping[str, Rule]:
    """The rules of a language. Raises ValueError that lists what there is."""
    found: Mapping[str, Rule] = _of(language).RULES
    return found


def parses(language: str) -> Callable[[str, Change], bool]:
    """Says of a source that parses, and a change of it, whether the result parses. Raises as `rules`."""
    found: Callable[[str, Change], bool] = _of(language).parses
    return found


def _of(language: str) -> Any:
    if language not in LANGUAGES:
        raise ValueError(f"no repairs for {language!r}; there are some for {', '.join(LANGUAGES)}")
    return importlib.import_module(f".{language}", __package__)

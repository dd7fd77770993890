"""The rules, one line each. A new one is a module in `python/` and in `java/`, written like its neighbours, and a line here.

Of two rules that propose the same, the first one is named.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from .rule import Change, Rule

RULES = ("wrong_operator", "off_by_one", "missing_negation", "swapped_arguments", "wrong_name", "missing_guard")
LANGUAGES = ("python", "java")


def rules(language: str) -> dict[str, Rule]:
    """The rules of a language by name. Raises ValueError that lists what there is; ImportError without the language's parser."""
    _check(language)
    return {name: importlib.import_module(f".{language}.{name}", __package__) for name in RULES}


def parses(language: str) -> Callable[[str, Change], bool]:
    """Says of a source that parses, and a change of it, whether the result parses. Raises as `rules`."""
    _check(language)
    found: Callable[[str, Change], bool] = importlib.import_module(f".{language}.parsing", __package__).parses
    return found


def _check(language: str) -> None:
    if language not in LANGUAGES:
        raise ValueError(f"no repairs for {language!r}; there are some for {', '.join(LANGUAGES)}")

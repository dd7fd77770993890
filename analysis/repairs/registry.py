"""The rules, one line each. A new one is a module in `python/` or `java/`, written like its neighbours, and a line here.

Of two rules that propose the same, the first one is named.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from .rule import Change, Rule

_KINDS = ("wrong_operator", "off_by_one", "missing_negation", "swapped_arguments", "wrong_name", "missing_guard")
RULES = {
    "python": _KINDS,
    "java": _KINDS,
}


def rules(language: str) -> list[Rule]:
    """The rules of a language. Raises ValueError that lists what there is; ImportError without the language's parser."""
    modules: list[Rule] = [importlib.import_module(f".{language}.{name}", __package__) for name in _of(language)]
    return modules


def parses(language: str) -> Callable[[str, Change], bool]:
    """Says of a source that parses, and a change of it, whether the result parses. Raises as `rules`."""
    _of(language)
    found: Callable[[str, Change], bool] = importlib.import_module(f".{language}.parsing", __package__).parses
    return found


def _of(language: str) -> tuple[str, ...]:
    if language not in RULES:
        raise ValueError(f"no repairs for {language!r}; there are some for {', '.join(RULES)}")
    return RULES[language]

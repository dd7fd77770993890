"""The morphisms, one line each. A new one is a module in `python/` or `java/`, written like its neighbours, and a line here."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from ..text_edits import edited
from .morphism import Morphism

LANGUAGES = ("python", "java")


@dataclass(frozen=True, slots=True)
class Entry:
    """A morphism by the name of its modules. equivalent: whether it keeps what a program does. languages: those that have the module."""

    name: str
    equivalent: bool
    languages: tuple[str, ...] = LANGUAGES


MORPHISMS = (
    Entry("rename_variable", equivalent=True),
    Entry("boolean_exchange", equivalent=True),
    Entry("loop_exchange", equivalent=True),
    Entry("match_to_if", equivalent=True, languages=("python",)),
    Entry("switch_to_if", equivalent=True, languages=("java",)),
    Entry("unused_statement", equivalent=True),
    Entry("reorder_condition", equivalent=True),
    Entry("permute_statements", equivalent=True),
    Entry("modify_condition", equivalent=False),
    Entry("remove_else", equivalent=False),
)
# of bugs of Python: see analysis/bugs.py
KINDS = ("swapped_arguments", "wrong_name", "off_by_one", "wrong_operator", "missing_negation", "removed_guard")


def morphism(name: str, language: str) -> Morphism:
    """The morphism of that name for a language. Raises ValueError that lists what there is; ImportError without the language's parser."""
    if language not in LANGUAGES:
        raise ValueError(f"no morphisms for {language!r}; there are some for {', '.join(LANGUAGES)}")
    found = {entry.name: entry for entry in MORPHISMS if language in entry.languages}
    if name not in found:
        raise ValueError(f"no morphism {name!r} for {language}; there are {', '.join(found)}")
    rule = importlib.import_module(f".{language}.{name}", __package__)
    if language == "python":
        from ..python.syntax.parsed import parse as parse_python

        return Morphism(name, found[name].equivalent, rule, parse_python, edited)
    from .java.program.syntax import parse as parse_java
    from .java.program.syntax import splice

    return Morphism(name, found[name].equivalent, rule, parse_java, splice)


def morphisms(language: str, *, equivalent: bool) -> list[Morphism]:
    """The morphisms of a language that keep what a program does, or those that change it. Raises as `morphism`."""
    return [morphism(entry.name, language) for entry in MORPHISMS if entry.equivalent is equivalent and language in entry.languages]

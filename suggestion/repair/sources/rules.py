"""Each kind of bug run backwards: all single edits that analysis.repairs makes there."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from ..candidate import Candidate, around, change_of
from ..request import Request

# At a line, and for each further one.
_MOST, _MOST_MORE = 60, 20
# What is to be installed for a module.
_PACKAGES = {"libcst": "libcst>=1.8", "tree_sitter": "tree-sitter>=0.25", "tree_sitter_java": "tree-sitter-java>=0.23"}


def why_not(request: Request) -> str:
    """Why there are no rules; empty where there are."""
    from ....analysis.repairs.candidates import rules

    try:
        rules(request.language)
    except ValueError as unknown:
        return str(unknown)
    except ImportError as missing:
        package = _PACKAGES.get(missing.name or "", missing.name)
        return f"the rules need {missing.name}, which is not installed: {sys.executable} -m pip install '{package}'"
    return ""


def candidates(request: Request) -> Iterator[Candidate]:
    """What the rules make of the lines; nothing of a file that does not parse."""
    from ....analysis.python.source_text import UnreadableSource
    from ....analysis.repairs.candidates import candidates as made_by_rules

    source = "\n".join(request.lines)
    before, after = around(request.lines, request.first, request.end)
    span = (len(before), len(source) - len(after))
    most = _MOST + _MOST_MORE * (request.end - request.first - 1)
    try:
        found = made_by_rules(source, request.language, span, most=most)
    except UnreadableSource:
        return
    for each in found:
        first, last = source.count("\n", 0, each.start), source.count("\n", 0, each.end)
        start, end = source.rfind("\n", 0, each.start) + 1, source.find("\n", each.end)
        text = source[start : each.start] + each.text + source[each.end : end if end >= 0 else len(source)]
        yield Candidate(change_of(request.lines, first, last + 1, text.split("\n")), "rules", rule=each.rule)

"""What people are told of the copy of a project that its tests see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

# Paths that are told by name.
NAMED = 5
# Reasons of `copy_project` for what every project has and no test misses.
_USUAL = frozenset({"made by a tool", "a virtual environment"})
_LINK_OUT = "a link out of the project"


def left_out_notes(left_out: Mapping[str, str]) -> Iterator[str]:
    """Lines on what a copy lacks, by path with the reason, that tests may miss."""
    missed = [(path, reason) for path, reason in left_out.items() if reason not in _USUAL]
    for path, reason in missed[:NAMED]:
        yield f"not in the copy that the tests see: {path} ({reason})"
    if len(missed) > NAMED:
        yield f"nor are {len(missed) - NAMED:,} more"


def advice_on_links(left_out: Mapping[str, str]) -> str:
    """What there is to do about links out of the project; empty where there is none."""
    links = [path for path, reason in left_out.items() if reason == _LINK_OUT]
    if not links:
        return ""
    named = ", ".join(links[:NAMED]) + (" and others" if len(links) > NAMED else "")
    return f". Links out of the project are not followed ({named}): where the tests need one, put what it leads to in its place"

"""Bugs of a project's history: a line that a commit changed becomes what it was before, in today's code, whose tests judge.

A commit counts that changes one line of one file which is no test, tests and all else aside; and whose new line still stands, once, in a
file of that name and folder. Whether the old line is a bug, the tests decide.
"""

from __future__ import annotations

import ast
import hashlib
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from ...analysis.corpora.git_history import hunks, single_edits
from ...analysis.oracle.oracle import NotJudged, Oracle
from ...analysis.python.lines import Line, UnreadableSource
from ...analysis.python.regions import Region
from ...analysis.python.source_text import code_end, without_warnings
from ...analysis.python.statements import Module, parse_statements
from . import regions
from .projects import is_test


def undone(oracle: Oracle, history: Path, seed: int) -> Iterator[tuple[regions.Place, str, str]]:
    """Places of a project in a random order, each with the commit and the line as it was before. Raises GitError.

    history: a repository of the project.
    """
    files: dict[str, list[str]] = {}
    for file in oracle.files():
        files.setdefault(_short(file), []).append(file)
    found: dict[tuple[str, int], tuple[regions.Place, str, str]] = {}
    for commit, path, old, new in changed_lines(history):
        for file in files.get(_short(path), ()):
            with suppress(UnreadableSource, NotJudged):
                place = _place(oracle, file, old, new)
                if place is not None:
                    found.setdefault((file, place.region.first_line), (place, f"commit {commit[:12]}", old))
    places = list(found.values())
    yield from random.Random(f"{seed}:commits").sample(places, len(places))


def changed_lines(history: Path) -> Iterator[tuple[str, str, str, str]]:
    """Commit, path, old and new line of each commit that changes one line of code of one file, the newest first. Raises GitError."""
    for edit in single_edits(history, counts=lambda path: not is_test(path)):
        found = hunks(edit)
        if len(found) == 1:
            old, new = found[0].old.splitlines(), found[0].new.splitlines()
            if len(old) == len(new) == 1 and _indent(old[0]) == _indent(new[0]) and old[0].split() != new[0].split() and old[0].strip():
                yield edit.commit, edit.path, old[0].rstrip(), new[0].rstrip()


def _short(path: str) -> str:
    return "/".join(PurePosixPath(path).parts[-2:])


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _place(oracle: Oracle, file: str, old: str, new: str) -> regions.Place | None:
    """The place of a line that stands once in a function of a file, that tests run, and that means something else than the old one."""
    source = oracle.source(file)
    numbers = [number for number, line in enumerate(source.split("\n"), 1) if line.rstrip() == new]
    if len(numbers) != 1:
        return None
    number, module, covered = numbers[0], parse_statements(source), oracle.covered(file)
    function = _function(module, number)
    if not function or number in module.continued or number not in covered or number in oracle.coverage().imported.get(file, frozenset()):
        return None
    start = module.starts[number - 1]
    end = code_end(source, start)
    if not _differs(source, source[:start] + old + source[end:]):
        return None
    region = Region(function, start + len(_indent(new)), end, number, number, "line")
    before = hashlib.sha256(old.encode(errors="replace")).hexdigest()[:8]
    return regions.Place(f"{file}:{number}@{before}", file, region, Line(function, start, end), len(covered[number]))


def _function(module: Module, number: int) -> str:
    """The innermost function with a line; empty where there is none."""
    return next((each.name for each in reversed(module.functions) if each.first_line <= number <= each.last_line), "")


def _differs(one: str, other: str) -> bool:
    """Whether two texts are different programs."""
    with without_warnings(), suppress(SyntaxError, ValueError, RecursionError):
        return ast.dump(ast.parse(one)) != ast.dump(ast.parse(other))
    return False

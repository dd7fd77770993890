"""The items of a study about places of suites: found, limited, and frozen in its question."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import platformdirs

from ...analysis.oracle.interpreter import existing
from ...analysis.sandbox.isolation.best_level import best_level
from ...inference.completion.task import Task
from ..pool.choice import Pool
from ..progress import to_stderr
from ..run import RUN, Run, check_writable
from .projects import Project
from .suites import Items, prepared, watched


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which places. out: folder of the run. most: at most so many of a project; limit: of all. python: makes the tests' environments."""

    out: Path
    projects: Sequence[Project]
    archives: Path
    tasks: Sequence[Task]
    most: int
    limit: int | None = None
    seed: int = 0
    python: Path | None = None
    bugs: bool = False


def check_suites(python: Path | None) -> None:
    """Check what the tests' environments are made with, which would otherwise fail late. Raises UsageError and UnusableInterpreter."""
    check_writable(platformdirs.user_cache_path("assay"), "the tests' environments are kept there: XDG_CACHE_HOME names another place")
    if python is not None:
        existing(python.absolute())


def items_of_suites(wanted: Wanted, pool: Pool) -> Items:
    """The places whose loss the projects' tests notice: that takes a run of them, and no model. Raises StudyError and NoIsolation."""
    projects = _not_left_out(wanted.out, wanted.projects)
    ready = prepared(projects, wanted.archives, platformdirs.user_cache_path("assay"), best_level(), wanted.python)
    found = watched(ready, pool, wanted.most, wanted.tasks, wanted.seed, bugs=wanted.bugs)
    return limited(found, wanted.limit, wanted.seed)


def limited(items: Items, limit: int | None, seed: int) -> Items:
    """At most so many of the places, drawn by the seed."""
    if limit is None or limit >= len(items.places):
        return items
    drawn = random.Random(f"{seed}:limit").sample(range(len(items.places)), limit)
    return replace(items, places=[items.places[index] for index in sorted(drawn)])


def lines_of(items: Items) -> list[bytes]:
    """The lines of items.jsonl."""
    return [json.dumps(place.record).encode() + b"\n" for place in items.places]


def question_of_items(items: Items, lines: Sequence[bytes]) -> dict[str, str | int | Sequence[str]]:
    """What of a run's question only the items tell. lines: of items.jsonl."""
    question: dict[str, str | int | Sequence[str]] = {"items": hashlib.sha256(b"".join(lines)).hexdigest()}
    if items.contents:
        question["isolation"] = ", ".join(sorted({str(suite.isolation) for suite in items.suites.values()}))
        question["suites"] = sorted(items.suites)
        question["content"] = hashlib.sha256(json.dumps(dict(sorted(items.contents.items()))).encode()).hexdigest()
    return question


def _not_left_out(out: Path, projects: Sequence[Project]) -> Sequence[Project]:
    """The projects that a run began with: one that was left out then stays out, so that the run can go on."""
    if not (out / RUN).is_file():
        return projects
    begun = Run.opened(out).question().get("suites", [])
    if left_out := [project.name for project in projects if project.name not in begun]:
        to_stderr(f"left out when the run began: {', '.join(left_out)}")
    return [project for project in projects if project.name in begun]

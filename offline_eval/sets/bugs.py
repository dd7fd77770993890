"""Injected bugs: lines of a project's own code into which a bug was put, to be repaired. The project's tests decide, elsewhere."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Literal

from ...analysis.bugs.injection import inject
from ...analysis.morphisms.morphism import Outcomes, Refused
from .problem import Problem


def injected(
    project: str, file: str, source: str, language: Literal["python", "java"], seed: int, wanted: int, outcomes: Outcomes | None = None
) -> Iterator[Problem]:
    """Up to so many problems of one file, each with a bug that changes one line, no line twice. The same arguments give the same.

    outcomes: runs the project's tests on a source; with it only a bug that a test notices is given.
    """
    lines, used = source.splitlines(keepends=True), set[int]()
    rng = random.Random(f"{seed}:{project}:{file}")
    for _ in range(4 * wanted):
        if len(used) == wanted:
            return
        try:
            wrong = inject(source, language, f"{seed}:{rng.random()}", outcomes=outcomes).of(source).splitlines(keepends=True)
        except Refused:
            return
        changed = [at for at, (before, after) in enumerate(zip(lines, wrong, strict=False)) if before != after]
        if len(wrong) != len(lines) or len(changed) != 1 or changed[0] in used:
            continue
        at = changed[0]
        used.add(at)
        prompt, suffix = "".join(lines[:at]), "".join(lines[at + 1 :])
        truth, bug = lines[at].rstrip("\r\n"), wrong[at].rstrip("\r\n")
        yield Problem(f"bugs/{project}/{file}:{at + 1}", "bugs", "repair", language, project, prompt, suffix, truth, bug)

"""What a worker does at a place of a repository: the model fills each gap as in the editor, and the project's tests judge the result.

A place whose deletion changes no test's result says nothing about code: nothing is asked there (the filter of round-trip correctness).
Events: exact_match (accepting gives the file back) and tests_pass (each covering test ends as it does without the change; unknown where the
tests can't say). Both are of the file as it is once the suggestion is accepted.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...analysis.oracle.oracle import Oracle
from ...analysis.oracle.report import Verdict
from ...analysis.python.lines import Gap
from ...analysis.python.regions import deleted
from ...analysis.sandbox.isolation.jail import Jail
from ...analysis.sandbox.isolation.levels import Isolation
from ...inference.completion.task import Task
from ...inference.model import Model
from ...suggestion.memory.folder import files_in
from ..answers import AnsweredItem, Generated
from ..asked_line import StudyMemory
from ..model import Changed, StudyModel
from ..sets.lines import FileWithGap
from ..sets.regions import Place, gaps_of
from ..sets.suites import verdict_of


class PlaceGeneration(Generated):
    """A generation with what the tests said. way: how they were run; tests_run, tests_s: how many, for how long; why: for people."""

    why: str
    way: str
    tests_run: int
    tests_s: float
    timings: dict[str, float]


class PlaceAnswer(AnsweredItem):
    """What is known of a place. statement: the kind of its first one. deletion: whether tests see that the region is gone.

    lines, characters: of the region. tests: how many touch it. why: what they said of the deletion.
    """

    statement: str
    lines: int
    characters: int
    tests: int
    deletion: str
    deletion_s: float
    deletion_way: str
    why: str
    generations: list[PlaceGeneration]


@dataclass(frozen=True, slots=True)
class Answerer:
    """Makes the worker's function; travels to the worker.

    project: the folder that is copied; name: the project's; cache: where the oracle keeps its baseline; content: `Oracle.content` of the
    code that the places are of.
    """

    model: StudyModel
    project: Path
    name: str
    interpreter: Path
    isolation: Isolation
    cache: Path
    tasks: tuple[Task, ...]
    seed: int
    content: str

    def __call__(self) -> Answering:
        """The function, with the model and the oracle open. Raises Changed, and what `ModelChoice.open` and `Oracle` raise."""
        with ExitStack() as stack:
            model = stack.enter_context(self.model.open_in_worker())
            oracle = stack.enter_context(Oracle(self.project, self.interpreter, Jail(self.isolation), cache=self.cache))
            if oracle.content != self.content:
                raise Changed(
                    f"{self.project} is not what it was when the run began; what is finished is kept, and the same command begins anew "
                    "with the present code"
                )
            memory = StudyMemory(model, self.model.memory, lambda _: files_in(self.project))
            return Answering(self, model, oracle, memory, stack.pop_all())


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers places; holds a model and an oracle."""

    asked: Answerer
    model: Model
    oracle: Oracle
    memory: StudyMemory
    held: ExitStack

    def __call__(self, place: Place) -> dict[str, Any]:
        """The answer of one place. Raises Unjudged where the machine failed."""
        source, region = self.oracle.source(place.file), place.region
        begun = time.perf_counter()
        without = self._verdict(place, deleted(source, region))
        answer: dict[str, Any] = {
            "id": place.id,
            "project": self.asked.name,
            "file": place.file,
            "function": region.function,
            "statement": region.statement,
            "line": region.first_line,
            "lines": region.last_line + 1 - region.first_line,
            "characters": region.end - region.start,
            "tests": place.tests,
            # a test that says the same without the code does not test it
            "deletion": {None: "unknown", True: "unseen", False: "seen"}[without.label],
            "deletion_s": time.perf_counter() - begun,
            "deletion_way": without.way,
            "why": without.reason,
            "generations": [],
        }
        if without.label is False:
            gaps = gaps_of(source, place, self.asked.tasks, self.asked.seed)
            answer["generations"] = [self._generation(place, source, task, gap) for task, gap in gaps.items()]
        return answer

    def close(self) -> None:
        """Put the model and the oracle away."""
        self.held.close()

    def _generation(self, place: Place, source: str, task: Task, gap: Gap) -> dict[str, Any]:
        cursor = FileWithGap(source, gap, task, self.asked.model.settings)
        memory = self.memory.at(cursor, self.asked.name, place.file)
        begun = time.perf_counter()
        (made,) = cursor.suggestions(self.model, memory=memory)
        total_ms = (time.perf_counter() - begun) * 1e3
        exact = cursor.is_exact(made.inserted)
        timings = {**asdict(made.generation.timings), "total_ms": total_ms}
        record = {"id": f"{place.id}:{task}", "task": task, "truth": cursor.truth, **made.record, "timings": timings}
        if exact or made.inserted is None:
            why = "it is what is there" if exact else "nothing to insert"
            label, tested = (True if exact else None), {"why": why, "way": "none", "tests_run": 0, "tests_s": 0.0}
        else:
            begun = time.perf_counter()
            found = self._verdict(place, cursor.accepted(made.inserted))
            tests_s = time.perf_counter() - begun
            label, tested = found.label, {"why": found.reason, "way": found.way, "tests_run": found.tests, "tests_s": tests_s}
        return {**record, "labels": {"exact_match": exact, "tests_pass": label}, **tested}

    def _verdict(self, place: Place, text: str) -> Verdict:
        """What the tests that touch the place's region say of the file with this text."""
        return verdict_of(self.oracle, place.file, text, range(place.region.first_line, place.region.last_line + 1))

"""The workers of the study of programs: one that proposes, and two that run programs in the sandbox."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ....analysis.sandbox.isolation.jail import Jail
from ....analysis.sandbox.isolation.levels import Isolation
from ....analysis.sandbox.isolation.limits import Limits
from ....analysis.sandbox.judging.python import PythonSandbox
from ....analysis.sandbox.judging.result import ProgramOutcome
from ....inference.model import Model
from ....inference.opening import ModelChoice
from ....inference.project_memory.memory import Memory
from ....suggestion.memory.memories import Memories
from ....suggestion.repair.asking import Asking
from ....suggestion.repair.request import request_for
from ...calibration.problems import Label
from ...model import StudyModel, begin_anew
from ...servers import OnServers
from ...sets.problem import Problem
from ...sets.suites import Unjudged
from ...study import Step
from ..candidates import Proposed, proposed
from ..loop import looped, mutants

# Each of the right programs takes a small part of this, and many of the wrong ones come to no end.
LIMITS = Limits(cpu_s=2)
PROPOSED = Step("proposed", "program", Proposed)
LABELS = Step("labels", "text", Label)


def wrong_text(problem: Problem) -> str:
    """The program with its bug."""
    return f"{problem.prompt}{problem.wrong}\n{problem.suffix}"


def right_text(problem: Problem) -> str:
    """The program as it should be."""
    return f"{problem.prompt}{problem.truth}\n{problem.suffix}"


@dataclass(frozen=True, slots=True)
class Proposing:
    """Makes the worker's function that proposes; travels to the worker."""

    model: StudyModel

    def __call__(self) -> Callable[[Problem], dict[str, Any]]:
        """The function, with the model open. Raises Changed, and what `ModelChoice.open` raises."""
        return OnServers(self.model.choice, self.at)()

    def at(self, choice: ModelChoice) -> Proposer:
        """The function, with the model of a choice. Raises as above."""
        model = replace(self.model, choice=choice).open_in_worker()
        return Proposer(self.model, model, Memories(model))


@dataclass(frozen=True, slots=True)
class Proposer:
    """Proposes repairs of programs; holds a model."""

    study: StudyModel
    model: Model
    memories: Memories

    def __call__(self, problem: Problem) -> dict[str, Any]:
        """The record of a program. Raises ModelError."""
        begin_anew(self.model)
        self.memories.forget()

        def remember(before: str, after: str) -> Memory | None:
            return self.memories.at(before, after, scope=self.study.memory)

        wrong, line = wrong_text(problem), problem.prompt.count("\n")
        request = request_for(Asking(self.model, self.study.settings, remember=remember), wrong, line, line + 1, language=problem.language)
        return {"id": problem.id, **proposed(request, wrong, right_text(problem), problem.id)}

    def close(self) -> None:
        """Put the model away."""
        self.model.close()


@dataclass(frozen=True, slots=True)
class Text:
    """A program with a repair in it."""

    id: str
    problem: Problem
    text: str


@dataclass(frozen=True, slots=True)
class Judging:
    """Makes the worker's function that judges programs."""

    isolation: Isolation

    def __call__(self) -> Callable[[Text], dict[str, Any]]:
        """The function, with its sandbox."""
        return Judge(PythonSandbox(Jail(self.isolation)))


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges programs; holds a sandbox."""

    sandbox: PythonSandbox

    def __call__(self, judged: Text) -> dict[str, Any]:
        """The label of a program. Raises Unjudged where the machine failed."""
        begun = time.perf_counter()
        passes, why = _passes(self.sandbox, judged.problem, judged.text)
        label: Label = {"id": judged.id, "tests_pass": passes, "why": why}
        return {**label, "timings": {"tests_ms": (time.perf_counter() - begun) * 1e3}}

    def close(self) -> None:
        """Put the sandbox away."""
        self.sandbox.close()


@dataclass(frozen=True, slots=True)
class Looping:
    """Makes the worker's function that tests mutants."""

    isolation: Isolation

    def __call__(self) -> Callable[[Problem], dict[str, Any]]:
        """The function, with its sandbox."""
        return Looper(PythonSandbox(Jail(self.isolation)))


@dataclass(frozen=True, slots=True)
class Looper:
    """Tests mutants of programs; holds a sandbox. A program's tests count as one."""

    sandbox: PythonSandbox

    def __call__(self, problem: Problem) -> dict[str, Any]:
        """The record of a program. Raises Unjudged where the machine failed."""
        texts = mutants(wrong_text(problem), problem.prompt.count("\n") + 1)
        record = looped(texts, right_text(problem), lambda text: (_passes(self.sandbox, problem, text)[0], 1))
        return {"id": problem.id, **record}

    def close(self) -> None:
        """Put the sandbox away."""
        self.sandbox.close()


def _passes(sandbox: PythonSandbox, problem: Problem, text: str) -> tuple[bool | None, str]:
    """What the tests say of a program, and why. Raises Unjudged where the machine failed."""
    said = sandbox.check(text, problem.test, problem.entry_point, limits=LIMITS)
    if said.outcome is ProgramOutcome.INFRASTRUCTURE:
        raise Unjudged(said.reason)
    return said.label, "" if said.label else f"{said.outcome}: {said.reason}" if said.reason else str(said.outcome)

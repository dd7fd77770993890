"""What is done at each program: repairs are proposed, and programs run in the sandbox."""

from __future__ import annotations

from typing import Any

from ....analysis.python.lines import Gap
from ....analysis.sandbox.isolation.limits import Limits
from ....analysis.sandbox.judging.python import PythonSandbox
from ....analysis.sandbox.judging.result import ProgramOutcome
from ....inference.project_memory.memory import Memory
from ....suggestion.repair.asking import Asking
from ....suggestion.repair.request import request_for
from ...asked_line import OpenModel
from ...sets.judging import Label, Text
from ...sets.problem import Problem
from ...sets.suites import Unjudged
from ...study import Step
from ...suggested import FileWithGap
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


def propose(asked: OpenModel[None], problem: Problem) -> dict[str, Any]:
    """The record of a program. Raises ModelError."""

    def remember(before: str, after: str) -> Memory | None:
        return asked.memory.at(FileWithGap(before + after, Gap(len(before), len(before)), "line", asked.settings))

    wrong, line = wrong_text(problem), problem.prompt.count("\n")
    request = request_for(Asking(asked.model, asked.settings, remember=remember), wrong, line, line + 1, language=problem.language)
    return dict(proposed(request, wrong, right_text(problem), problem.id))


def label(sandbox: PythonSandbox, judged: Text) -> dict[str, Any]:
    """The label of a program. Raises Unjudged where the machine failed."""
    passes, why = _passes(sandbox, judged.problem, judged.text)
    return {"id": judged.id, "tests_pass": passes, "why": why}


def loop(sandbox: PythonSandbox, problem: Problem) -> dict[str, Any]:
    """The record of a bug: its mutants, of whom a program's tests count as one. Raises Unjudged where the machine failed."""
    texts = mutants(wrong_text(problem), problem.prompt.count("\n") + 1)
    return {"id": problem.id, **looped(texts, right_text(problem), lambda text: (_passes(sandbox, problem, text)[0], 1))}


def _passes(sandbox: PythonSandbox, problem: Problem, text: str) -> tuple[bool | None, str]:
    """What the tests say of a program, and why. Raises Unjudged where the machine failed."""
    said = sandbox.check(text, problem.test, problem.entry_point, limits=LIMITS)
    if said.outcome is ProgramOutcome.INFRASTRUCTURE:
        raise Unjudged(said.reason)
    return said.label, "" if said.label else f"{said.outcome}: {said.reason}" if said.reason else str(said.outcome)

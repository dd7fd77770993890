"""What the user wants of the study on problems, and of whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ....inference.asking.asker import Form
from ....inference.opening import ModelChoice
from ...errors import UsageError
from ...pool.choice import Pool
from ...sets.problem import Problem
from ...sets.problems import problems

Reasoning = Literal["with", "without"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants.

    set: humaneval, mbpp, odex or cruxeval, or the file of a set of counterfeits. data: the benchmark's file; None where only the texts of a
    set are asked about. recorded: files of answers, instead of a model. limit: the first so many problems. draws, temperature: of drawing.
    votes: answers to each question. repairs: of each counterfeit. reasoning: judge in this way alone. form: as of
    `open_asker`. steps: these alone.
    """

    out: Path
    set: str | Path
    data: Path | None
    choice: ModelChoice = field(default_factory=ModelChoice)
    recorded: tuple[Path, ...] = ()
    limit: int | None = None
    draws: int = 50
    temperature: float = 0.6
    votes: int = 10
    repairs: int = 10
    reasoning: Reasoning | None = None
    form: Form | None = None
    seed: int = 0
    pool: Pool = field(default_factory=Pool)
    steps: tuple[str, ...] = ()
    as_json: bool = False

    def wants(self, step: str) -> bool:
        """Whether a step is to be done."""
        return not self.steps or step in self.steps

    def problems(self, benchmark: str) -> list[Problem]:
        """The problems of the benchmark's file, each with tests that can be counted. Raises SetError and UsageError."""
        if self.data is None:
            raise UsageError(f"the tests of {benchmark} are needed: name its file with --data")
        found = problems(benchmark, self.data, self.limit if isinstance(self.set, str) else None)
        for problem in found:
            try:
                _ = problem.counting_test
            except ValueError as error:
                raise UsageError(f"{self.data}: {error}; name HumanEvalPlus.jsonl.gz or MbppPlus.jsonl.gz as --data") from None
        return found

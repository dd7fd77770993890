"""Programs that a model drew for problems, from recorded answers: right ones are pairs that no rewrite makes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ....analysis.corpora.benchmarks import Language
from ....analysis.corpora.comments import without_comments
from ....analysis.python.source_text import UnreadableSource
from ...recorded.answers import Recorded
from ...sets.problem import Problem
from ...sets.programs import Program

# About as long as the paper's solutions may be, which have less than 500 tokens.
MAX_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class DrawnPrograms:
    """What was drawn for one problem: whole programs, each with whether it is right, where that is published."""

    id: str
    set: str
    language: Language
    problem: str
    test: str
    entry_point: str | None
    programs: tuple[tuple[str, bool | None], ...]


def drawn_programs(recorded: Sequence[Recorded], programs: Sequence[Program]) -> list[DrawnPrograms]:
    """The draws for the problems of some programs, those of HumanEval in Python."""
    found = []
    for program in programs:
        if program.language != "python" or not program.prompt or program.entry_point is None:
            continue
        frame = _frame(program)
        drawn = [
            (frame.program(answer.text), answer.labels.get("tests_pass"))
            for each in recorded
            for (item, step, _), answer in each.answers.items()
            if item == program.problem and step == "draw"
        ]
        if drawn:
            name = f"{program.id}@draws"
            found.append(
                DrawnPrograms(name, program.set, program.language, program.problem, program.test, program.entry_point, tuple(drawn))
            )
    return found


def distinct_programs(item: DrawnPrograms, seed: int) -> Iterator[tuple[str, bool | None]]:
    """The distinct programs without comments, in an order that the seed draws; none that is long or can't be parsed."""
    seen: set[str] = set()
    for text, label in random.Random(f"{seed}:{item.id}").sample(item.programs, len(item.programs)):
        try:
            source = without_comments(text, item.language)
        except (UnreadableSource, RecursionError):
            continue
        if source not in seen and len(source) <= MAX_CHARACTERS:
            seen.add(source)
            yield source, label


def _frame(program: Program) -> Problem:
    return Problem(
        *(program.problem, program.set, "function", "python", program.problem, program.prompt, "", "", "", program.test),
        entry_point=program.entry_point,
    )

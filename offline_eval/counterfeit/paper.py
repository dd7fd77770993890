"""The numbers of Gu et al. (2024), from gu2024.toml, as cells print them beside ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...calibration.report.cells import PaperValue
from ..study_page import Paper, paper_of

Printed = tuple[PaperValue, ...]


def paper() -> Paper:
    """The paper."""
    return paper_of(__package__, "gu2024")


def generator_of(name: str) -> str:
    """What the paper calls a generator; the name itself where it has no other."""
    return str(paper()["names"].get(name, name))


def of_generators(table: str, benchmark: str, place: int, *, percent: bool = True) -> Printed:
    """A number of a table that has one row for each generator of a benchmark."""
    found = []
    for of, numbers in paper()[table].items():
        on, _, generator = of.partition("/")
        if on == benchmark:
            found.append(PaperValue(numbers[place] / 100 if percent else float(numbers[place]), generator, f"{table}/{of}"))
    return tuple(found)


def judged(benchmark: str, generator: str) -> dict[str, Printed]:
    """Fig. 13: sensitivity, specificity, balanced accuracy and J of each judge of a set; of a set that is not the paper's, those of each
    model on its own programs.
    """
    pairs = []
    for of, judge, row in _rows("Fig13", benchmark, generator, lambda table: table["judges"]):
        incorrect, correct = (number / paper()["Fig13"][of]["n"] for number in row)
        pairs.append((judge, f"Fig. 13/{of}/{judge}", correct, incorrect))
    kinds: dict[str, Callable[[float, float], float]] = {
        "sensitivity": lambda correct, _: correct,
        "specificity": lambda _, incorrect: incorrect,
        "balanced_accuracy": lambda correct, incorrect: (correct + incorrect) / 2,
        "youden": lambda correct, incorrect: correct + incorrect - 1,
    }
    return {
        kind: tuple(PaperValue(made(*rates), judge, where, paper().marks_of(where)) for judge, where, *rates in pairs)
        for kind, made in kinds.items()
    }


def executed(benchmark: str, generator: str, place: int) -> Printed:
    """One of the four shares of Fig. 4, by model; as in `judged`."""
    rows = _rows("Fig4", benchmark, generator, lambda table: table)
    return tuple(PaperValue(numbers[place] / 100, model, f"Fig. 4/{of}/{model}") for of, model, numbers in rows)


def repaired(benchmark: str, generator: str) -> Printed:
    """Fig. 21: the mean share of right repairs, by repairer."""
    rows = _rows("Fig21", benchmark, generator, lambda table: table)
    return tuple(PaperValue(number / 100, model, f"Fig. 21/{of}/{model}") for of, model, number in rows)


def wins(benchmark: str) -> Printed:
    """Fig. 5: the share of problems at which repair wins, by generator, which repairs itself."""
    found = [(of, *numbers) for of, numbers in paper()["Fig5"].items() if of.startswith(f"{benchmark}/")]
    return tuple(PaperValue(won / problems, of.partition("/")[2], f"Fig. 5/{of}") for of, won, problems in found)


def median_correlation(task: str) -> Printed:
    """Fig. 7: the middle of the bin that has the median r over sets and evaluators."""
    counts, edges = paper()["Fig7"][task], paper()["Fig7"]["edges"]
    half, seen = sum(counts) / 2, 0
    for place, count in enumerate(counts):
        seen += count
        if seen >= half:
            return (PaperValue((edges[place] + edges[place + 1]) / 2, f"median of {sum(counts)} pairs", f"Fig. 7/{task}"),)
    raise AssertionError("half of the pairs are in the bins")


def called_correct(place: int) -> Printed:
    """Fig. 25: the share of CL-7B's counterfeits that are called Correct, of those below (0) or above (1) half of the tests."""
    found = paper()["Fig25"]
    return tuple(PaperValue(numbers[place] / found["n"][place], judge, f"Fig. 25/{judge}") for judge, numbers in found["judges"].items())


def log_odds_of_being_called_correct() -> Printed:
    """Fig. 25: the log odds ratio of being called Correct, above against below half of the tests."""
    found = paper()["Fig25"]
    made = []
    for judge, numbers in found["judges"].items():
        odds = [k / (n - k) for k, n in zip(numbers, found["n"], strict=True)]
        made.append(PaperValue(math.log(odds[1] / odds[0]), judge, f"Fig. 25/{judge}"))
    return tuple(made)


def _rows(table: str, benchmark: str, generator: str, inside: Callable[[Any], Mapping[str, Any]]) -> list[tuple[str, str, Any]]:
    """(set, model, numbers) of the set, or of each model on its own set."""
    sets: Mapping[str, Any] = paper()[table]
    of = f"{benchmark}/{generator_of(generator)}"
    if of in sets:
        return [(of, model, numbers) for model, numbers in inside(sets[of]).items()]
    own: Sequence[str] = [name for name in sets if name.startswith(f"{benchmark}/") and name.partition("/")[2] in inside(sets[name])]
    return [(name, name.partition("/")[2], inside(sets[name])[name.partition("/")[2]]) for name in own]

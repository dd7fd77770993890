"""A paper's numbers, as data: a TOML file beside the study of the paper, from which cells print them beside ours.

title, source    of the paper
models           whose numbers they are; of a table of one model, that is its `of`
T2, Fig4, …      a table or figure. What is in its `cells` has a place, such as T5/GPT-3.5/p_tot/DyPyBench/skill; unit = "percent" makes
                 shares of them, and scores = [...] names the numbers of a list, of which the last may be missing
marks, mark      what is known against numbers, by patterns of their places: kind and note
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

from ..calibration.report.cells import Mark, PaperValue


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper. numbers: the file. cells: by place, shares as shares. marks: each with the patterns of the places that it is about."""

    title: str
    source: str
    models: tuple[str, ...]
    numbers: Mapping[str, Any]
    cells: Mapping[str, PaperValue]
    marks: Sequence[tuple[Sequence[str], Mark]]

    def __getitem__(self, table: str) -> Any:
        """A table or figure. Raises KeyError."""
        return self.numbers[table]

    def values(self, places: str) -> tuple[PaperValue, ...]:
        """The cells of all models that have one. places: that of a cell, with * in the place of its model."""
        found = (places.replace("*", model) for model in self.models)
        return tuple(self.cells[place] for place in found if place in self.cells)

    def marks_of(self, where: str) -> tuple[Mark, ...]:
        """What is known against a number by its place."""
        return _marks_of(self.marks, where)


@cache
def paper_of(package: str, name: str) -> Paper:
    """The paper of a package with this name, read once."""
    found = tomllib.loads(files(package).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    marks: list[tuple[Sequence[str], Mark]] = [((places,), Mark(*each)) for places, each in found.get("marks", {}).items()]
    marks += [(each["of"], Mark(each["kind"], each["note"])) for each in found.get("mark", ())]
    models, cells = tuple(found.get("models", ())), {}
    for table, content in found.items():
        if isinstance(content, dict) and "cells" in content:
            scale, other = 100 if content.get("unit") == "percent" else 1, content.get("of", "the paper")
            for place, value in _leaves(table, content["cells"], content.get("scores", ())):
                cells[place] = PaperValue(value / scale, _model_in(place, models) or other, place, _marks_of(marks, place))
    return Paper(found["title"], found["source"], models, found, cells, marks)


def _model_in(place: str, models: Sequence[str]) -> str:
    return next((part for part in place.split("/") if part in models), "")


def _marks_of(marks: Sequence[tuple[Sequence[str], Mark]], where: str) -> tuple[Mark, ...]:
    return tuple(mark for patterns, mark in marks if any(fnmatchcase(where, pattern) for pattern in patterns))


def _leaves(place: str, tree: Any, scores: Sequence[str]) -> Iterator[tuple[str, float]]:
    """(place, number) below a place. A list has a number for each score."""
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield from _leaves(f"{place}/{name}", below, scores)
    elif isinstance(tree, list):
        yield from ((f"{place}/{score}", float(value)) for score, value in zip(scores, tree, strict=False))
    else:
        yield place, float(tree)

"""The paper's numbers on translation and reproduction, from lin2024.toml: each cell with its place and with what is known against it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

from ....calibration.report.cells import Mark, PaperValue

TABLES = ("T4", "T6")


@dataclass(frozen=True, slots=True)
class Paper:
    """cells: by place, shares as shares."""

    title: str
    source: str
    models: tuple[str, ...]
    cells: Mapping[str, PaperValue]

    def values(self, table: str, name: str, column: str) -> tuple[PaperValue, ...]:
        """What a table has of a data set, model by model."""
        places = (f"{table}/{name}/{model}/{column}" for model in self.models)
        return tuple(self.cells[place] for place in places if place in self.cells)


@cache
def paper() -> Paper:
    """The paper, read once."""
    found = tomllib.loads(files(__package__).joinpath("lin2024.toml").read_text(encoding="utf-8"))
    marks = [(each["of"], Mark(each["kind"], each["note"])) for each in found["mark"]]
    cells = {}
    for table in TABLES:
        for name, by_model in found[table]["cells"].items():
            for model, columns in by_model.items():
                for column, value in columns.items():
                    place = f"{table}/{name}/{model}/{column}"
                    known = tuple(mark for patterns, mark in marks if any(fnmatchcase(place, pattern) for pattern in patterns))
                    cells[place] = PaperValue(value / 100, model, place, known)
    return Paper(found["title"], found["source"], tuple(found["models"]), cells)

"""The errors that are a row of words: mypy can't see how many gaps there are to fill."""

from __future__ import annotations

import ast
from pathlib import Path
from string import Formatter

from assay.inference import errors

ROOT = Path(errors.__file__).parents[1]
ROOMS = ("inference", "suggestion", "calibration", "server", "offline_eval", "cli", "training", "benchmarks")


def gaps() -> dict[str, int]:
    """By the name of an error, how many arguments fill its words."""
    rows = {name: kind.__doc__ or "" for name, kind in vars(errors).items() if isinstance(kind, type) and "{" in (kind.__doc__ or "")}
    return {name: len({field or str(place) for place, field in enumerate(_fields(words))}) for name, words in rows.items()}


def _fields(words: str) -> list[str]:
    return [field for _, field, _, _ in Formatter().parse(words) if field is not None]


def test_each_error_is_raised_with_as_many_arguments_as_its_words_have_gaps() -> None:
    wanted, seen = gaps(), set[str]()
    for path in (file for room in ROOMS for file in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                if name in wanted:
                    seen.add(name)
                    assert (len(node.args), node.keywords) == (wanted[name], []), f"{path}:{node.lineno}: {name}"
    assert len(seen) > 25

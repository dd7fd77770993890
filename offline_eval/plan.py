"""What a run would do, told without doing it: one document, whose parts people get a line each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .progress import to_stderr

PLAN = "assay/study-plan/1"


def tell(plan: Mapping[str, Any], *told: str, as_json: bool) -> None:
    """Print a plan: as JSON, or for people: what a run says when it begins, each part in a line, and last an example in full."""
    if as_json:
        print(json.dumps(plan, indent=1))
        return
    for line in (*told, *_lines(plan)):
        to_stderr(line)


def tell_study(question: Mapping[str, Any], out: Path, more: Mapping[str, Any], *told: str, as_json: bool) -> None:
    """Print the plan of a run that asks this question. more: what it says besides."""
    tell({**question, "schema": PLAN, **more, "run": str(out.absolute())}, *told, as_json=as_json)


def _lines(plan: Mapping[str, Any]) -> Iterator[str]:
    for name, value in plan.items():
        if name in ("schema", "example") or value is False or value in (None, "", [], (), {}):
            continue
        for each in _each(value):
            most = "at most " if name.startswith("most_") else ""
            yield f"{name.removeprefix('most_').replace('_', ' '):12s} {most}{_words(each)}"
    if example := plan.get("example"):
        yield from ("", "an example in full:", str(example))


def _each(value: Any) -> Iterable[Any]:
    """What stands in a line of its own."""
    if isinstance(value, Mapping) and all(isinstance(each, Mapping) for each in value.values()):
        return [f"{name}: {_words(each)}" for name, each in value.items()]
    return [value]


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_words(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if type(value) is int else str(value)

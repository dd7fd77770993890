"""What a run would do, told without doing it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .progress import to_stderr

if TYPE_CHECKING:
    from .study import StudyOptions

PLAN = "assay/study-plan/1"


def tell_plan(plan: Mapping[str, Any], *told: str, as_json: bool) -> None:
    """Print a plan: as JSON, or for people: what a run says when it begins, each part in a line, and last an example in full."""
    if as_json:
        print(json.dumps(plan, indent=1))
        return
    for line in (*told, *_lines(plan)):
        to_stderr(line)


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


def tell(plan: dict[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    """Print a plan: as JSON, or its lines for people."""
    if as_json:
        print(json.dumps(plan, indent=1))
        return
    for line in lines:
        to_stderr(line)


def tell_study(study: str, options: StudyOptions, more: Mapping[str, Any], lines: Sequence[str], example: Any = "", what: str = "") -> None:
    """Print the plan of a study's run. example: of what is asked, which is called `what`."""
    plan = {"schema": PLAN, "study": study, **more, "run": str(options.out), **({"example": example} if example else {})}
    tell(plan, [*lines, written(options.out), *example_of(str(example), what or "one of the prompts")], as_json=options.as_json)


def example_of(text: str, what: str = "one of the prompts") -> list[str]:
    """An example in full, for people."""
    return ["", f"{what} in full:", text] if text else []


def written(out: Path) -> str:
    """Where a run would be written, for people."""
    return f"results      would be in {out.absolute()}"

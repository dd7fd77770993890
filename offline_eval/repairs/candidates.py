"""What is proposed at a line that is to be repaired, as a record keeps it: by whom, how it scores, and whether it is the right text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypedDict

from ...suggestion.repair.confidence import RANKS
from ...suggestion.repair.propose import proposals
from ...suggestion.repair.request import Repair, Repairs, Request
from ..counterfeit.lines.draw import text_id
from ..suggested import without_trailing_space

By = Literal["both", "model", "rules"]
# Whose candidates are ranked among themselves. What a rule gives and the model too is of either.
BELONGS: Mapping[By, Callable[[Sequence[str]], bool]] = {
    "both": lambda _: True,
    "model": lambda sources: set(sources) != {"rules"},
    "rules": lambda sources: "rules" in sources,
}
_ALL = 1_000


class Candidate(TypedDict):
    """A repair. lines: of the wrong text, from 0, that `text` replaces. text_id: of the file with it. exact: whether it is the text before.

    Its rank among all is a measure.
    """

    lines: list[int]
    text: str
    sources: list[str]
    rules: list[str]
    measures: dict[str, float]
    text_id: str
    exact: bool


class Proposed(TypedDict):
    """The repairs at a line: the first `RANKS` of all, of the model's and of the rules', in the order in which they are shown.

    offered: how many there were.
    """

    id: str
    candidates: list[Candidate]
    offered: int


def proposed(request: Request, wrong: str, right: str, place: str) -> dict[str, Any]:
    """The record of a request but for its id. wrong, right: the file as it is, and before the bug. Raises ModelError."""
    begun, cpu, first = time.perf_counter(), time.process_time(), 0.0
    found: Repairs | None = None
    for found in proposals(request, most=_ALL):
        if found.found and not first:
            first = time.perf_counter() - begun
    assert found is not None, "there is a last one"
    made = [_candidate(repair, wrong, right, place) for repair in found.found]
    best = {id(each) for by in BELONGS for each in of(by, made)}
    timings = {"first_ms": first * 1e3, "propose_ms": (time.perf_counter() - begun) * 1e3, "cpu_ms": (time.process_time() - cpu) * 1e3}
    return {"candidates": [each for each in made if id(each) in best], "offered": len(made), "timings": timings}


def of(by: By, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The first `RANKS` of whom they are by."""
    return [each for each in candidates if BELONGS[by](each["sources"])][:RANKS]


def repaired(wrong: str, candidate: Candidate) -> str:
    """The file with a candidate in it."""
    lines, (first, end) = wrong.split("\n"), candidate["lines"]
    return "\n".join((*lines[:first], *candidate["text"].split("\n"), *lines[end:]))


def distinct(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """Those that tests are to judge: not the right text, and each text once."""
    yield from {each["text_id"]: each for each in candidates if not each["exact"]}.values()


def _candidate(repair: Repair, wrong: str, right: str, place: str) -> Candidate:
    suggestion = repair.suggestion
    made: Candidate = {
        "lines": [suggestion.range.start.line, suggestion.range.end.line + 1],
        "text": suggestion.text,
        "sources": list(repair.sources),
        "rules": list(repair.rules),
        "measures": suggestion.measures,
        "text_id": "",
        "exact": False,
    }
    after = repaired(wrong, made)
    return {**made, "text_id": text_id(place, after), "exact": without_trailing_space(after) == without_trailing_space(right)}

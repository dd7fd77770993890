"""Round trips to look at, drawn by the run's seed."""

from __future__ import annotations

import random
from collections.abc import Sequence

from ....calibration.report.blocks import Table
from .facts import PlaceFacts, TripFacts
from .rates import trips_of

EACH = 3
MAX_SHOWN = 100
_KINDS = (
    "rebuilt, from a description that recites the code",
    "rebuilt, from another description",
    "other code that passes the tests",
    "other code that fails them",
    "nothing that an editor would show",
)
_SAID = {True: "pass", False: "fail", None: "unknown"}


def examples(facts: Sequence[PlaceFacts], codes: Sequence[str], seed: int) -> Table | None:
    """Some round trips of each kind and code; None where there are none."""
    found: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for code in codes:
        for place, one, trip in trips_of(facts, code):
            row = (
                place["id"].removesuffix(":line"),
                _short(one["text"]),
                _SAID[one["passes"]],
                _short(f"# {trip['comment']}"),
                _short(trip["rebuilt"][0] or "–"),
            )
            if kind := _kind(trip):
                found.setdefault((code, kind), []).append(row)
    rows = []
    for code in codes:
        for kind in _KINDS:
            those = found.get((code, kind), [])
            drawn = random.Random(f"{seed}:{code}:{kind}").sample(those, min(EACH, len(those)))
            rows += [(f"{code}: {kind}", *row) for row in sorted(drawn)]
    columns = ("what came of it", "place", "code", "its tests", "description", "rebuilt")
    return Table(f"At most {EACH} of each kind", columns, "llllll", tuple(rows)) if rows else None


def _kind(trip: TripFacts) -> str | None:
    """What came of a description; None where the tests have not judged it."""
    if trip["equal"]:
        return _KINDS[0] if trip["copied"] else _KINDS[1]
    if trip["rebuilt"][0] is None:
        return _KINDS[4]
    if trip["passes"] is None:
        return None
    return _KINDS[2] if trip["passes"] else _KINDS[3]


def _short(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"

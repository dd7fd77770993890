"""What round trips came to, place by place: facts.jsonl, and all that the report counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TypedDict

from ...answers import Answer
from ...calibration.draw import label_id
from ..copies import is_copy
from .trips import Rebuilt, RoundTrips, Trip


class TripFacts(TypedDict):
    """What came of one comment. equal, passes: the share of rebuilds; passes is None where the tests' word on one is unknown.

    copied: whether the comment recites the code. logprob: of the code below it.
    """

    comment: str
    copied: bool
    equal: float
    passes: float | None
    logprob: float | None
    rebuilt: list[str | None]


class CodeFacts(TypedDict):
    """The round trips of one code. passes: what the tests say of the code itself."""

    text: str
    passes: bool | None
    trips: list[TripFacts]
    uninformed: TripFacts


class PlaceFacts(TypedDict):
    """The round trips at a place; id: of its sample. suggested: what a model writes there without a comment.

    exact, passes: whether that is the project's own line, and pass@1.
    What an editor would hide, or nothing at all, passes no test.
    """

    id: str
    project: str
    file: str
    suggested: str | None
    exact: bool
    passes: bool | None
    codes: dict[str, CodeFacts]


def is_exact(text: str | None, truth: str) -> bool:
    """Whether a line is the project's own, white space at its end aside."""
    return text is not None and text.rstrip() == truth.rstrip()


def facts_of(
    answers: Sequence[Answer], rebuilt: Mapping[str, RoundTrips], said: Mapping[str, bool | None], codes: Sequence[str]
) -> list[PlaceFacts]:
    """The facts of each place. rebuilt: by code; said: what the tests said, by text; both by `label_id`. codes: truth, suggestion."""
    found: list[PlaceFacts] = []
    for answer in answers:
        for one in answer["generations"][:1]:  # alternatives beside the first choice do not go around
            known = _Known(answer["id"], one["truth"], rebuilt, said)
            texts = {"truth": one["truth"], "suggestion": one["inserted"]}
            found.append(
                {
                    "id": one["id"],
                    "project": answer["project"],
                    "file": answer["file"],
                    "suggested": one["inserted"],
                    "exact": is_exact(one["inserted"], one["truth"]),
                    "passes": known.passes(one["inserted"]),
                    "codes": {code: facts for code in codes if (text := texts[code]) is not None and (facts := known.code(text))},
                }
            )
    return found


class _Known:
    """What is known of the texts of one place."""

    def __init__(self, place: str, truth: str, rebuilt: Mapping[str, RoundTrips], said: Mapping[str, bool | None]) -> None:
        self._place, self._truth, self._rebuilt, self._said = place, truth, rebuilt, said

    def passes(self, text: str | None) -> bool | None:
        """What the tests say; the project's own line passes without being run."""
        if text is None:
            return False
        return True if is_exact(text, self._truth) else self._said.get(label_id(self._place, "line", text))

    def code(self, text: str) -> CodeFacts | None:
        """The round trips of a code, if it has some."""
        trips = self._rebuilt.get(label_id(self._place, "line", text))
        if trips is None:
            return None
        return {
            "text": text,
            "passes": self.passes(text),
            "trips": [self._trip(trip, text) for trip in trips["trips"]],
            "uninformed": self._trip(trips["uninformed"], text),
        }

    def _trip(self, trip: Trip, code: str) -> TripFacts:
        rebuilt: Sequence[Rebuilt] = trip["rebuilt"]
        passes = [self.passes(one["inserted"]) for one in rebuilt]
        return {
            "comment": trip["comment"],
            "copied": is_copy(trip["comment"], code),
            "equal": fmean(one["equal"] for one in rebuilt),
            "passes": fmean(each for each in passes if each is not None) if None not in passes else None,
            "logprob": trip["logprob"],
            "rebuilt": [one["inserted"] for one in rebuilt],
        }

"""Which runs there are, what one place of each costs, and how many places a time buys. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Seconds of one worker. docs/performance.md: two of them found 1,400 places in 25 minutes, and judged 2.4 texts a second.
FOUND_S = 2 * 25 * 60 / 1400
JUDGED_S = 2 / 2.4
# A question about a text takes so much of the time of a generation: its answer is one token, and most of its prompt was read before.
QUESTION = 0.5


@dataclass(frozen=True, slots=True)
class Place:
    """What one place takes, about.

    judged: distinct texts that the tests have not seen yet. found: 1 where the place must be found; the runs after the first take places
    that it has found.
    """

    generations: int
    questions: int
    judged: float
    found: int = 0

    def seconds(self, generation_s: float) -> float:
        """Of one worker. generation_s: what the model takes for a generation."""
        asked = (self.generations + QUESTION * self.questions) * generation_s
        return asked + self.judged * JUDGED_S + self.found * FOUND_S


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """name: its folder. what: for people. share: of the minutes, in percent. most: places of each project, where time is no matter."""

    name: str
    what: str
    share: int
    most: int
    place: Place


# The shares are those that the full runs of the embedded model take. The texts judged are those that its runs had.
RUNS: Sequence[PlannedRun] = (
    PlannedRun("calibration", "three tasks, as the editor completes them", 24, 100, Place(3, 0, 1.6, found=1)),
    PlannedRun(
        "calibration_asked", "also without docstring and without suffix, and the model asked about its answers", 6, 20,
        Place(9, 18, 2.8),
    ),
    PlannedRun(
        "counterfeit", "two tasks; of each the shown text and 10 draws, judged by the model and repaired", 47, 60,
        # Two counterfeits of a place are repaired, six times each, by the median.
        Place(2 * (1 + 10) + 2 * 6, 2 * (1 + 10), 11 + 3),
    ),
    PlannedRun("catcode", "the line and what is suggested, each rewritten so that it means the same, or not", 23, 40, Place(2, 12, 10)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run takes, about. prompt_tokens: at most, and most of them are read once for several calls."""

    places: int
    generations: int
    questions: int
    prompt_tokens: int
    new_tokens: int
    judged: int
    hours: float


def sizes(minutes: float | None, projects: int, workers: int, generation_s: float) -> dict[str, int]:
    """By run the places of each project: all that are worth it, or as many as its share of the minutes buys, at least one.

    No run has more places than the first, which finds them.
    """
    bought = {run.name: run.most for run in RUNS}
    if minutes is not None:
        for run in RUNS:
            seconds = minutes * 60 * run.share / 100 * workers
            bought[run.name] = min(run.most, max(1, int(seconds / (run.place.seconds(generation_s) * projects))))
    return {name: min(places, bought[RUNS[0].name]) for name, places in bought.items()}


def cost(run: PlannedRun, places: int, workers: int, generation_s: float, prompt_tokens: int, line_tokens: int) -> Cost:
    """What a run of so many places takes. prompt_tokens, line_tokens: of one prompt and of one line, at most."""
    place = run.place
    generations, questions = place.generations * places, place.questions * places
    return Cost(
        places,
        generations,
        questions,
        (generations + questions) * prompt_tokens,
        generations * line_tokens + questions,
        round(place.judged * places),
        place.seconds(generation_s) * places / workers / 3600,
    )


def whole(costs: Mapping[str, Cost]) -> Cost:
    """All runs together. places: of the largest, whose places the others take."""
    each = list(costs.values())
    return Cost(
        max(one.places for one in each),
        sum(one.generations for one in each),
        sum(one.questions for one in each),
        sum(one.prompt_tokens for one in each),
        sum(one.new_tokens for one in each),
        sum(one.judged for one in each),
        sum(one.hours for one in each),
    )

"""Where the bug is that a test fails for: the lines that it runs, by spectrum and by how much they surprise the model.

A line is a sample of the task `fault`, and the event `exact_match` says of it that it is the line of the bug.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...analysis.oracle.spectrum import Suspect
from ...calibration.bands import percents
from ...calibration.confidence import Confidence, uncalibrated
from ...calibration.effective_status import confidence_of
from ...calibration.registry import Purpose, Registry, choose, explain_choice
from .asking import Asking
from .candidate import Lines
from .surprise import surprise_at

TASK = "fault"
# So many lines of a failure are looked at. The model is asked about each.
MAX_LINES = 25

# The surprise of a line in all its tokens, by file and line.
Surprises = Mapping[tuple[str, int], float]


@dataclass(frozen=True, slots=True)
class Located:
    """A line that a bug may be in. measures: of the task `fault`. confidence: that it is the line of the bug."""

    suspect: Suspect
    measures: Mapping[str, float]
    confidence: Confidence


def surprises_of(found: Sequence[Suspect], lines_of: Callable[[str], Lines], asking_of: Callable[[str], Asking]) -> Surprises:
    """How much suspects surprise the model, those left out that it can't say of.

    lines_of, asking_of: a file's lines, and how the model is asked in it. Raises ModelError, and what they raise.
    """
    told = {}
    for each in found:
        lines = lines_of(each.file)
        said = surprise_at(asking_of(each.file), lines, each.line - 1) if each.line <= len(lines) else None
        if said is not None:
            told[each.file, each.line] = said.surprise
    return told


def located(
    found: Sequence[Suspect], surprises: Surprises, purpose: Purpose, registry: Registry, *, show_refuted: bool = False
) -> list[Located]:
    """The suspects, the likeliest first; without a calibrator by spectrum and surprise.

    found: the first `MAX_LINES`. purpose: `confidence.purpose_of` a request in the file, with the task `TASK` and the event `exact_match`.
    """
    entry = choose(registry, purpose)
    lines = []
    for suspect, measures in zip(found, measures_of_lines(found, surprises), strict=True):
        told = (
            uncalibrated(purpose.event, explain_choice(registry, purpose).reason)
            if entry is None
            else confidence_of(entry, measures, {"language": purpose.language}, show_refuted=show_refuted)
        )
        lines.append(Located(suspect, measures, told))
    return sorted(lines, key=lambda each: (-(each.confidence.probability or 0.0), -by_spectrum_and_surprise(each.measures)))


def text_of(confidence: Confidence) -> str:
    """Of a line for people: "◈ possible 18-83 % the bug is here"; that it matches exactly would be said of a completion."""
    if confidence.low is None or confidence.high is None:
        return confidence.text
    return f"{confidence.look.shape} {confidence.look.word} {percents(confidence.low, confidence.high)} the bug is here"


def measures_of_lines(found: Sequence[Suspect], surprises: Surprises) -> list[dict[str, float]]:
    """The measures of each suspect. One that the model can't say of, as a blank line, does not surprise it.

    Ranks are from 1, and alike for what is alike: the mean of the ranks that these have together.
    """
    told = [max(0.0, surprises.get((each.file, each.line), 0.0)) for each in found]
    by_spectrum, by_surprise = mean_ranks([each.ochiai for each in found]), mean_ranks(told)
    return [
        {"ochiai": each.ochiai, "line_surprise": surprise, "spectrum_rank": spectrum, "surprise_rank": rank}
        for each, surprise, spectrum, rank in zip(found, told, by_spectrum, by_surprise, strict=True)
    ]


def by_spectrum_and_surprise(measures: Mapping[str, float]) -> float:
    """What sorts lines where no calibrator does; higher ones come first."""
    return math.log(measures["ochiai"]) + math.log1p(measures["line_surprise"])


def mean_ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, from 1 for the highest; of equal ones the mean of theirs."""
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values, reverse=True), 1):
        places.setdefault(value, []).append(place)
    return [sum(places[value]) / len(places[value]) for value in values]

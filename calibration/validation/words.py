"""What a validation table says, for people: a line that counts, a sentence for what is refuted, and each figure in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ..bands import BOUNDARIES, LIKELY, POSSIBLE, UNLIKELY
from .figures import Figure, Reading
from .fresh import primary_of
from .table import Row, Validation

_COUNTED: dict[Reading, str] = {"refuted": "refuted", "undecided": "undecided", "reported": "cross-validated alone", "not run": "not run"}


@dataclass(frozen=True, slots=True)
class Meaning:
    """title: the figure in words. refuted: what it means for whoever sees the calibrator's numbers; empty where it is nothing to them."""

    title: str
    refuted: str = ""


# By id.
MEANINGS: dict[str, Meaning] = {
    "K1": Meaning("skill on code that it was not fitted to", "Its numbers are no better than always saying the average."),
    "K2": Meaning("calibration error", "Over ten bins its numbers are off by more than 5 points, as a root mean square."),
    "K3": Meaning("AUC: likely and unlikely ones are told apart", "Its numbers hardly tell likely suggestions from unlikely ones."),
    "K4": Meaning("skill gained over the model's raw probability", "The model's own probability is better than its numbers."),
    "K5": Meaning("skill for exact_match minus that for tests_pass"),
    "K5.mixed": Meaning("offset if P(exact_match) is read as P(tests_pass)"),
    "K6": Meaning(
        "share of projects where it is off no more than it says", "In some projects its numbers are further off than their range."
    ),
    "K7.no_docstring": Meaning("offset without docstrings", "Its numbers are off by more than 5 points in functions without a docstring."),
    "K7.no_suffix": Meaning("offset at the end of a file", "Its numbers are off by more than 5 points where nothing follows the cursor."),
    "K8": Meaning("skill gained by asking the model again"),
    "F1": Meaning(
        "surer of failures than a calibrated map would be",
        "On wrong suggestions its numbers are off by more than 3 points from what a calibrated map would say.",
    ),
    "F2": Meaning(
        "AUC of right against plausible wrong texts at one place",
        "At one place it does not tell right suggestions from wrong ones that look right.",
    ),
    "F2.raw": Meaning("the same of the raw probability"),
    "F3": Meaning("AUC against other failures minus that against counterfeits"),
    "F3.counterfeit": Meaning(
        "AUC of right against counterfeit suggestions", "It does not tell right suggestions from wrong ones that look right."
    ),
    "F4": Meaning("skill on what parses", "Among suggestions that parse its numbers are no better than always saying the average."),
    "F4.offset": Meaning("offset on what parses", "Among suggestions that parse its numbers are off by more than 5 points."),
    "F5.likely": Meaning(
        "right minus said, of the band likely", "Of suggestions with the badge likely fewer are right than it says, by more than 5 points."
    ),
    "F5.possible": Meaning(
        "right minus said, of the band possible",
        "Of suggestions with the badge possible fewer are right than it says, by more than 5 points.",
    ),
    **{
        f"F5.counterfeits_{band.word}": Meaning(f"share of counterfeits with the band {band.word}") for band in (LIKELY, POSSIBLE, UNLIKELY)
    },
    "F6": Meaning("skill gained by asking the model whether it is right"),
    "F6.parses": Meaning("the same, on what parses"),
    "F7": Meaning("Youden's J of the model's own answer"),
    "F7.right": Meaning("share of right texts that the model calls right"),
    "F7.counterfeit": Meaning("share of counterfeits that the model calls right"),
    "F9": Meaning("passing repairs minus passing texts drawn anew"),
    "M1": Meaning(
        "change of the number where the code around is rewritten and does the same",
        "Its numbers change by more than 2 points on average where the code around a line is only written otherwise.",
    ),
    **{f"{id}.raw": Meaning(f"{id} of the raw probability") for id in ("M1", "M2", "M3")},
    "M1.icc": Meaning(
        "share of the variance of its log odds that lies between lines, not between rewrites of the code around one",
        "Its numbers vary where the code around a line is only written otherwise.",
    ),
    "M1.absolute": Meaning("size of that change, over that of scoring again"),
    "M1.logit": Meaning("that change in log odds, over that of scoring again"),
    "M2": Meaning("share of wrong rewrites of a line that have a lower number", "It gives wrong lines numbers as high as right ones."),
    "M3": Meaning(
        "fall of the log odds for a wrong rewrite minus that for one that does the same",
        "Its numbers fall as far for a line that is only written otherwise as for one that is wrong.",
    ),
    "M3.auc": Meaning("AUC of that fall, wrong rewrites against those that do the same"),
    "M4": Meaning("M2 of wrong rewrites that look right"),
    "M4.other": Meaning("M2 of other wrong rewrites"),
    "M5.context": Meaning("share of rewrites of the code around a line that change its band"),
    "M5.wrong": Meaning("share of wrong rewrites of a line whose band does not fall"),
    "M6": Meaning("offset in code that was rewritten", "In rewritten code its numbers are off by more than 5 points."),
    "M6.original": Meaning("offset at the same places as they were"),
    "M6.skill": Meaning("skill in code that was rewritten minus that at the same places", "In rewritten code its numbers have less skill."),
}
# Of single rules, by the beginning of the id, which the rule ends.
_OF_RULES = {
    "M7.context_": "M1 of the rule {} alone",
    "M7.line_": "M3 with the rule {} alone for what does the same",
    "M7.wrong_": "M3 with the rule {} alone for what is wrong",
}


def title_of(figure: Figure) -> str:
    """A figure in words; one that is not known by its id."""
    for start, title in _OF_RULES.items():
        if figure.id.startswith(start):
            return title.format(figure.id.removeprefix(start))
    return MEANINGS[figure.id].title if figure.id in MEANINGS else figure.id


def number_of(figure: Figure) -> str:
    """Its value with its interval; a dash where there is none."""
    if figure.value is None or figure.low is None or figure.high is None:
        return "–"
    return f"{figure.value:z.3f} ({figure.low:z.3f} to {figure.high:z.3f})"


def size_of(figure: Figure) -> str:
    """Of how many samples and groups it is; empty where it was not run."""
    return f"{figure.n:,} of {figure.groups:,} {figure.grouped_by}{'' if figure.groups == 1 else 's'}" if figure.n else ""


def summary(validation: Validation) -> str:
    """One line: "validated: 4 of 5 hold, 1 undecided". It counts the primary figures alone; what is not in the table was not run."""
    readings = {row.id: row.reading for row in validation.figures}
    primary = primary_of(validation.event)
    counts = Counter(readings.get(id, "not run") for id in primary)
    parts = [f"{counts['holds']} of {len(primary)} hold", *(f"{counts[each]} {said}" for each, said in _COUNTED.items() if counts[each])]
    return f"validated: {', '.join(parts)}"


def refuted(validation: Validation) -> list[str]:
    """What each refuted figure means for the reader, a sentence each, the primary ones first."""
    rows = sorted(
        (row for row in validation.figures if row.reading == "refuted"), key=lambda row: row.id not in primary_of(validation.event)
    )
    return [meant for row in rows if (meant := MEANINGS[row.id].refuted if row.id in MEANINGS else f"{row.id} ({row.claim}) is refuted.")]


def contradiction(validation: Validation | None) -> str:
    """What studies found against the numbers: each primary figure that is refuted, in a sentence or two. Empty where none is."""
    if validation is None:
        return ""
    rows = {row.id: row for row in validation.figures if row.reading == "refuted"}
    return " ".join(_found_against(rows[id]) for id in primary_of(validation.event) if id in rows)


def _found_against(row: Row) -> str:
    found = f"The {row.study} study refutes {row.id}, {title_of(row)}: {number_of(row)}, and the claim is {row.claim}."
    return f"{found} {MEANINGS[row.id].refuted}" if row.id in MEANINGS else found


def on_failures(validation: Validation) -> str:
    """F1 as a sentence: what the numbers are like on wrong suggestions. Empty where that was not measured."""
    value = {row.id: row.value for row in validation.figures}.get("F1")
    if value is None:
        return ""
    points = round(100 * abs(value))
    if not points:
        return "On wrong suggestions its numbers are as low as a calibrated map's would be."
    than = "higher" if value > 0 else "lower"
    return f"On wrong suggestions its numbers are {points} {'point' if points == 1 else 'points'} {than} than a calibrated map's would be."


def on_badges(validation: Validation) -> dict[str, str]:
    """F5 as a sentence for each band, by its word: how many wrong suggestions that look right have it. Of those that were measured.

    The bands are those of the default boundaries.
    """
    values = {row.id: row.value for row in validation.figures}
    ranges = {
        LIKELY.word: f"from {BOUNDARIES.likely_from:.0%} on",
        POSSIBLE.word: f"from {BOUNDARIES.possible_from:.0%} to {BOUNDARIES.likely_from:.0%}",
        UNLIKELY.word: f"below {BOUNDARIES.possible_from:.0%}",
    }
    return {
        word: f"Of wrong suggestions that still look right, {round(100 * value)} in 100 got this badge ({where})."
        for word, where in ranges.items()
        if (value := values.get(f"F5.counterfeits_{word}")) is not None
    }


def as_json(validation: Validation) -> dict[str, Any]:
    """What clients are told: `summary`, one line; `refuted`, sentences; `failures`, one sentence or none; `badges`, sentences by band."""
    return {
        "summary": summary(validation),
        "refuted": refuted(validation),
        "failures": on_failures(validation),
        "badges": on_badges(validation),
    }

"""Each figure in one plain sentence for whoever sees the numbers: what it claims, or what it measures where it claims nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .figures import Figure, not_run
from .fresh import primary_of
from .table import Validation
from .words import as_json, title_of

# By id. Whether a claim is true is the figure's reading, so no sentence says it.
SENTENCES: Mapping[str, str] = {
    "K1": "Its numbers are better than always saying the average, in projects that it was not fitted to.",
    "K2": "Over ten bins of its numbers, what is said and what comes true differ by 5 points at most, as a root mean square.",
    "K3": "Right suggestions have higher numbers than wrong ones.",
    "K4": "Its numbers are no worse than the model's own probability.",
    "K5": "How much better an exact match can be foretold than passing tests.",
    "K5.mixed": "How far off its numbers would be as the chance that tests pass.",
    "K6": "In nearly every project its numbers are off by no more than their range says.",
    "K7.no_docstring": "Its numbers are as true in functions without a docstring.",
    "K7.no_suffix": "Its numbers are as true where nothing follows the cursor.",
    "K8": "Asking the model about its suggestion makes the numbers better.",
    "F1": "On wrong suggestions its numbers are what a calibrated map would say.",
    "F2": "Of two texts for one place, the right one has a higher number than one that only looks right.",
    "F2.raw": "What F2 says, for the model's own probability.",
    "F3": "How much easier other failures are told from right suggestions than those that look right.",
    "F3.counterfeit": "Right suggestions have higher numbers than wrong ones that look right.",
    "F4": "Among suggestions that parse its numbers are better than always saying the average.",
    "F4.offset": "Among suggestions that parse its numbers are right on average.",
    "F5.likely": "Of suggestions with the badge likely no fewer are right than it says, within 5 points.",
    "F5.possible": "Of suggestions with the badge possible no fewer are right than it says, within 5 points.",
    "F5.counterfeits_likely": "How many wrong suggestions that look right have the badge likely.",
    "F5.counterfeits_possible": "How many wrong suggestions that look right have the badge possible.",
    "F5.counterfeits_unlikely": "How many wrong suggestions that look right have the badge unlikely.",
    "F6": "Asking the model whether its text is right makes the numbers better.",
    "F6.parses": "It does so among texts that parse.",
    "F7": "How well the model itself tells right texts from those that only look right: 0 is not at all, 1 is always.",
    "F7.right": "How many right texts the model calls right.",
    "F7.counterfeit": "How many wrong texts that look right the model calls right.",
    "F9": "Repairing a wrong text passes the tests more often than drawing another.",
    "M1": "The number of a line stays where the code around it is rewritten and does the same.",
    **{f"{id}.raw": f"What {id} says, for the model's own probability." for id in ("M1", "M2", "M3")},
    "M1.icc": "The numbers differ between lines, and hardly between rewrites of the code around one line.",
    "M1.absolute": "How far a number moves with such a rewrite, in either direction.",
    "M1.logit": "How far its log odds move.",
    "M2": "A line has a higher number than the same line made wrong.",
    "M3": "A number falls further for a line that is made wrong than for one that is only written otherwise.",
    "M3.auc": "How well these two falls are told apart.",
    "M4": "What M2 says, for wrong lines that look right.",
    "M4.other": "What M2 says, for other wrong lines.",
    "M5.context": "How many rewrites of the code around a line change its badge.",
    "M5.wrong": "How many lines that are made wrong keep their badge.",
    "M6": "In rewritten code its numbers are right on average.",
    "M6.original": "How far off its numbers are at the same places as they were.",
    "M6.skill": "In rewritten code its numbers are no worse than at the same places as they were.",
}
# Of single rules, by the beginning of the id.
_OF_RULES = {"M7.context_": "M1", "M7.line_": "M3", "M7.wrong_": "M3"}


@dataclass(frozen=True, slots=True)
class Statement:
    """A figure with its sentence for people. study: the one that printed it, or empty."""

    figure: Figure
    sentence: str
    primary: bool
    study: str


def sentence_of(figure: Figure) -> str:
    """A figure in a sentence."""
    for start, claims in _OF_RULES.items():
        if figure.id.startswith(start):
            return f"What {claims} says, by the rewrite {figure.id.removeprefix(start)} alone."
    return SENTENCES.get(figure.id) or f"{title_of(figure)}."


def statements(validation: Validation) -> list[Statement]:
    """All figures of a table: the primary ones first, also those that were not run, then the others by id."""
    rows, first = {row.id: row for row in validation.figures}, primary_of(validation.event)
    primary = (rows.get(id) or not_run(id, "", "no run of a study that says it is in the table") for id in first)
    others = (row for id, row in rows.items() if id not in first)
    return [
        Statement(figure, sentence_of(figure), figure.id in first, rows[figure.id].study if figure.id in rows else "")
        for figure in (*primary, *others)
    ]


def whole_json(validation: Validation) -> dict[str, Any]:
    """The JSON for clients, with all figures in the order of `statements`. unit: what a group is."""
    figures = [
        {
            "id": each.figure.id,
            "primary": each.primary,
            "sentence": each.sentence,
            **{name: getattr(each.figure, name) for name in ("value", "low", "high", "n", "groups")},
            "unit": each.figure.grouped_by,
            "claim": each.figure.claim,
            "reading": each.figure.reading,
            "study": each.study,
            "note": each.figure.note,
        }
        for each in statements(validation)
    ]
    return {**as_json(validation), "figures": figures}

"""What the data of a run on lines say of the paper's claims: rules on the cells of its tables, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from ....calibration.report.cells import Cell
from ....calibration.report.paper_claims import PaperClaim, Rule, claim_of
from ..pairs.claims import SEEN
from .tables import BALANCED


def claims(cells: Mapping[str, Cell]) -> tuple[PaperClaim, ...]:
    """The paper's claims; of most of them a model that is only scored on lines says nothing."""
    whole, words = Rule("needs whole programs"), Rule("needs answers in words: here a threshold weighs one class against the other")
    others = Rule("not asked of a model of lines")
    wanted: tuple[tuple[str, str, str, Rule, list[tuple[str, str]]], ...] = (
        (
            "a1", "Local edits are seen", "balanced 79.5 and 82.0 % (figure 4, 1-eq and 1-neq)",
            Rule(f"the balanced accuracy on lines is above {SEEN:.0%}", above=SEEN), [("by the fall of log p", BALANCED)],
        ),
        ("a2", "Global equivalence is not seen", "balanced 60.1 and 57.8 %", whole, []),
        ("b", "Equivalence is seen better than its absence", "1-eq minus 1-neq: 33 and 17 points", words, []),
        ("c", "Two variants are as easily seen as one", "2-eq minus 1-eq: 1 and −1 points", whole, []),
        ("translation", "Translation is good", "means 81.5, 84.7 and 48.7 %", others, []),
        ("reproduction", "Explain-then-reproduce loses about 30 points", "54.6 and 54.0 % against 81.5 and 84.7 %", others, []),
    )  # fmt: skip
    return tuple(claim_of(*claim, cells) for claim in wanted)

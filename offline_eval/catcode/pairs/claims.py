"""What the data of a run on pairs say of the paper's claims: rules on the cells of its tables, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from ....calibration.report.cells import Cell
from ....calibration.report.paper_claims import PaperClaim, Rule, claim_of
from .judgements import KEYS

# The paper gives no number from which an edit is seen; half is chance.
SEEN = 0.65
# A second rewrite makes no difference within so much.
ALIKE = 0.05


def claims(cells: Mapping[str, Cell]) -> tuple[PaperClaim, ...]:
    """The claims about pairs."""
    wanted = (
        (
            "a1", "Local edits are seen", "1-eq 96 and 90.5 %, 1-neq 63 and 73.5 % (figure 4): balanced 79.5 and 82.0 %",
            Rule(f"the balanced accuracy at one rewrite is above {SEEN:.0%}", above=SEEN), "C/{}/local/balanced",
        ),
        (
            "a2", "Global equivalence is not seen", "51.5 and 52.6 % of equal, 68.6 and 63 % of other pairs: balanced 60.1 and 57.8 %",
            Rule(f"the balanced accuracy at programs that were drawn is below {SEEN:.0%}", below=SEEN), "C/{}/global/balanced",
        ),
        (
            "b", "Equivalence is seen better than its absence", "1-eq minus 1-neq: 33 and 17 points",
            Rule("recall of 1-eq minus that of 1-neq is above 0", above=0.0), "L/{}/lean",
        ),
        (
            "c", "Two variants are as easily seen as one", "2-eq minus 1-eq: 1 and −1 points",
            Rule(f"the difference is within ±{ALIKE}", above=-ALIKE, below=ALIKE), "L/{}/second",
        ),
    )  # fmt: skip
    return tuple(
        claim_of(name, claim, printed, rule, [(way, place.format(key)) for way, key in KEYS.items()], cells)
        for name, claim, printed, rule, place in wanted
    )

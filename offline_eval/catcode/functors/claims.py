"""What the data say of the paper's claims on translation and reproduction: rules on the cells of the tables, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from ....calibration.report.cells import Cell
from ....calibration.report.paper_claims import PaperClaim, Rule, claim_of
from .items import Kind

# Half way between the third of the paper's models, 48.7 %, and the second, 81.5 %: what it calls good begins above.
GOOD = 0.65
# About 30 points: nearer to 30 than to 20 or 40 would be too narrow for the intervals that such sets give.
ABOUT_30 = (-0.4, -0.2)
_BELOW_0, _ABOVE_0 = Rule("below 0", below=0.0), Rule("above 0", above=0.0)


def claims_of(kind: Kind, cells: Mapping[str, Cell]) -> tuple[PaperClaim, ...]:
    """The claims that one run can tell of, and for claim c what it takes."""
    if kind == "translate":
        return (translation_is_good(cells), *loses(cells))
    if kind == "explain":
        wanted = [(language, f"T6/mean/{language}") for language in ("java", "python", "javascript") if f"T6/mean/{language}/lift" in cells]
        return (
            *loses(cells),
            claim_of(
                "lift", "A description adds to what the header alone tells", "not looked at", _ABOVE_0,
                [(language, f"{place}/lift") for language, place in wanted], cells,
            ),
            claim_of(
                "names", "Reproduction leans on names and types in the description", "not looked at; its prompt asks for them", _ABOVE_0,
                [(language, f"{place}/names") for language, place in wanted], cells,
            ),
        )  # fmt: skip
    return ()


def translation_is_good(cells: Mapping[str, Cell]) -> PaperClaim:
    """Claim b."""
    rule = Rule(f"the mean over data sets and languages is above {GOOD:.0%}", above=GOOD)
    return claim_of("b", "Translation is good", "means 81.5, 84.7 and 48.7 %", rule, [("mean", "T4/mean")], cells)


def loses(cells: Mapping[str, Cell]) -> tuple[PaperClaim, PaperClaim]:
    """Claim c; it takes a run of translations and one of reproductions together."""
    printed, wanted = "54.6 and 54.0 % against 81.5 and 84.7 %", [("mean", "C/mean/difference")]
    low, high = ABOUT_30
    about = Rule(f"reproduction minus translation is between {100 * low:.0f} and {100 * high:.0f} points", above=low, below=high)
    return (
        claim_of("c1", "Explain-then-reproduce loses against translation", printed, _BELOW_0, wanted, cells),
        claim_of("c2", "It loses about 30 points", printed, about, wanted, cells),
    )

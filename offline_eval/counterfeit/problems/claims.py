"""What the data of a run on programs say of the paper's claims: rules on the cells of its tables, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from ....calibration.report.cells import Cell
from ....calibration.report.paper_claims import PaperClaim, Rule, claim_of

_WAYS = (("with reasoning", "thought"), ("vote", "vote"), ("p(Correct)", "probability"))
# Near chance, and no relation worth the name: the paper gives no numbers.
NEAR_CHANCE, NO_RELATION, NO_LOG_ODDS = 0.65, 0.2, 0.5


def claims(cells: Mapping[str, Cell]) -> tuple[PaperClaim, ...]:
    """The claims a to d, g and h. Claims e and f compare generators, which takes several runs."""
    judging = [(name, f"J/{way}/strict/balanced_accuracy") for name, way in _WAYS]
    wanted = (
        (
            "a1", "Judging is near chance", "57.0, 62.2, 61.0 %; GPT-4 84.1 %",
            Rule(f"the balanced accuracy is below {NEAR_CHANCE:.0%}", below=NEAR_CHANCE), judging,
        ),
        (
            "a2", "Judges lean to Correct", "69 to 100 % of right ones accepted, 3 to 42 % of counterfeits found (figure 13, CL-34B)",
            Rule("right ones called Correct minus counterfeits called Incorrect is above 0", above=0.0),
            [(name, f"JM/{way}/lean") for name, way in _WAYS],
        ),
        (
            "b", "Outputs of wrong programs are predicted far worse", "65.6 % against 30.5 % (CL-34B)",
            Rule("right programs minus counterfeits with a wrong output is above 0.1", above=0.1), [("right minus failing", "EM/fall")],
        ),
        (
            "c", "Repair loses to drawing again", "wins at 14 of 82 and 35 of 81 problems",
            Rule("repairs minus pass@1 is below 0", below=0.0), [("difference", "R/difference")],
        ),
        (
            "d", "Easy problems are not easier to judge", "median r .03 over 49 pairs",
            Rule(f"r with pass@1 is within ±{NO_RELATION}", above=-NO_RELATION, below=NO_RELATION),
            [(name, f"JM/{way}/r") for name, way in _WAYS],
        ),
        (
            "g", "Reasoning with a vote helps a little", "figure 10, no numbers",
            Rule("accuracy with minus without reasoning is above 0", above=0.0), [("gain", "JG/all")],
        ),
        (
            "h", "A counterfeit's pass rate does not predict the judgement", "said; its own counts give log odds ratios of −.85 to +.96",
            Rule(f"the log odds ratio is within ±{NO_LOG_ODDS}", above=-NO_LOG_ODDS, below=NO_LOG_ODDS),
            [(name, f"P/{way}/log_odds_ratio") for name, way in _WAYS],
        ),
    )  # fmt: skip
    return tuple(claim_of(name, claim, printed, rule, of, cells) for name, claim, printed, rule, of in wanted)

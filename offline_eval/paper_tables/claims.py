"""What the data say of the claims of Spiess et al. (2024): rules on the cells of the tables, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product

from ...calibration.guards import MIN_SPREAD
from ...calibration.report.cells import Cell
from ...calibration.report.paper_claims import PaperClaim, Rule, claim_of
from ...calibration.samples import Event
from .columns import BASE_ARM
from .differences import P_AVG, P_TOT
from .paper import measures
from .tables import GOOD_SKILL, label_of

_INTRINSIC = (P_TOT, P_AVG)
_ASK, _VERBALISED = "ask_true", "verbalised"

# Tasks, each with the event that it is judged by.
Settings = Sequence[tuple[str, Event]]
# Cells, each with what people call it and its id.
Wanted = list[tuple[str, str]]


def claims(cells: Mapping[str, Cell], tasks: Sequence[str], unanswered: Collection[str] = ()) -> tuple[PaperClaim, ...]:
    """The claims, read from the cells of `study_tables`.

    tasks: those of the run. unanswered: those where most verbalised values only stand in for a number that the model did not say. They
    tell nothing of verbalised confidence.

    The event is passing tests, as in the paper, where a task has such labels; else exact match. Claims about lines are read from the tasks
    on lines alone.
    """
    settings = [(task, event_of(cells, task)) for task in tasks]
    told = [(task, event) for task, event in settings if task not in unanswered]
    lines = [(task, event) for task, event in settings if task.startswith("line")]
    six = tuple(measures().values())
    positive = Rule("the interval is above 0", above=0.0)
    raw = [(f"{task} {label_of(m)}", f"T5/{event}/{task}/{BASE_ARM}/{m}/raw/skill") for (task, event), m in product(settings, six)]
    wanted = (
        (
            "RQ1", "No raw measure has a good skill score", "best +.05 (Ask T/F, GPT-3.5, Defects4J)",
            Rule(f"every raw skill score is below {GOOD_SKILL}", below=GOOD_SKILL + 1e-9), raw,
        ),
        (
            "RQ2a", "On lines p_tot is the least bad raw measure", "−.02 to −.03; all others −.06 to −1.28",
            Rule("raw skill of p_tot minus that of each other is above 0", above=0.0),
            _differences(lines, "raw_p_tot_minus", [m for m in six if m != P_TOT]),
        ),
        ("RQ2b", "Scaled, p_tot and p_avg have skill on lines", "+.07 to +.09", positive, _scaled(lines, _INTRINSIC, "skill")),
        (
            "RQ3a", "Ask T/F is the best raw measure", "mean −.27; the next is Ask T/F N, −.40",
            Rule("raw skill of Ask T/F minus that of each other is above 0, in every task", above=0.0),
            _differences(settings, "raw_ask_minus", [m for m in six if m != _ASK]),
        ),
        (
            "RQ3b", "Verbalised confidence is useless, also scaled", "−.09 to +.02",
            Rule(f"its scaled skill is below {GOOD_SKILL}, where the model mostly says a number", below=GOOD_SKILL),
            _scaled(told, (_VERBALISED,), "skill"),
        ),
        (
            "RQ4", "Confidence is far better for exact match than for passing tests", "p_tot on DyPyBench: .38 to .43 against .07 to .09",
            Rule("skill for exact match minus that for passing tests, the same samples, is above 0", above=0.0),
            [(f"{task} {label_of(m)}", f"D/{task}/{BASE_ARM}/event_gain/{m}") for (task, _), m in product(settings, _INTRINSIC)],
        ),
        (
            "RQ5a", "Platt scaling adds skill", "p_tot on DyPyBench: −.03 to −.02 raw, +.07 to +.09 scaled",
            Rule("scaled skill minus raw skill is above 0", above=0.0), _differences(settings, "platt_gain", _INTRINSIC),
        ),
        (
            "RQ5b", "Scaled measures are calibrated", "mean ECE .03 (.05 where skill is at least .05)",
            Rule("the calibration error without noise is at most 0.05", below=0.05 + 1e-9), _scaled(settings, _INTRINSIC, "error"),
        ),
        (
            "RQ5c", "Scaling makes the buckets collapse", "said without a number",
            Rule(f"the middle 90 % of the scaled probabilities span less than {MIN_SPREAD}", below=MIN_SPREAD),
            [(f"{task} {label_of(m)}", f"S/{event}/{task}/{BASE_ARM}/{m}") for (task, event), m in product(settings, _INTRINSIC)],
        ),
        (
            "D1", "Docstrings raise the share that passes", "+5.7, +11.3 and +6.5 points", positive,
            [(task, f"T3/{task}/{event}/difference") for task, event in settings],
        ),
        (
            "D2", "With docstrings the calibration stays as it is", "Figure 5",
            Rule("scaled skill of p_avg with minus without docstring is within ±0.05", above=-0.05, below=0.05),
            _differences(settings, "docstring", (P_AVG,)),
        ),
    )  # fmt: skip
    return tuple(claim_of(name, claim, printed, rule, which, cells) for name, claim, printed, rule, which in wanted)


def _scaled(at: Settings, measures: Sequence[str], score: str) -> Wanted:
    """The score of each measure, scaled by project, in each setting."""
    tables = {"tests_pass": "T6", "exact_match": "T7"}
    return [
        (f"{task} {label_of(m)}", f"{tables[event]}/{event}/{task}/{BASE_ARM}/{m}/project/{score}")
        for (task, event), m in product(at, measures)
    ]


def _differences(at: Settings, name: str, measures: Sequence[str]) -> Wanted:
    """The difference of this name of each measure in each setting."""
    return [(f"{task} {label_of(m)}", f"D/{task}/{BASE_ARM}/{event}/{name}/{m}") for (task, event), m in product(at, measures)]


def event_of(cells: Mapping[str, Cell], task: str) -> Event:
    """The event that a task is judged by: passing tests where it has such labels, else exact match."""
    rate = cells.get(f"T2/{task}/{BASE_ARM}/tests_pass")
    return "tests_pass" if rate is not None and rate.value is not None else "exact_match"

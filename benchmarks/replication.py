"""Recompute what can be recomputed of Spiess et al., "Calibration and Correctness of Language Models for Code" (arXiv 2402.02047).

    python benchmarks/replication.py --data FOLDER

FOLDER holds cruxeval/cruxeval.jsonl (github.com/facebookresearch/cruxeval, data/) and cruxeval-model-outputs/*_output.json.gz (github.com/
crux-eval/crux-eval.github.io, evaluation_results/). Prints Markdown, which docs/replication.md explains. First: what closed forms and a
simulated world say of a Brier score, a skill score and an ECE at the sizes of the usual data sets. Then, from recorded answers of four runs
to the 800 output predictions of CRUXEval: how good the majority's share of votes is as a probability, before and after Platt scaling.

The figures of the recorded answers are those of the calibration study (offline_eval/calibration/recorded/); this script prints them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import harness
import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from assay.calibration.arrays import Floats, sigmoid
from assay.calibration.maps.platt import fit_platt
from assay.calibration.metrics.bins import ece_noise_floor
from assay.calibration.metrics.intervals import Interval
from assay.calibration.metrics.scores import reference_brier, skill
from assay.offline_eval.calibration.recorded.labelled import Votes, votes_of
from assay.offline_eval.calibration.recorded.scaling import SEED, Measured, change, platt_out_of_fold, random_folds, scores
from assay.offline_eval.recorded.formats import recorded
from assay.offline_eval.sets.problems import problems

BASE_RATES = (0.33, 0.72)
SKILLS = (0.05, 0.15, 0.30)
# Defects4J's one-line bugs, HumanEval, CRUXEval, MBPP, and two sizes beyond
SIZES = (120, 164, 800, 974, 2000, 5000)
TEST_SETS = 4000
# The title of a table and the table.
Titled = tuple[str, str]
# what the leaderboard in the README of github.com/facebookresearch/cruxeval (commit 10d71b4) says of CRUXEval-O: pass@1 of the run at
# temperature 0.2, pass@5 of that at 0.8
PUBLISHED = {
    "codellama-34b_temp0.2": (1, 42.4),
    "codellama-34b_temp0.8": (5, 55.9),
    "deepseek-instruct-33b_temp0.8": (5, 61.8),
    "gpt-3.5-turbo-0613+cot_temp0.8": (5, 76.7),
}


@dataclass(frozen=True, slots=True)
class World:
    """A calibrated forecaster: log odds normal with this centre and spread, and the event drawn with the probability that was said."""

    centre: float
    spread: float

    @classmethod
    def of(cls, base_rate: float, skill: float) -> World:
        """The one with this base rate p̄ and this expected skill score, Var q / (p̄ (1 - p̄)) for a calibrated q."""

        def centre(spread: float) -> float:
            return float(brentq(lambda c: cls(c, spread).quantiles(4000).mean() - base_rate, -60, 60))

        def excess(spread: float) -> float:
            return float(cls(centre(spread), spread).quantiles(4000).var() / (base_rate * (1 - base_rate)) - skill)

        spread = float(brentq(excess, 1e-3, 20))
        return cls(centre(spread), spread)

    def quantiles(self, n: int) -> Floats:
        """n equally likely probabilities, lowest first: means over them are expectations."""
        return sigmoid(self.centre + self.spread * norm.ppf((np.arange(n) + 0.5) / n))

    def auc(self) -> float:
        q = self.quantiles(4000)
        below = np.cumsum(1 - q) - (1 - q) / 2
        return float((q * below).sum() / (q.sum() * (1 - q).sum()))

    def skill_deviation(self) -> float:
        """√n times the standard deviation of the skill score of n samples, by the delta method.

        With B the mean of d = (q - y)² and R = p̄ (1 - p̄), the skill 1 - B / R moves with one sample by
        -(d - B) / R + B / R² · (1 - 2 p̄) (y - p̄).
        """
        q = self.quantiles(4000)
        rate, loss = q.mean(), (q * (1 - q)).mean()
        reference = rate * (1 - rate)

        def influence(y: float) -> Floats:
            return np.asarray(-((q - y) ** 2 - loss) / reference + loss / reference**2 * (1 - 2 * rate) * (y - rate))

        return float(np.sqrt((q * influence(1) ** 2 + (1 - q) * influence(0) ** 2).mean()))

    def half_width(self, n: int, test_sets: int = TEST_SETS) -> float:
        """Half of the range that the skill score of n samples is in for 95 % of simulated test sets."""
        rng = np.random.default_rng(SEED)
        found = []
        for _ in range(test_sets):
            q = sigmoid(rng.normal(self.centre, self.spread, n))
            found.append(skill(q, rng.random(n) < q))
        low, high = np.quantile(found, [0.025, 0.975])
        return float(high - low) / 2


def main() -> None:
    parser = harness.parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with cruxeval/ and cruxeval-model-outputs/")
    folder = parser.parse_args().data
    try:
        runs = recorded_runs(folder)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    for title, table in (closed_forms(), worlds(), *labels(runs), *before_and_after(runs), transfer(runs)):
        print(f"### {title}\n\n{table}\n")


def recorded_runs(folder: Path) -> list[Votes]:
    """Every run in the folder, by name. Raises FileNotFoundError for a missing file, ValueError for one that is not what it should be."""
    files = sorted((folder / "cruxeval-model-outputs").glob("*_output.json.gz"))
    asked = problems("cruxeval", folder / "cruxeval" / "cruxeval.jsonl")
    if not files:
        raise FileNotFoundError(f"no *_output.json.gz in {folder / 'cruxeval-model-outputs'}; see the head of this script")
    if len({problem.prompt.partition("\nassert ")[0] for problem in asked}) != len(asked):
        raise ValueError("CRUXEval asks about a function twice: functions are taken as independent here, so these would need a group")
    return [votes_of(recorded(file), asked) for file in files]


def closed_forms() -> Titled:
    rows = [(f"{rate:.2f}", f"{rate * (1 - rate):.4f}", f"{reference_brier(np.arange(10_000) < rate * 10_000):.4f}") for rate in BASE_RATES]
    return "Reference Brier score", harness.table(("base rate p̄", "p̄ (1 − p̄)", "`reference_brier` of 10,000 labels"), rows, names=0)


def worlds() -> Titled:
    rows = []
    for rate in BASE_RATES:
        for value in SKILLS:
            world = World.of(rate, value)
            c = norm.ppf(0.975) * world.skill_deviation()
            cells = [f"±{world.half_width(n):.3f} ({ece_noise_floor(world.quantiles(n)):.3f})" for n in SIZES]
            rows.append((f"{rate:.2f}", f"{value:.2f}", f"{world.auc():.3f}", *cells, f"{c:.2f}", f"{math.ceil((c / value) ** 2):,}"))
    head = ("base rate", "skill", "AUC", *(f"n = {n:,}" for n in SIZES), "c / √n with c", "n for skill > 0")
    return "95 % half-width of a skill score, and the ECE of a perfect forecaster", harness.table(head, rows, names=0)


def labels(runs: list[Votes]) -> Iterator[Titled]:
    rows = []
    for run in runs:
        n = len(run.share.right)
        published = "pass@{} {} %".format(*PUBLISHED[run.name]) if run.name in PUBLISHED else "–"
        rows.append(
            (run.name, n, f"{run.drawn * n:,}", run.unparsed, run.relabelled, *(f"{run.pass_at(k):.2%}" for k in (1, 5)), published)
        )
    head = ("run", "functions", "answers", "no literal", "other label when executed", "pass@1", "pass@5", "published")
    yield "The labels", harness.table(head, rows)
    rows = []
    for run in runs:
        right, unanimous = run.share.right, run.share.raw == 1
        agreed = (unanimous.sum(), f"{right[unanimous].mean():.1%}" if unanimous.any() else "–")
        rows.append((run.name, f"{right.mean():.1%}", run.tied, f"{run.right_by_lot:.1%}", *agreed))
    head = ("run", "right", "ties", "right if ties fell by lot", "unanimous", "right where unanimous")
    yield "The majority's answer", harness.table(head, rows)


def before_and_after(runs: list[Votes]) -> Iterator[Titled]:
    shares, changes, maps = [], [], []
    for run in runs:
        measured = run.share
        before, after = measured.raw, platt_out_of_fold(measured, measured, random_folds(len(measured.right)))
        shares += [(run.name, "vote share", *figures(measured, before)), ("", "after Platt", *figures(measured, after))]
        changed = change(before, after, measured)
        changes.append((run.name, *(shown(found, "+.3f") for found in (changed.skill, changed.brier, changed.auc))))
        platt = fit_platt(measured.log_odds, measured.right)
        splits = [skill(platt_out_of_fold(measured, measured, random_folds(800, seed)), measured.right) for seed in range(20)]
        maps.append((run.name, f"{platt.intercept:.2f}", f"{platt.slopes[0]:.2f}", f"{min(splits):.3f} to {max(splits):.3f}"))
    head = ("run", "", "skill score", "Brier", "AUC", "calibration error", "ECE (perfect forecaster)", "said", "from", "to")
    yield "The vote share, before and after Platt scaling", harness.table(head, shares, names=2)
    yield "What Platt scaling changed, paired", harness.table(("run", "skill score", "Brier", "AUC"), changes)
    head = ("run", "intercept", "slope", "skill score")
    yield "The maps, and the skill score over 20 ways to draw the folds", harness.table(head, maps)


def transfer(runs: list[Votes]) -> Titled:
    rows = []
    for used_on in runs:
        measured = used_on.share
        y, fold = measured.right, random_folds(len(measured.right))
        own = platt_out_of_fold(measured, measured, fold)
        for fitted_on in runs:
            if fitted_on is used_on:
                continue
            p = platt_out_of_fold(fitted_on.share, measured, fold)
            found, lost, gained = scores(measured, "random folds", p).intervals, change(own, p, measured), change(measured.raw, p, measured)
            cells = (shown(found.skill), shown(lost.skill, "+.3f"), shown(gained.skill, "+.3f"), shown(found.calibration_error))
            rows.append((fitted_on.name, used_on.name, f"{p.mean():.1%}", f"{y.mean():.1%}", *cells))
    head = ("fitted on", "used on", "said", "seen", "skill score", "minus its own map's", "minus the vote share's", "calibration error")
    return "A map fitted on one run, used on another", harness.table(head, rows, names=2)


def figures(measured: Measured, p: Floats) -> tuple[str, ...]:
    told = scores(measured, "raw", p)
    found = told.intervals
    cells = (shown(each) for each in (found.skill, found.brier, found.auc, found.calibration_error))
    return (*cells, f"{told.ece:.3f} ({told.ece_floor:.3f})", f"{told.said:.1%}", f"{p.min():.3f}", f"{p.max():.3f}")


def shown(interval: Interval | None, form: str = ".3f") -> str:
    return "–" if interval is None else f"{interval.value:{form}} ({interval.low:{form}} to {interval.high:{form}})"


if __name__ == "__main__":
    main()

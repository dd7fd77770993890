"""Recompute what can be recomputed of Spiess et al., "Calibration and Correctness of Language Models for Code" (arXiv 2402.02047).

    python benchmarks/replication.py --data FOLDER

FOLDER holds cruxeval/cruxeval.jsonl (github.com/facebookresearch/cruxeval, data/) and cruxeval-model-outputs/*_output.json.gz (github.com/
crux-eval/crux-eval.github.io, evaluation_results/). Prints Markdown, which docs/replication.md explains. First: what closed forms and a
simulated world say of a Brier score, a skill score and an ECE at the sizes of the usual data sets. Then, from recorded answers of four runs
to the 800 output predictions of CRUXEval: how good the majority's share of votes is as a probability, before and after Platt scaling.

The figures of the recorded answers are those of the calibration study (offline_eval/calibration/recorded/); this script prints them all.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
    parser = argparse.ArgumentParser(description="Replicate the statistics of Spiess et al. (arXiv 2402.02047), as far as they can be.")
    parser.add_argument("--data", type=Path, required=True, help="folder with cruxeval/ and cruxeval-model-outputs/")
    folder = parser.parse_args().data
    try:
        runs = recorded_runs(folder)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    for line in (*closed_forms(), *worlds(), *labels(runs), *before_and_after(runs), *transfer(runs)):
        print(line)


def recorded_runs(folder: Path) -> list[Votes]:
    """Every run in the folder, by name. Raises FileNotFoundError for a missing file, ValueError for one that is not what it should be."""
    files = sorted((folder / "cruxeval-model-outputs").glob("*_output.json.gz"))
    asked = problems("cruxeval", folder / "cruxeval" / "cruxeval.jsonl")
    if not files:
        raise FileNotFoundError(f"no *_output.json.gz in {folder / 'cruxeval-model-outputs'}; see the head of this script")
    if len({problem.prompt.partition("\nassert ")[0] for problem in asked}) != len(asked):
        raise ValueError("CRUXEval asks about a function twice: functions are taken as independent here, so these would need a group")
    return [votes_of(recorded(file), asked) for file in files]


def closed_forms() -> Iterator[str]:
    yield "### Reference Brier score\n"
    yield "| base rate p̄ | p̄ (1 − p̄) | `reference_brier` of 10,000 labels |\n|---:|---:|---:|"
    for rate in BASE_RATES:
        yield f"| {rate:.2f} | {rate * (1 - rate):.4f} | {reference_brier(np.arange(10_000) < rate * 10_000):.4f} |"


def worlds() -> Iterator[str]:
    yield "\n### 95 % half-width of a skill score, and the ECE of a perfect forecaster\n"
    yield "| base rate | skill | AUC | " + " | ".join(f"n = {n:,}" for n in SIZES) + " | c / √n with c | n for skill > 0 |"
    yield "|---:|---:|---:|" + "---:|" * (len(SIZES) + 2)
    for rate in BASE_RATES:
        for value in SKILLS:
            world = World.of(rate, value)
            c = norm.ppf(0.975) * world.skill_deviation()
            cells = " | ".join(f"±{world.half_width(n):.3f} ({ece_noise_floor(world.quantiles(n)):.3f})" for n in SIZES)
            yield f"| {rate:.2f} | {value:.2f} | {world.auc():.3f} | {cells} | {c:.2f} | {math.ceil((c / value) ** 2):,} |"


def labels(runs: list[Votes]) -> Iterator[str]:
    yield "\n### The labels\n"
    yield "| run | functions | answers | no literal | other label when executed | pass@1 | pass@5 | published |\n|---|" + "---:|" * 7
    for run in runs:
        n = len(run.share.right)
        counts = f"{n} | {run.drawn * n:,} | {run.unparsed} | {run.relabelled}"
        published = "pass@{} {} %".format(*PUBLISHED[run.name]) if run.name in PUBLISHED else "–"
        yield f"| {run.name} | {counts} | {run.pass_at(1):.2%} | {run.pass_at(5):.2%} | {published} |"
    yield "\n### The majority's answer\n"
    yield "| run | right | ties | right if ties fell by lot | unanimous | right where unanimous |\n|---|" + "---:|" * 5
    for run in runs:
        right, unanimous = run.share.right, run.share.raw == 1
        agreed = f"{unanimous.sum()} | {right[unanimous].mean():.1%}" if unanimous.any() else "0 | –"
        yield f"| {run.name} | {right.mean():.1%} | {run.tied} | {run.right_by_lot:.1%} | {agreed} |"


def before_and_after(runs: list[Votes]) -> Iterator[str]:
    yield "\n### The vote share, before and after Platt scaling\n"
    yield "| run | | skill score | Brier | AUC | calibration error | ECE (perfect forecaster) | said | from | to |"
    yield "|---|---|:---:|:---:|:---:|:---:|:---:|---:|---:|---:|"
    changes, maps = [], []
    for run in runs:
        measured = run.share
        before, after = measured.raw, platt_out_of_fold(measured, measured, random_folds(len(measured.right)))
        yield f"| {run.name} | vote share | {figures(measured, before)} |"
        yield f"| | after Platt | {figures(measured, after)} |"
        changed = change(before, after, measured)
        changes.append(f"| {run.name} | {' | '.join(shown(found, '+.3f') for found in (changed.skill, changed.brier, changed.auc))} |")
        platt = fit_platt(measured.log_odds, measured.right)
        splits = [skill(platt_out_of_fold(measured, measured, random_folds(800, seed)), measured.right) for seed in range(20)]
        maps.append(f"| {run.name} | {platt.intercept:.2f} | {platt.slopes[0]:.2f} | {min(splits):.3f} to {max(splits):.3f} |")
    yield "\n### What Platt scaling changed, paired\n"
    yield "| run | skill score | Brier | AUC |\n|---|:---:|:---:|:---:|"
    yield from changes
    yield "\n### The maps, and the skill score over 20 ways to draw the folds\n"
    yield "| run | intercept | slope | skill score |\n|---|---:|---:|:---:|"
    yield from maps


def transfer(runs: list[Votes]) -> Iterator[str]:
    yield "\n### A map fitted on one run, used on another\n"
    yield "| fitted on | used on | said | seen | skill score | minus its own map's | minus the vote share's | calibration error |"
    yield "|---|---|---:|---:|:---:|:---:|:---:|:---:|"
    for used_on in runs:
        measured = used_on.share
        y, fold = measured.right, random_folds(len(measured.right))
        own = platt_out_of_fold(measured, measured, fold)
        for fitted_on in runs:
            if fitted_on is used_on:
                continue
            p = platt_out_of_fold(fitted_on.share, measured, fold)
            found, lost, gained = scores(measured, "random folds", p).intervals, change(own, p, measured), change(measured.raw, p, measured)
            yield (
                f"| {fitted_on.name} | {used_on.name} | {p.mean():.1%} | {y.mean():.1%} | {shown(found.skill)} | "
                f"{shown(lost.skill, '+.3f')} | {shown(gained.skill, '+.3f')} | {shown(found.calibration_error)} |"
            )


def figures(measured: Measured, p: Floats) -> str:
    told = scores(measured, "raw", p)
    found = told.intervals
    cells = [shown(found.skill), shown(found.brier), shown(found.auc), shown(found.calibration_error)]
    return " | ".join([*cells, f"{told.ece:.3f} ({told.ece_floor:.3f})", f"{told.said:.1%}", f"{p.min():.3f}", f"{p.max():.3f}"])


def shown(interval: Interval | None, form: str = ".3f") -> str:
    return "–" if interval is None else f"{interval.value:{form}} ({interval.low:{form}} to {interval.high:{form}})"


if __name__ == "__main__":
    main()

"""Recompute what can be recomputed of Spiess et al., "Calibration and Correctness of Language Models for Code" (arXiv 2402.02047).

    python benchmarks/replication.py --data FOLDER

FOLDER holds cruxeval/cruxeval.jsonl (github.com/facebookresearch/cruxeval, data/) and cruxeval-model-outputs/*_output.json.gz (github.com/
crux-eval/crux-eval.github.io, evaluation_results/). Prints Markdown, which docs/replication.md explains. First: what closed forms and a
simulated world say of a Brier score, a skill score and an ECE at the sizes of the usual data sets. Then, from recorded answers of four runs
to the 800 output predictions of CRUXEval: how good the majority's share of votes is as a probability, before and after Platt scaling.

Nothing that a model wrote is executed. An answer is right if it is a Python literal equal to the recorded output.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import math
import warnings
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

from assay.calibration.arrays import Floats, sigmoid
from assay.calibration.maps.platt import fit_platt
from assay.calibration.metrics.bins import ece, ece_noise_floor
from assay.calibration.metrics.intervals import Interval, Intervals, PairedIntervals, intervals, paired
from assay.calibration.metrics.scores import reference_brier, skill

FOLDS, SEED = 5, 0
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


@dataclass(frozen=True, slots=True)
class Run:
    """The recorded answers of one model at one temperature, a row per function.

    drawn: answers per function. votes: (n,), how many of them are the majority's answer; right: (n,), whether that one is; right_answers:
    (n,), how many of all are. tied: functions where another answer had as many votes; right_by_lot: share of functions that would be right
    if such ties were drawn by lot. unparsed: answers that are no literal. relabelled: answers that the recorded evaluation, which executed
    them, labels otherwise.
    """

    name: str
    drawn: int
    votes: NDArray[np.intp]
    right: NDArray[np.bool_]
    right_answers: NDArray[np.intp]
    tied: int
    right_by_lot: float
    unparsed: int
    relabelled: int

    @property
    def share(self) -> Floats:
        return self.votes / self.drawn

    @property
    def log_odds(self) -> Floats:
        """(n, 1): log((k + ½) / (m - k + ½)) of k votes in m, finite for m of m.

        The empirical logit (Cox & Snell 1989, Analysis of binary data): of all log((k + a) / (m - k + a)), a = ½ alone has no bias of order
        1 / m. It is also the log odds of (k + ½) / (m + 1), the mean of the posterior under Jeffreys' prior.
        """
        return np.asarray(np.log((self.votes + 0.5) / (self.drawn - self.votes + 0.5)))[:, None]

    def pass_at(self, k: int) -> float:
        """Share of functions that one of k answers gets right, unbiased (Chen et al. 2021, eq. 1)."""
        return float(np.mean([1 - math.comb(self.drawn - c, k) / math.comb(self.drawn, k) for c in self.right_answers.tolist()]))


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


def recorded_runs(folder: Path) -> list[Run]:
    """Every run in the folder, by name. Raises FileNotFoundError for a missing file, ValueError for one that is not what it should be."""
    truth_file = folder / "cruxeval" / "cruxeval.jsonl"
    files = sorted((folder / "cruxeval-model-outputs").glob("*_output.json.gz"))
    if not truth_file.is_file():
        raise FileNotFoundError(f"{truth_file} is missing; see the head of this script for what the folder holds and where it is from")
    if not files:
        raise FileNotFoundError(f"no *_output.json.gz in {folder / 'cruxeval-model-outputs'}; see the head of this script")
    rows = [json.loads(line) for line in truth_file.read_text(encoding="utf-8").splitlines()]
    truth = {row["id"]: row["output"] for row in rows}
    if len({row["code"] for row in rows}) != len(rows):
        raise ValueError(f"{truth_file} asks about a function twice: functions are taken as independent here, so these would need a group")
    return [run_of(file.name.removesuffix("_output.json.gz"), truth, json.loads(gzip.decompress(file.read_bytes()))) for file in files]


def run_of(name: str, truth: dict[str, str], recorded: dict[str, Any]) -> Run:
    """The answers of one file, judged. Raises ValueError where a function has no answers or another number of them."""
    answers, labelled = recorded["raw_generations"], recorded["raw_scored_generations"]
    drawn = len(next(iter(answers.values())))
    votes, right, right_answers, right_by_lot = [], [], [], []
    tied = unparsed = relabelled = 0
    for task, output in truth.items():
        if len(answers.get(task, ())) != drawn:
            raise ValueError(f"{name} has {len(answers.get(task, ()))} answers to {task} and {drawn} to others")
        wanted = literal(output)
        if wanted is None:
            raise ValueError(f"the recorded output of {task} is no literal: {output}")
        values = [literal(answer) for answer in answers[task]]
        happened = [value == wanted for value in values]
        # what can't be parsed is an answer of its own, by its text, and never right; of a tie the earliest recorded answer wins
        ballots = Counter(("text", text.strip()) if value is None else value for value, text in zip(values, answers[task], strict=True))
        most = max(ballots.values())
        foremost = [value for value, number in ballots.items() if number == most]
        votes.append(most)
        right.append(foremost[0] == wanted)
        right_answers.append(sum(happened))
        right_by_lot.append((wanted in foremost) / len(foremost))
        tied += len(foremost) > 1
        unparsed += values.count(None)
        relabelled += sum(label != was for label, was in zip(happened, labelled[task], strict=True))
    lot = float(np.mean(right_by_lot))
    return Run(name, drawn, np.array(votes), np.array(right), np.array(right_answers), tied, lot, unparsed, relabelled)


def literal(text: str) -> Hashable | None:
    """What the text says as a Python literal, as something hashable that is equal where `==` holds; None where it is no literal."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            return hashable(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def hashable(value: Any) -> Hashable:
    match value:
        case list() | tuple():
            return (type(value).__name__, tuple(map(hashable, value)))
        case set():
            return ("set", frozenset(map(hashable, value)))
        case dict():
            return ("dict", frozenset((hashable(key), hashable(held)) for key, held in value.items()))
    return ("value", value)


def folds(n: int, seed: int = SEED) -> NDArray[np.intp]:
    """(n,): the fold of each function, drawn at random, the same for every run."""
    return np.asarray(np.random.default_rng(seed).permutation(n) % FOLDS)


def platt_out_of_fold(fitted_on: Run, used_on: Run, fold: NDArray[np.intp]) -> Floats:
    """Probabilities (n,) of one run from maps fitted on another, or on itself: no function is judged by a map that has seen it."""
    p = np.empty(len(fold))
    for held_out in range(FOLDS):
        seen, unseen = fold != held_out, fold == held_out
        p[unseen] = sigmoid(fit_platt(fitted_on.log_odds[seen], fitted_on.right[seen]).log_odds(used_on.log_odds[unseen]))
    return p


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


def labels(runs: list[Run]) -> Iterator[str]:
    yield "\n### The labels\n"
    yield "| run | functions | answers | no literal | other label when executed | pass@1 | pass@5 | published |\n|---|" + "---:|" * 7
    for run in runs:
        counts = f"{len(run.right)} | {run.drawn * len(run.right):,} | {run.unparsed} | {run.relabelled}"
        published = "pass@{} {} %".format(*PUBLISHED[run.name]) if run.name in PUBLISHED else "–"
        yield f"| {run.name} | {counts} | {run.pass_at(1):.2%} | {run.pass_at(5):.2%} | {published} |"
    yield "\n### The majority's answer\n"
    yield "| run | right | ties | right if ties fell by lot | unanimous | right where unanimous |\n|---|" + "---:|" * 5
    for run in runs:
        unanimous = run.votes == run.drawn
        agreed = f"{unanimous.sum()} | {run.right[unanimous].mean():.1%}" if unanimous.any() else "0 | –"
        yield f"| {run.name} | {run.right.mean():.1%} | {run.tied} | {run.right_by_lot:.1%} | {agreed} |"


def before_and_after(runs: list[Run]) -> Iterator[str]:
    yield "\n### The vote share, before and after Platt scaling\n"
    yield "| run | | skill score | Brier | AUC | calibration error | ECE (perfect forecaster) | said | from | to |"
    yield "|---|---|:---:|:---:|:---:|:---:|:---:|---:|---:|---:|"
    changes, maps = [], []
    for run in runs:
        fold = folds(len(run.right))
        before, after = run.share, platt_out_of_fold(run, run, fold)
        yield f"| {run.name} | vote share | {figures(before, run.right)} |"
        yield f"| | after Platt | {figures(after, run.right)} |"
        changed = change(before, after, run.right)
        changes.append(f"| {run.name} | {' | '.join(shown(found, '+.3f') for found in (changed.skill, changed.brier, changed.auc))} |")
        platt = fit_platt(run.log_odds, run.right)
        splits = [skill(platt_out_of_fold(run, run, folds(len(run.right), seed)), run.right) for seed in range(20)]
        maps.append(f"| {run.name} | {platt.intercept:.2f} | {platt.slopes[0]:.2f} | {min(splits):.3f} to {max(splits):.3f} |")
    yield "\n### What Platt scaling changed, paired\n"
    yield "| run | skill score | Brier | AUC |\n|---|:---:|:---:|:---:|"
    yield from changes
    yield "\n### The maps, and the skill score over 20 ways to draw the folds\n"
    yield "| run | intercept | slope | skill score |\n|---|---:|---:|:---:|"
    yield from maps


def transfer(runs: list[Run]) -> Iterator[str]:
    yield "\n### A map fitted on one run, used on another\n"
    yield "| fitted on | used on | said | seen | skill score | minus its own map's | minus the vote share's | calibration error |"
    yield "|---|---|---:|---:|:---:|:---:|:---:|:---:|"
    for used_on in runs:
        y, fold = used_on.right, folds(len(used_on.right))
        own = platt_out_of_fold(used_on, used_on, fold)
        for fitted_on in runs:
            if fitted_on is used_on:
                continue
            p = platt_out_of_fold(fitted_on, used_on, fold)
            found, lost, gained = judged(p, y), change(own, p, y), change(used_on.share, p, y)
            yield (
                f"| {fitted_on.name} | {used_on.name} | {p.mean():.1%} | {y.mean():.1%} | {shown(found.skill)} | "
                f"{shown(lost.skill, '+.3f')} | {shown(gained.skill, '+.3f')} | {shown(found.calibration_error)} |"
            )


def judged(p: Floats, y: NDArray[np.bool_]) -> Intervals:
    return intervals(bounded(p), y, np.arange(len(y)))


def change(before: Floats, after: Floats, y: NDArray[np.bool_]) -> PairedIntervals:
    return paired(bounded(before), bounded(after), y, np.arange(len(y)))


def bounded(p: Floats) -> Floats:
    """A share of 10 in 10 that is wrong has an infinite log loss, which intervals refuse; nothing else feels a bound this far out."""
    return p.clip(1e-9, 1 - 1e-9)


def figures(p: Floats, y: NDArray[np.bool_]) -> str:
    found = judged(p, y)
    cells = [shown(found.skill), shown(found.brier), shown(found.auc), shown(found.calibration_error)]
    return " | ".join([*cells, f"{ece(p, y):.3f} ({ece_noise_floor(p):.3f})", f"{p.mean():.1%}", f"{p.min():.3f}", f"{p.max():.3f}"])


def shown(interval: Interval | None, form: str = ".3f") -> str:
    return "–" if interval is None else f"{interval.value:{form}} ({interval.low:{form}} to {interval.high:{form}})"


if __name__ == "__main__":
    main()

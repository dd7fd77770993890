"""Streams of samples: how close online Platt scaling stays to the truth, and how often and how soon the drift alarm is raised.

    python benchmarks/online.py [--worlds N] [--streams N] [--workers N] [--samples FILE …]

Prints the tables of docs/drift.md. Everything is scored on samples that were not learned from: predict, then update.

Worlds: total_logprob is minus a lognormal (0.3, 1.1), as `measures.enter` gives it, and the event's log odds are 0.5 + 0.7 of that, or
what a scenario makes of it. Each world has a Platt map fitted to 300 samples from before any change. "As published" is OPS from that map
with A_0 = 100 · I, and TOPS with the mean of y in its bins; what is ours is described in calibration/fitting/online.py.

Real streams: samples in the order of their projects (files of `assay eval calibration`), which are not part of the repository. Without
--samples there are none, and that is said.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from machine import described  # noqa: E402

from assay.calibration.arrays import Floats, sigmoid  # noqa: E402
from assay.calibration.fitting import online  # noqa: E402
from assay.calibration.maps.platt import PlattMap, fit_platt  # noqa: E402
from assay.calibration.measures.registry import enter  # noqa: E402
from assay.calibration.metrics.bins import equal_mass, wilson  # noqa: E402
from assay.calibration.monitoring import drift  # noqa: E402
from assay.calibration.samples import read_samples  # noqa: E402

Labels = NDArray[np.bool_]
Stream = tuple[Floats, Labels, Floats]  # x, y, true probability
FITTED_ON = 300
REFIT_EVERY = 100
HALF_LIFE = 1000
BLOCK = 1000
N = 20_000
FORECASTERS = ("fixed", "refitted", "OPS", "TOPS", "mixture", "mixture, half-life 1,000", "OPS as published", "TOPS as published")
SCENARIOS = ("stationary", "abrupt", "slow", "label shift", "another shape")


def drawn(rng: np.random.Generator, n: int) -> Floats:
    return enter("total_logprob", -rng.lognormal(0.3, 1.1, n))


def log_odds(x: Floats) -> Floats:
    return 0.5 + 0.7 * x


def another_shape(x: Floats) -> Floats:
    """A step with a slope on it, which no Platt map is near to."""
    return 0.15 + 0.6 * (log_odds(x) > 0) + 0.1 * sigmoid(log_odds(x))


def scenario_stream(scenario: str, rng: np.random.Generator) -> Stream:
    """abrupt: log odds 1 lower from the middle on; slow: 1.5 lower in the end; label shift: p(x | y) as before, base rate 0.2."""
    late = np.arange(N) >= N // 2
    if scenario == "label shift":
        pool = drawn(rng, 10 * N)
        happened = rng.random(len(pool)) < sigmoid(log_odds(pool))
        base_rate = happened.mean()
        y = rng.random(N) < np.where(late, 0.2, base_rate)
        x = np.where(y, rng.choice(pool[happened], N), rng.choice(pool[~happened], N))
        return x, y, sigmoid(log_odds(x) + late * (np.log(0.2 / 0.8) - np.log(base_rate / (1 - base_rate))))
    x = drawn(rng, N)
    change = {"stationary": 0.0 * late, "abrupt": -1.0 * late, "slow": -1.5 * np.arange(N) / N, "another shape": 0.0 * late}[scenario]
    truth = another_shape(x) if scenario == "another shape" else sigmoid(log_odds(x) + change)
    return x, rng.random(N) < truth, truth


def fitted(scenario: str, rng: np.random.Generator, n: int = FITTED_ON) -> tuple[PlattMap, Floats, Labels]:
    x = drawn(rng, n)
    y = rng.random(n) < (another_shape(x) if scenario == "another shape" else sigmoid(log_odds(x)))
    return fit_platt(x[:, None], y), x, y


def followed(state: online.OnlinePlatt, x: Floats, y: Labels) -> Floats:
    """(n, 4): start, OPS, TOPS and the mixture, each before it learned of the sample."""
    said = np.empty((len(x), 4))
    for i, (value, happened) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        each = online.forecasts(state, [value])
        said[i] = each.start, each.ops, each.tops, online.probability(state, [value])
        state = online.update(state, [value], happened)
    return said


def refitted(x: Floats, y: Labels, x_0: Floats, y_0: Labels) -> Floats:
    """A Platt map to all samples so far, anew after every REFIT_EVERY."""
    all_x, all_y, said = np.concatenate([x_0, x]), np.concatenate([y_0, y]), np.empty(len(x))
    for first in range(0, len(x), REFIT_EVERY):
        known = len(x_0) + first
        here = slice(first, first + REFIT_EVERY)
        said[here] = sigmoid(fit_platt(all_x[:known, None], all_y[:known]).log_odds(x[here, None]))
    return np.clip(said, 1 / (len(x_0) + 2), 1 - 1 / (len(x_0) + 2))


def tracked(p: Floats, y: Labels, n: int) -> Floats:
    """TOPS as published: the mean of earlier y in the bin of p, the bin's middle while there is none."""
    said = np.empty(len(p))
    index = np.minimum((p * online.BINS).astype(int), online.BINS - 1)
    for b in range(online.BINS):
        here = y[index == b]
        before = np.arange(len(here))
        said[index == b] = np.where(before, (np.cumsum(here) - here) / np.maximum(before, 1), (b + 0.5) / online.BINS)
    return np.clip(said, 1 / (n + 2), 1 - 1 / (n + 2))


def all_forecasts(platt: PlattMap, x_0: Floats, y_0: Labels, x: Floats, y: Labels) -> Floats:
    """(n, forecasters) in the order of FORECASTERS."""
    n = len(x_0)
    begin = partial(online.start, platt.intercept, platt.slopes, platt.covariance, n)
    published = replace(begin(), a_0=((100.0, 0.0), (0.0, 100.0)), a=((100.0, 0.0), (0.0, 100.0)))
    own, with_half_life, theirs = followed(begin(), x, y), followed(begin(half_life=HALF_LIFE), x, y), followed(published, x, y)
    fixed, ops, tops, mixture = own.T
    columns = [fixed, refitted(x, y, x_0, y_0), ops, tops, mixture, with_half_life[:, 3], theirs[:, 1], tracked(theirs[:, 1], y, n)]
    return np.column_stack(columns)


def calibration_error(p: Floats, truth: Floats) -> float:
    """Root mean square of mean p - mean truth over 10 bins of equal mass: against the truth, so without the noise of the outcomes."""
    index = equal_mass(p)
    return float(np.sqrt((np.bincount(index, p - truth) ** 2 / np.bincount(index)).sum() / len(p)))


def one_world(scenario: str, seed: int) -> Floats:
    """(forecasters, 4): excess log loss of the first block, of all and of the last block; calibration error, the mean of all blocks."""
    rng = np.random.default_rng([SCENARIOS.index(scenario), seed])
    platt, x_0, y_0 = fitted(scenario, rng)
    x, y, truth = scenario_stream(scenario, rng)
    said = all_forecasts(platt, x_0, y_0, x, y)
    q = truth[:, None]
    excess = q * np.log(q / said) + (1 - q) * np.log((1 - q) / (1 - said))
    blocks = [slice(first, first + BLOCK) for first in range(0, N, BLOCK)]
    errors = [[calibration_error(p[block], truth[block]) for block in blocks] for p in said.T]
    return np.column_stack([excess[:BLOCK].mean(0), excess.mean(0), excess[-BLOCK:].mean(0), np.mean(errors, axis=1)])


def print_forecasters(pool: Executor, worlds: int) -> None:
    found = {scenario: np.array(list(pool.map(partial(one_world, scenario), range(worlds)))) for scenario in SCENARIOS}
    for title, column, scale, form in (
        ("Log loss above the truth's, 1e-4 nats per sample, all 20,000 samples (largest of all worlds)", 1, 1e4, "{:.0f}"),
        ("The same, first 1,000 samples", 0, 1e4, "{:.0f}"),
        ("The same, last 1,000 samples", 2, 1e4, "{:.0f}"),
        ("Calibration error against the truth in blocks of 1,000, root mean square", 3, 1.0, "{:.3f}"),
    ):
        print(f"\n{title}; {worlds} worlds\n\n| | {' | '.join(SCENARIOS)} |\n|:---|{'---:|' * len(SCENARIOS)}")
        for row, name in enumerate(FORECASTERS):
            values = [found[scenario][:, row, column] * scale for scenario in SCENARIOS]
            cells = [form.format(v.mean()) + (f" ({form.format(v.max())})" if column == 1 else "") for v in values]
            print(f"| {name} | {' | '.join(cells)} |")


Claim = Callable[[np.random.Generator, int], tuple[Floats, Floats]]  # probabilities said, true log odds


def said_by_a_fit(rng: np.random.Generator, n: int, fitted_on: int) -> tuple[Floats, Floats]:
    platt, *_ = fitted("stationary", rng, fitted_on)
    x = drawn(rng, n)
    return np.clip(sigmoid(platt.log_odds(x[:, None])), 1 / (fitted_on + 2), 1 - 1 / (fitted_on + 2)), log_odds(x)


def off_by(rng: np.random.Generator, n: int, shift: float, intercept: float = 0.0) -> tuple[Floats, Floats]:
    z = log_odds(drawn(rng, n)) + intercept
    return sigmoid(z), z + shift


def of_projects(rng: np.random.Generator, n: int, sd: float, projects: int, in_order: bool) -> tuple[Floats, Floats]:
    z = log_odds(drawn(rng, n))
    project = np.arange(n) * projects // n if in_order else rng.integers(projects, size=n)
    return sigmoid(z), z + rng.normal(0, sd, projects)[project]


CLAIMS: dict[str, Claim] = {
    "what is said is true, base rate 0.42": partial(off_by, shift=0.0),
    "what is said is true, base rate 0.11": partial(off_by, shift=0.0, intercept=-2.2),
    "all 0.25 too high in log odds": partial(off_by, shift=-0.25),
    "all 0.25 too low in log odds": partial(off_by, shift=0.25),
    **{f"said by a map fitted to {n:,} samples": partial(said_by_a_fit, fitted_on=n) for n in (300, 1000, 3000)},
    **{
        f"projects differ by {sd} in log odds (sd), {how}": partial(of_projects, sd=sd, projects=projects, in_order=in_order)
        for sd in (0.15, 0.3, 0.5)
        for how, projects, in_order in (
            ("40 in random order", 40, False),
            ("40 in order, 125 samples each", 40, True),
            ("one project", 1, True),
        )
    },
}


def one_claim(name: str, tolerance: float, seed: int) -> bool:
    rng = np.random.default_rng([list(CLAIMS).index(name), seed])
    p, z = CLAIMS[name](rng, 5000)
    return drift.watch(drift.start(tolerance=tolerance), p, rng.random(5000) < sigmoid(z)).raised is not None


def print_false_alarms(pool: Executor, streams: int) -> None:
    tolerances = (drift.TOLERANCE, 0.6)
    print(f"\nShare of streams of 5,000 with an alarm at alpha = 0.01 (95 % Wilson interval); {streams:,} streams\n")
    print(f"| | {' | '.join(f'tolerance {tolerance}' for tolerance in tolerances)} |\n|:---|{'---:|' * len(tolerances)}")
    for name in CLAIMS:
        cells = []
        for tolerance in tolerances:
            raised = sum(pool.map(partial(one_claim, name, tolerance), range(streams), chunksize=20))
            low, high = wilson(raised, streams)
            cells.append(f"{raised / streams:.2%} ({low:.2%} to {high:.2%})")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


CHANGES = {"-0.5": (-0.5, 1.0), "-1": (-1.0, 1.0), "+1": (1.0, 1.0), "-2": (-2.0, 1.0), "times 0.5": (0.0, 0.5), "times 2": (0.0, 2.0)}
LENGTH = 10_000


def one_change(change: str, intercept: float, onset: int, seed: int) -> tuple[float, float, float, float]:
    """Delay in samples (inf: no alarm), error of `since`, and whether (1 or 0) the direction is right and the interval holds the size."""
    shift, slope = CHANGES[change]
    rng = np.random.default_rng([list(CHANGES).index(change), onset, seed])
    z = log_odds(drawn(rng, LENGTH)) + intercept
    y = rng.random(LENGTH) < sigmoid(np.where(np.arange(LENGTH) >= onset, shift + slope * z, z))
    found = drift.alarm(drift.watch(drift.start(), sigmoid(z), y))
    if found is None:
        return np.inf, np.nan, np.nan, np.nan
    right = {"too_high": shift < 0, "too_low": shift > 0, "too_extreme": slope < 1, "too_timid": slope > 1}[found.direction]
    size = slope if slope != 1 else abs(shift)
    held = float(found.low <= size <= found.high) if right else np.nan
    return float(found.raised - onset), float(found.since - 1 - onset), float(right), held


def print_delays(pool: Executor, streams: int) -> None:
    print(f"\nSamples from the change to the alarm: median (90 % quantile) of {streams:,} streams of {LENGTH:,}, alpha = 0.01\n")
    print("| log odds | base rate | from the start | from 1,000 on | from 4,000 on | direction right | `since` is off by | size held |")
    print(f"|:---|{'---:|' * 7}")
    for (base_rate, intercept), change in product(((0.42, 0.0), (0.11, -2.2)), CHANGES):
        cells, rest = [], []
        for onset in (0, 1000, 4000):
            rows = np.array(list(pool.map(partial(one_change, change, intercept, onset), range(streams), chunksize=10)))
            rows[rows[:, 0] < 0] = np.inf, np.nan, np.nan, np.nan
            middle, most = (f"{q:,.0f}" if np.isfinite(q) else "none" for q in np.quantile(rows[:, 0], [0.5, 0.9], method="lower"))
            cells.append(f"{middle} ({most})")
            rest.append(rows)
        _, since, right, covered = np.concatenate(rest).T
        summary = f"{np.nanmean(right):.0%} | {np.nanmedian(np.abs(since)):,.0f} | {np.nanmean(covered):.0%}"
        print(f"| {change} | {base_rate} | {' | '.join(cells)} | {summary} |", flush=True)


def real_stream(path: Path) -> Iterator[tuple[Floats, Labels, NDArray[np.intp]]]:
    """x, y and project of the samples of the first half of the projects, then of the second."""
    samples = [s for s in read_samples(path) if s.labels.get("exact_match") is not None and "total_logprob" in s.measures]
    names = list(dict.fromkeys(s.project for s in samples))
    for half in (names[: len(names) // 2], names[len(names) // 2 :]):
        chosen = [s for s in samples if s.project in half]
        x = enter("total_logprob", [s.measures["total_logprob"] for s in chosen])
        yield (
            x,
            np.array([s.labels["exact_match"] is True for s in chosen]),
            np.array([half.index(s.project) for s in chosen], dtype=np.intp),
        )


def print_real(paths: Sequence[Path]) -> None:
    there = [path for path in paths if path.is_file()]
    for path in paths:
        if path not in there:
            print(f"\n{path} is not there: left out")
    if not there:
        print("\nNo real stream: name files with --samples")
        return
    fits, streams = {}, {}
    print("\nReal streams: the map is fitted to the first half of the projects, the second half comes project by project. Log loss, nats\n")
    print(f"| | n, fitted | n, stream | {' | '.join(FORECASTERS)} |\n|:---|{'---:|' * (len(FORECASTERS) + 2)}")
    for path in there:
        (x_0, y_0, groups), (x, y, _) = real_stream(path)
        fits[path.stem], streams[path.stem] = (fit_platt(x_0[:, None], y_0, groups), len(y_0)), (x, y)
        said = all_forecasts(fits[path.stem][0], x_0, y_0, x, y)
        losses = -np.log(np.where(y[:, None], said, 1 - said)).mean(axis=0)
        print(f"| {path.stem} | {len(y_0):,} | {len(y):,} | {' | '.join(f'{loss:.4f}' for loss in losses)} |")
    print("\nThe alarm on them, alpha = 0.01: highest e-value, and the sample at which it was raised\n")
    print(f"| map of ↓, samples of → | {' | '.join(streams)} |\n|:---|{'---:|' * len(streams)}")
    for name, (platt, n) in fits.items():
        cells = []
        for x, y in streams.values():
            state = drift.watch(drift.start(), np.clip(sigmoid(platt.log_odds(x[:, None])), 1 / (n + 2), 1 - 1 / (n + 2)), y)
            found = drift.alarm(state)
            seen = f", alarm at {found.raised:,}: {found.direction} by {found.size:.2f}" if found else ""
            cells.append(f"{np.exp(state.log_highest):.3g}{seen}")
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description="Online Platt scaling and the drift alarm on streams of samples.")
    parser.add_argument("--worlds", type=int, default=200, help="worlds of each scenario for the forecasters (default: %(default)s)")
    parser.add_argument(
        "--streams", type=int, default=2000, help="streams for each rate of false alarms; a quarter for delays (default: %(default)s)"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--samples", nargs="*", type=Path, default=[], help="files of samples in the order of their projects")
    arguments = parser.parse_args()
    print(described("numpy"))
    print_real(arguments.samples)
    with ProcessPoolExecutor(arguments.workers) as pool:
        print_false_alarms(pool, arguments.streams)
        print_delays(pool, arguments.streams // 4)
        print_forecasters(pool, arguments.worlds)


if __name__ == "__main__":
    main()

"""The drift alarm on streams of samples: how often it is raised falsely, and how soon after a change.

    python benchmarks/drift.py [--streams N] [--workers N] [--samples FILE …]

Prints the tables of docs/drift.md.

Simulated streams: total_logprob is minus a lognormal (0.3, 1.1). The log odds of the event are 0.5 + 0.7 of that measure as it enters a
map, or what the row of the table makes of it.

Real streams: samples in the order of their projects (files of `assay eval calibration`). They are not part of the repository. Without
--samples there are none, and a line says so.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from machine import described  # noqa: E402

from assay.calibration.arrays import Floats, sigmoid  # noqa: E402
from assay.calibration.maps.platt import fit_platt  # noqa: E402
from assay.calibration.measures.registry import enter  # noqa: E402
from assay.calibration.metrics.bins import wilson  # noqa: E402
from assay.calibration.monitoring import drift  # noqa: E402
from assay.calibration.samples import read_samples  # noqa: E402

Labels = NDArray[np.bool_]


def drawn(rng: np.random.Generator, n: int) -> Floats:
    return enter("total_logprob", -rng.lognormal(0.3, 1.1, n))


def log_odds(x: Floats) -> Floats:
    return 0.5 + 0.7 * x


Claim = Callable[[np.random.Generator, int], tuple[Floats, Floats]]  # probabilities said, true log odds


def said_by_a_fit(rng: np.random.Generator, n: int, fitted_on: int) -> tuple[Floats, Floats]:
    seen = drawn(rng, fitted_on)
    platt = fit_platt(seen[:, None], rng.random(fitted_on) < sigmoid(log_odds(seen)))
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
    for path in there:
        (x_0, y_0, groups), (x, y, _) = real_stream(path)
        fits[path.stem], streams[path.stem] = (fit_platt(x_0[:, None], y_0, groups), len(y_0)), (x, y)
    print("\nReal streams: the map is fitted to the first half of the projects, the second half comes project by project.")
    print("The alarm on them, alpha = 0.01: highest e-value, and the sample at which it was raised\n")
    print(f"| map of ↓, samples of → | {' | '.join(f'{name}, n = {len(y):,}' for name, (_, y) in streams.items())} |")
    print(f"|:---|{'---:|' * len(streams)}")
    for name, (platt, n) in fits.items():
        cells = []
        for x, y in streams.values():
            state = drift.watch(drift.start(), np.clip(sigmoid(platt.log_odds(x[:, None])), 1 / (n + 2), 1 - 1 / (n + 2)), y)
            found = drift.alarm(state)
            seen = f", alarm at {found.raised:,}: {found.direction} by {found.size:.2f}" if found else ""
            cells.append(f"{np.exp(state.log_highest):.3g}{seen}")
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description="The drift alarm on streams of samples.")
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


if __name__ == "__main__":
    main()

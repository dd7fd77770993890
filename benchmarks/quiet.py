"""What the stops of the dial show and hide while somebody types: the tables of docs/dial.md, "Three stops".

    python benchmarks/quiet.py --sources FOLDER [--model FILE.gguf] [--files 20] [--characters 300]

An author (benchmarks/typing_trace.py) writes pieces of files back into projects that no model of Assay was trained on, beside
`assay serve` with everything shown. Each key waits for its answer, and nothing is accepted, so that neither the machine nor what is shown
decides what is written. What a stop shows is found afterwards, from the thresholds that the server takes for it. Nothing was logged before,
so these are those of the evidence.

*A suggestion* came by itself, and is one from when it appears until another takes its place, however many keys are typed along it. A stop
shows it if it does so at any of these keys. *Right*: the author wrote exactly that, up to the end of a line. Keys are those that type or
delete. Calibrators are fitted to places, each of which counts once, so their promise is about keys: right suggestions stay for many keys
and wrong ones for few. Intervals take projects as independent.

*Exploring*: suggestions are drawn from those of the trace and go through the server's own policy with `explore`; what was shown at random
estimates how many of the hidden are right. `covered`: how often the 95 % interval holds that. In an editor fewer have a label, for what is
ignored has none. Prints Markdown. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests"), str(ROOT / "tests" / "server")]

from assay_lsp import AssayServer, assay_server  # noqa: E402
from live import unpack, write_file  # noqa: E402
from machine import described, own_data_folder  # noqa: E402
from replay import Buffer, Key, Session  # noqa: E402
from typing_trace import SPEEDS, Author, Invoke, NoSources, Segment, segments, trace  # noqa: E402

from assay.calibration.bands import band_of  # noqa: E402
from assay.calibration.confidence import Confidence  # noqa: E402
from assay.calibration.fitting.folds import numbered  # noqa: E402
from assay.calibration.metrics.intervals import Interval, rate_interval, student_t  # noqa: E402
from assay.calibration.monitoring.stops import Stop, threshold_of  # noqa: E402
from assay.calibration.registry import Registry, load_registry  # noqa: E402
from assay.inference.opening import EMBEDDED  # noqa: E402
from assay.offline_eval.sets.projects import ProjectError, path_in_project  # noqa: E402
from assay.server.requests.policy import decide  # noqa: E402
from assay.server.settings.settings import DEFAULTS  # noqa: E402

STOPS: tuple[Stop, ...] = ("everything", "balanced", "quiet")
LEVELS = (0.05, 0.25, 0.5, 0.6, 0.75)
MAX_MS = 60_000
DRAWN, REPEATS, IN_A_FILE = (1_000, 5_000, 20_000), 100, 50

ShowAbove = Callable[[str | None], float]


@dataclass(frozen=True, slots=True)
class Shown:
    """A suggestion: the probability at each key, and the id of what that is from; None where there is none."""

    project: str
    probabilities: tuple[tuple[float | None, str | None], ...]
    right: bool

    def at(self, show_above: ShowAbove) -> bool:
        """Whether a dial shows it."""
        return any(p is None or p >= show_above(calibrator) for p, calibrator in self.probabilities)


def suggestions_of(project: str, keys: Iterable[Key]) -> list[Shown]:
    """The suggestions that came by themselves, each once."""
    seen = [key for key in keys if key.shown_ms is not None]
    runs = (list(run) for _, run in groupby(seen, key=lambda key: key.whole))
    return [Shown(project, tuple((key.probability, key.calibrator) for key in run), any(key.exact for key in run)) for run in runs]


async def write(segment: Segment, author: Author, server: AssayServer, file: Path) -> list[Key]:
    """Write the segment's truth into the file, key by key. The file must hold what is there before."""
    buffer = Buffer(segment.before + author.truth[: author.start] + segment.after)
    buffer.go(segment.before.count("\n"), author.start)
    await server.open(file, buffer)
    session, at = Session(author, server, buffer), author.start
    for step in trace(author):
        for number, event in enumerate(event for event in step.events if not isinstance(event, Invoke)):
            session.do(event, at, number)
            await server.answered()
            session.look(accepting=False)
        at = step.to
    await server.rest()
    assert buffer.text == segment.before + segment.truth + segment.after, "what was written is not what was meant"
    return session.keys


async def written(found: Sequence[Segment], sources: Path, model: Path, threads: int, seed: int) -> list[list[Key]]:
    """The keys of each segment, with everything shown."""
    results = []
    with tempfile.TemporaryDirectory(prefix="assay-quiet-") as folder:
        root = Path(folder)
        for segment in found:
            unpack(root / segment.project, segment, sources)
        options = {"modelOptions": {"threads": threads}, "explore": 0, "delay": 0, "maxMs": MAX_MS}
        folders = [root / project for project in dict.fromkeys(segment.project for segment in found)]
        async with assay_server("Assay", model, folders, options) as server:
            for segment in found:
                author = Author(segment.truth, SPEEDS["normal"], f"{seed}:{segment.project}:{segment.path}")
                began = time.monotonic()
                results.append(
                    await write(segment, author, server, write_file(root / segment.project / path_in_project(segment.path), segment))
                )
                print(f"{segment.project} {segment.path}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return results


def dials(registry: Registry) -> dict[str, ShowAbove]:
    """From which probability on each stop, and some exact levels, show what a calibrator judges."""
    calibrators = {entry.calibrator.id: entry.calibrator for entry in registry.entries}

    def dial(stop: Stop) -> ShowAbove:
        found = {name: threshold_of(calibrator, stop).show_above for name, calibrator in calibrators.items()}
        return lambda calibrator: found.get(calibrator or "", 0.0)

    levels: dict[str, ShowAbove] = {f"{100 * level:.0f} %": lambda _, level=level: level for level in LEVELS}  # type: ignore[misc]
    return {stop: dial(stop) for stop in STOPS} | levels


def per_100(of: Sequence[float], keys: Sequence[int]) -> Interval:
    """100 Σ of / Σ keys over projects, with Student's t interval from leaving out one of them at a time. Not finite with fewer than two."""
    a, b, n = np.array(of, dtype=np.float64), np.array(keys, dtype=np.float64), len(keys)
    whole = 100 * a.sum() / b.sum()
    if n < 2:
        return Interval(float(whole), math.nan, math.nan)
    without = 100 * (a.sum() - a) / (b.sum() - b)
    half = student_t(n - 1) * math.sqrt((n - 1) / n * float(((without - without.mean()) ** 2).sum()))
    return Interval(float(whole), float(max(0.0, whole - half)), float(whole + half))


def shares(right: Sequence[bool], projects: Sequence[str]) -> str:
    interval = rate_interval(np.array(right), numbered(projects)) if right else None
    return f"{sum(right)} of {len(right)}" + ("" if interval is None else f", {_cell(interval, 100)} %")


def stops_table(found: Sequence[Shown], keys: dict[str, int], dial: dict[str, ShowAbove]) -> str:
    head = "| dial | suggestions for 100 keys | right | of the right ones, hidden | keys with one on the screen, right |"
    rows = [head, "|:---|:---|:---|:---|:---|"]
    for stop, show_above in dial.items():
        above = [(one, one.at(show_above)) for one in found]
        shown = [one for one, is_shown in above if is_shown]
        rate = per_100([sum(one.project == project for one in shown) for project in keys], list(keys.values()))
        hidden = shares([not is_shown for one, is_shown in above if one.right], [one.project for one in found if one.right])
        right = shares([one.right for one in shown], [one.project for one in shown])
        on_screen = [one for one in found for p, calibrator in one.probabilities if p is None or p >= show_above(calibrator)]
        at_keys = shares([one.right for one in on_screen], [one.project for one in on_screen])
        rows.append(f"| {stop} | {_cell(rate, 1)} | {right} | {hidden} | {at_keys} |")
    return "\n".join(rows)


def exploring_table(
    found: Sequence[Shown], show_above: ShowAbove, explore: float, seed: int, drawn: Sequence[int] = DRAWN, repeats: int = REPEATS
) -> str:
    """How well what is shown at random tells of the hidden, at one stop."""
    first = [(one.probabilities[0], one.right) for one in found if one.probabilities[0][0] is not None]
    below = np.array([p is not None and p < show_above(calibrator) for (p, calibrator), _ in first])
    right = np.array([right for _, right in first])
    if not below.any():
        return "Nothing is hidden."
    truth = float(right[below].mean())
    head = "| suggestions | hidden, of them shown at random | right, estimated: mean, sd | covered |"
    rows = [f"Of the hidden {100 * truth:.1f} % are right.", "", head, "|---:|---:|---:|---:|"]
    rng = np.random.default_rng(seed)
    for n in drawn:
        estimates, covered, counts = [], [], []
        for _ in range(repeats):
            index = rng.integers(len(first), size=n)
            draws = rng.random(n)
            shown = np.array([_propensity(first[i][0], show_above, explore, draw) < 1 for i, draw in zip(index, draws, strict=True)])
            counts.append((int(below[index].sum()), int(shown.sum())))
            interval = rate_interval(right[index][shown], np.flatnonzero(shown) // IN_A_FILE) if shown.any() else None
            if interval is not None:
                estimates.append(interval.value)
                covered.append(interval.low <= truth <= interval.high)
        hidden, random = np.mean(counts, axis=0)
        said = f"{100 * np.mean(estimates):.1f} %, {100 * np.std(estimates):.1f}" if estimates else ""
        rows.append(f"| {n:,} | {hidden:,.0f}, {random:,.0f} | {said} | {np.mean(covered):.2f} |" if covered else f"| {n:,} | | | |")
    return "\n".join(rows)


def _propensity(given: tuple[float | None, str | None], show_above: ShowAbove, explore: float, draw: float) -> float:
    """With which probability the policy shows it; 1 also for what it hides now."""
    p, calibrator = given
    assert p is not None
    confidence = Confidence("informative", "exact_match", p, p, p, band_of(p).word, calibrator, "")
    decision = decide(confidence, show_above=show_above(calibrator), show_uncalibrated=True, explore=explore, draw=draw)
    return decision.propensity if decision.shown else 1.0


def _cell(interval: Interval, scale: float) -> str:
    value, low, high = (scale * one for one in (interval.value, interval.low, interval.high))
    return f"{value:.1f}" + ("" if math.isnan(low) else f" ({low:.1f} to {high:.1f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, required=True, help="folder of the source distributions")
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="a GGUF file (the embedded model)")
    parser.add_argument("--files", type=int, default=20, help="(default: %(default)s)")
    parser.add_argument("--characters", type=int, default=300, help="to write of each file, at least (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="of the model (default: %(default)s)")
    parser.add_argument("--explore", type=float, default=DEFAULTS.explore, help="share of the hidden (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the files, the author and the slips (default: %(default)s)")
    arguments = parser.parse_args()
    if not arguments.model.is_file():
        parser.error(f"{arguments.model}: no such model file")
    try:
        parts = segments(arguments.sources, arguments.files, arguments.characters, arguments.seed)
    except (NoSources, ProjectError) as error:
        sys.exit(str(error))
    with own_data_folder():
        results = asyncio.run(written(parts, arguments.sources, arguments.model, arguments.threads, arguments.seed))
        dial = dials(load_registry())
    found = [one for part, result in zip(parts, results, strict=True) for one in suggestions_of(part.project, result)]
    if not any(p is not None for one in found for p, _ in one.probabilities):
        sys.exit(f"{arguments.model}: no suggestion has a probability; no calibrator is for this model as it is asked now")
    keys: dict[str, int] = {}
    for part, result in zip(parts, results, strict=True):
        keys[part.project] = keys.get(part.project, 0) + sum(key.kind in ("type", "delete") for key in result)
    print(described("llama-cpp-python"))
    print(f"{arguments.model.name}; {len(parts)} files of {len(keys)} projects, {sum(keys.values()):,} keys\n")
    print(stops_table(found, keys, dial))
    print(f"\nExploring {100 * arguments.explore:g} % of what balanced hides, {REPEATS} draws:\n")
    print(exploring_table(found, dial["balanced"], arguments.explore, arguments.seed))


if __name__ == "__main__":
    main()

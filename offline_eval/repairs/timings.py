"""How long repairs take: of a run's timings.jsonl, which alone differs between two runs of one question. Pure but for reading it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ...calibration.report.blocks import Table
from ..run import TIMINGS
from .attempts import Attempt
from .candidates import of

Timings = Mapping[tuple[str, str], Mapping[str, Any]]


def timings_of(folder: Path) -> Timings:
    """What took how long, by step and item; the last time of each counts. A torn line is left out."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    with suppress(FileNotFoundError):
        for line in (folder / TIMINGS).read_bytes().splitlines():
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                record = json.loads(line)
                found[record["step"], record["id"]] = record
    return found


def times_table(attempts: Sequence[Attempt], timings: Timings) -> Table:
    """Median and 95th percentile of the parts of a repair, and verdicts per second of one worker."""
    tests = [one["tests_ms"] for (step, _), one in timings.items() if step == "labels"]
    proposed = [one for (step, _), one in timings.items() if step == "proposed"]
    parts = {
        "to the first candidate": [one["first_ms"] for one in proposed if "first_ms" in one],
        "to all candidates": [one["propose_ms"] for one in proposed if "propose_ms" in one],
        "of this the processor": [one["cpu_ms"] for one in proposed if "cpu_ms" in one],
        "tests of one candidate, to their end": tests,
        "to the first candidate that passes": list(_to_first_passing(attempts, timings)),
    }
    rows = [(name, f"{len(ms):,}", f"{np.median(ms):,.0f} ms", f"{np.percentile(ms, 95):,.0f} ms") for name, ms in parts.items() if ms]
    if tests and sum(tests):
        rows.append(("verdicts of one worker", f"{len(tests):,}", f"{1e3 * len(tests) / sum(tests):.1f} a second", ""))
    return Table("Time", ("what", "n", "median", "95 % take at most"), "lrrr", tuple(rows))


def _to_first_passing(attempts: Sequence[Attempt], timings: Timings) -> Iterator[float]:
    """For each bug with one: to propose all, then to test one after another, the best first, until the tests pass."""
    for attempt in attempts:
        proposed = timings.get(("proposed", attempt.id), {})
        if "propose_ms" not in proposed:
            continue
        total = proposed["propose_ms"]
        for each in of("both", attempt.candidates):
            # The right text is not run in a study; it takes what the others take.
            told = [timings.get(("labels", one["text_id"]), {}).get("tests_ms") for one in attempt.candidates]
            known = [ms for ms in told if ms is not None]
            own = timings.get(("labels", each["text_id"]), {}).get("tests_ms")
            total += own if own is not None else float(np.median(known)) if known else 0.0
            if attempt.is_right(each, "tests_pass"):
                yield total
                break

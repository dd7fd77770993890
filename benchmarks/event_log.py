"""What the event log costs: for who adds an event, on disk, and for who reads half a year of it.

    python benchmarks/event_log.py [--events 200000] [--folder DIR]

One caller adds events to the writer, first at 50 a second, as many as an editor ever makes, then as fast as it can in bursts that fit into
the queue. A second writer process adds to the same log meanwhile. Then the events of showings, from the request to the last check, are
written in the batches that the writer makes of them, and the file is measured, read, pruned to half, and forgotten. --folder: a folder on
the disk to measure (default: a temporary folder).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests")]

from machine import described  # noqa: E402
from synthetic_events import life, new, request  # noqa: E402

from assay.calibration.log.event_log import EventLog  # noqa: E402
from assay.calibration.log.events import ShowingSeen  # noqa: E402
from assay.calibration.log.samples import samples_of, showings_of  # noqa: E402
from assay.server.tracking.event_writer import EventWriter, LogTarget  # noqa: E402

# What a request holds that a generation of the embedded model was asked for: nine measures, and the times.
MEASURES = ("total_logprob", "token_count", "mean_logprob", "mean_probability", "min_logprob", "lowest_logprob", "mean_entropy",
            "mean_margin", "length")  # fmt: skip
WHOLE = {
    "measures": dict.fromkeys(MEASURES, -1.2345678901234567),
    "timings_ms": dict.fromkeys(("total", "waited", "queued", "prompt", "generate"), 12.345678901234567),
    "confidence": {"status": "informative", "event": "kept", "probability": 0.7123456789012345, "low": 0.6123456789012345,
                   "high": 0.8123456789012345, "band": "likely", "calibrator": "c" * 16},
}  # fmt: skip
SLOW_HZ, SLOW, BURSTS, BURST = 50, 500, 20, 5_000
# As the writer collects them: a quarter of a second of an editor's events, and a queue that has filled up.
BATCHES = (5, 5_000)
OTHER = """
import sys, time
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from synthetic_events import request
from assay.server.tracking.event_writer import EventWriter, LogTarget
writer = EventWriter(LogTarget(Path(sys.argv[1])))
while True:
    for n in range(5):
        writer.add(request("other"))
    time.sleep(0.1)
"""


def added_us(writer: EventWriter, count: int, pause_s: float) -> np.ndarray:
    """Microseconds of each call that adds an event."""
    event, took = request("0123456789ab", **WHOLE), np.empty(count)
    for n in range(count):
        began = time.perf_counter_ns()
        writer.add(event)
        took[n] = (time.perf_counter_ns() - began) / 1e3
        if pause_s:
            time.sleep(pause_s)
    return took


def row(name: str, us: np.ndarray) -> str:
    return f"| {name} | {np.median(us):.1f} | {np.quantile(us, 0.99):.1f} | {us.max():,.0f} | {len(us):,} |"


def caller(folder: Path) -> None:
    path = folder / "added"
    other = subprocess.Popen([sys.executable, "-c", OTHER, str(path), str(ROOT / "tests")])
    writer = EventWriter(LogTarget(path))
    print("| `add` in the caller, µs | p50 | p99 | worst | n |\n|---|---|---|---|---|")
    print(row(f"{SLOW_HZ} in a second", added_us(writer, SLOW, 1 / SLOW_HZ)))
    bursts = []
    for _ in range(BURSTS):
        bursts.append(added_us(writer, BURST, 0))
        time.sleep(1)
    print(row(f"bursts of {BURST:,}", np.concatenate(bursts)))
    writer.close()
    other.kill()
    other.wait()
    if writer.dropped:
        print(f"\n{writer.dropped:,} were dropped")


def disk(folder: Path, events: int) -> None:
    lives = [life(f"{n:012x}", kept=True, **WHOLE) for n in range(events // 8)]
    rows = [new(event, showing) for each in lives for showing, event in each]
    print("\n| to the disk | events/s | n |\n|---|---|---|")
    for batch in BATCHES:
        path, few = folder / f"batches-{batch}", rows[: min(len(rows), batch * 2_000)]
        with EventLog(path, create=True) as log:
            began = time.perf_counter()
            for start in range(0, len(few), batch):
                log.append(few[start : start + batch])
            print(f"| committed {batch:,} at a time | {len(few) / (time.perf_counter() - began):,.0f} | {len(few):,} |")
    print("\n| on the disk | bytes | n |\n|---|---|---|")
    with EventLog(path) as log:
        print(f"| a request with its measures | {size_of(folder, [row for row in rows if row.showing is None]):,.0f} | {len(lives):,} |")
        print(f"| any other event | {size_of(folder, [row for row in rows if isinstance(row.event, ShowingSeen)]):,.0f} | {len(lives):,} |")
        print(f"| a showing: request, shown, ended, five looks | {log.size / len(lives):,.0f} | {len(lives):,} |")
        print("\n| the log of these events | s | |\n|---|---|---|")
        mib = log.size / 2**20
        began = time.perf_counter()
        count = sum(Counter(type(row.event) for row in log.rows()).values())
        print(f"| read | {time.perf_counter() - began:.2f} | {count:,} events, {mib:.0f} MiB |")
        began = time.perf_counter()
        samples = samples_of(showings_of(log.rows())).samples
        print(f"| samples made | {time.perf_counter() - began:.2f} | {len(samples):,} samples |")
        began, longest, step = time.perf_counter(), 0.0, time.perf_counter()
        for _ in log.prune(10**6, mib / 2):
            longest, step = max(longest, time.perf_counter() - step), time.perf_counter()
        left = log.size / 2**20
        print(f"| pruned to half | {time.perf_counter() - began:.2f} | {left:.0f} MiB left; longest step {longest * 1e3:.0f} ms |")
        began = time.perf_counter()
        forgotten = log.forget_all()
        log.overwritten()
        print(f"| forgotten | {time.perf_counter() - began:.2f} | {forgotten:,} events; {log.path.stat().st_size:,} bytes left |")


def size_of(folder: Path, rows: list) -> float:
    with EventLog(folder / f"size-{len(list(folder.iterdir()))}", create=True) as log:
        empty = log.size
        log.append(rows)
        return (log.size - empty) / len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=200_000, help="(default: %(default)s)")
    parser.add_argument("--folder", type=Path, help="where the logs are made")
    arguments = parser.parse_args()
    print(described(), end="\n\n")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        caller(Path(folder))
        disk(Path(folder), arguments.events)


if __name__ == "__main__":
    main()

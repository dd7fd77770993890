"""The time and memory of `assay calibrate report`, as a Markdown table.

    python benchmarks/report.py --samples 1000000 --projects 30 10000

Each row is a process of its own on a samples file of a synthetic world: the log odds of the event are 0.5 + 0.7 · logit(exp(total_logprob))
with an offset for each project of standard deviation 0.4. The report is of this file alone, and all time counts, with reading it and
starting Python.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from machine import described

from assay.calibration.arrays import sigmoid
from assay.calibration.measures.registry import enter
from assay.calibration.samples import Sample, write_samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--projects", type=int, nargs="+", default=[30, 10_000])
    parser.add_argument("--runs", type=int, default=3, help="of each, of which the fastest counts")
    arguments = parser.parse_args()
    print(f"{described('numpy', 'scipy', 'matplotlib', 'msgspec')}\n")
    print(f"| samples | projects | file, MB | wall time, s, best of {arguments.runs} | processor time, s | peak memory, GB | largest SVG |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for projects in arguments.projects:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "samples.jsonl"
            write_samples(path, world(arguments.samples, projects))
            wall, processor, memory = min(reported(path, Path(folder) / "report") for _ in range(arguments.runs))
            picture = max(file.stat().st_size for file in (Path(folder) / "report").glob("*.svg"))
            print(
                f"| {arguments.samples:,} | {projects:,} | {path.stat().st_size / 1e6:.0f} | {wall:.1f} | {processor:.1f} "
                f"| {memory / 1e9:.2f} | {picture / 1e3:.0f} kB |",
                flush=True,
            )


def world(n: int, projects: int) -> Iterator[Sample]:
    rng = np.random.default_rng(0)
    total = -rng.lognormal(0.3, 1.1, n)
    project = rng.integers(projects, size=n)
    log_odds = 0.5 + 0.7 * enter("total_logprob", total) + rng.normal(0, 0.4, projects)[project]
    label = rng.random(n) < sigmoid(log_odds)
    for i in range(n):
        yield Sample(
            id=f"s{i}",
            model="0123456789abcdef",
            prompt="fedcba9876543210",
            task="line",
            language="python",
            project=f"p{project[i]}",
            file=f"f{i % 7}.py",
            seed=i,
            measures={"total_logprob": float(total[i]), "length": float(i % 50)},
            labels={"exact_match": bool(label[i])},
            text_sha256=hashlib.sha256(str(i).encode()).hexdigest(),
            model_name="synthetic",
        )


def reported(path: Path, out: Path) -> tuple[float, float, int]:
    """Wall time and processor time in seconds, and the largest resident memory in bytes, of one report."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "assay", "calibrate", "report", path, "--out", out], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"the report ended with {os.waitstatus_to_exitcode(status)}")
    in_bytes = 1 if sys.platform == "darwin" else 1024
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * in_bytes


if __name__ == "__main__":
    main()

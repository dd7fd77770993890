"""The calibration study: how fast it goes, and what its time goes to.

    python benchmarks/studies.py [--places 120] [--projects click,sqlparse] [--suite-places 24] [--suite-projects cachetools,toolz]
        [--workers 2] [--ray 1,2,4] [--python FILE] [--model M]

Runs `assay eval calibration` with the embedded model, of either set, once to have fetched and found what is kept between runs, and then
once for each number of workers: `--workers` on this machine, and those of `--ray` on a Ray cluster that is begun for it. Prints Markdown.

items/s    places answered, or texts judged by tests, in the seconds of their step without its start
model      share of the workers' time in that which the model took; `tests`: the projects' tests with the sandbox around them
own code   all the rest of it, and what of it was inside items: memories, prompts, comparing; the goal is at most 5 %. Outside are the
           driver, what travels, and the wait of the others for the last item, which small runs show more of
start      seconds until the workers have begun, with their model
around     seconds before the steps (reading the projects, finding places) and after them (samples, report)

Shares are within a run, so work beside it moves them less than the rates. The load of the machine is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from machine import described

from assay.offline_eval.command import names, positive
from assay.offline_eval.run import TIMINGS

GOAL = 0.05
_STEPS = {"answers": "places", "labels": "texts"}
_BEGUN = re.compile(r"[\d,]+ places? in [\d,]+ files? of ")


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a run. seconds: without those of its start. busy_s: what the workers spent in items, model_s and tests_s of it."""

    name: str
    items: int
    seconds: float
    start_s: float
    busy_s: float
    model_s: float
    tests_s: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A run. before_s, after_s: what was done before its steps and after them."""

    steps: Sequence[Step]
    before_s: float
    after_s: float


def run(arguments: Sequence[str], out: Path) -> Measured:
    """Run the study; times are of what it says, as it says it."""
    command = [sys.executable, "-m", "assay", "eval", "calibration", "--out", str(out), *arguments]
    begun = time.monotonic()
    said: list[tuple[float, str]] = []
    first: dict[str, float] = {}

    def watch() -> None:
        """Note when each step has its first record."""
        while process.poll() is None:
            for name in _STEPS.keys() - first.keys():
                if (out / f"{name}.jsonl").exists():
                    first[name] = time.monotonic() - begun
            time.sleep(0.02)

    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        threading.Thread(target=watch).start()
        said.extend((time.monotonic() - begun, line.rstrip()) for line in process.stderr)
    ended = time.monotonic() - begun
    if process.returncode:
        raise SystemExit("\n".join(line for _, line in said))
    before = at = next(seconds for seconds, line in said if _BEGUN.match(line))
    timings = [json.loads(line) for line in (out / TIMINGS).read_text(encoding="utf-8").splitlines()]
    steps = []
    for name, unit in _STEPS.items():
        mine = [each for each in timings if each["step"] == name]
        if not mine:
            continue
        end = max(seconds for seconds, line in said if re.search(rf"\d+/\d+ {unit},", line))
        model, tests = (sum(each.get(part, 0.0) for each in mine) / 1e3 for part in ("model_ms", "tests_ms"))
        busy = sum(each.get("total_ms", each.get("tests_ms", 0.0)) for each in mine) / 1e3
        start = max(0.0, first[name] - at - mine[0].get("total_ms", mine[0].get("tests_ms", 0.0)) / 1e3)
        steps.append(Step(name, len(mine), end - at - start, start, busy, model, tests))
        at = end
    return Measured(steps, before, ended - at)


@contextmanager
def cluster(cpus: int) -> Iterator[str]:
    """The address of a Ray cluster on this machine, begun with so many CPUs whatever it has."""
    ray, port = Path(sys.executable).with_name("ray"), 20_000 + os.getpid() % 10_000
    options = [f"--port={port}", f"--num-cpus={cpus}", "--include-dashboard=false", "--disable-usage-stats", f"--temp-dir=/tmp/ray-{port}"]
    # with --block it ends what it began, and no other cluster of this machine, which `ray stop` would
    command, variables = [ray, "start", "--head", "--block", *options], {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=variables) as started:
        assert started.stdout is not None
        try:
            if not any("Ray runtime started" in line for line in started.stdout):
                raise SystemExit("no Ray cluster began")
            yield f"127.0.0.1:{port}"
        finally:
            started.terminate()


def rows(label: str, workers: int, found: Measured, first: Mapping[str, float]) -> Iterator[str]:
    """A row for each step. first: the rates of the first run, by step."""
    around = f"{found.before_s:.1f} + {found.after_s:.1f}"
    for step in found.steps:
        time_of_workers, rate = workers * step.seconds, step.items / step.seconds
        model, tests, busy = (part / time_of_workers for part in (step.model_s, step.tests_s, step.busy_s))
        cells = (
            label, step.name, f"{step.items}", f"{rate:.2f}", f"{rate / first[step.name]:.2f}", f"{model:.1%}", f"{tests:.1%}",
            f"{1 - model - tests:.1%}", f"{max(0.0, busy - model - tests):.1%}", f"{step.start_s:.1f}", around,
        )  # fmt: skip
        yield f"| {' | '.join(cells)} |"
        around = ""


def measure(given: argparse.Namespace) -> Iterator[str]:
    """The rows of the table."""
    model = ["--model", given.model] if given.model else []
    sets = {
        "projects": ["--projects", ",".join(given.projects), "--limit", str(given.places), *model],
        "suites": ["--set", "suites", "--projects", ",".join(given.suite_projects), "--limit", str(given.suite_places), *model],
    }
    sets["suites"] += ["--per-project", str(-(-given.suite_places // len(given.suite_projects)))]
    sets["suites"] += ["--python", str(given.python)] if given.python else []
    with tempfile.TemporaryDirectory() as temporary:
        for name, options in sets.items():
            if name not in given.sets:
                continue
            if name == "suites":  # its places are kept in the cache once they are found
                run([*options, "--workers", str(given.workers), "--steps", "answers"], Path(temporary) / f"{name}-first")
            found = run([*options, "--workers", str(given.workers)], Path(temporary) / name)
            first = {step.name: step.items / step.seconds for step in found.steps}
            yield from rows(f"{name}, --workers {given.workers}", given.workers, found, first)
            for workers in given.ray:
                with cluster(workers + 1) as address:
                    found = run([*options, "--workers", str(workers), "--ray", address], Path(temporary) / f"{name}-ray-{workers}")
                yield from rows(f"{name}, Ray, {workers}", workers, found, first)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=names, default=["projects", "suites"])
    parser.add_argument("--places", type=positive, default=120)
    parser.add_argument("--projects", type=names, default=["click", "sqlparse"])
    parser.add_argument("--suite-places", type=positive, default=24)
    parser.add_argument("--suite-projects", type=names, default=["cachetools", "toolz"])
    parser.add_argument("--workers", type=positive, default=2)
    parser.add_argument("--ray", type=lambda text: [positive(each) for each in names(text)], default=[1, 2, 4])
    parser.add_argument("--python", type=Path)
    parser.add_argument("--model")
    given = parser.parse_args()
    print(f"{described('llama-cpp-python', 'ray')}; load when it began {os.getloadavg()[0]:.1f}\n")
    print("| set, workers | step | items | items/s | ratio | model | tests | own code | in items | start, s | around, s |")
    print("|:---|:---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for row in measure(given):
        print(row, flush=True)
    print(f"\nload at the end {os.getloadavg()[0]:.1f}; goal: own code at most {GOAL:.0%}")


if __name__ == "__main__":
    main()

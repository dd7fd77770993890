"""What starting a jail costs, compared with a plain process: the table of docs/sandbox.md.

    python benchmarks/jail_start.py [--rounds N]

The ways take turns, so that other load affects all alike. CPU time (ours and the children's) depends on it less than time on the clock.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from assay.analysis.sandbox.isolation.confine import prepare
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.levels import Isolation
from assay.analysis.sandbox.isolation.limits import Limits

PYTHON = [os.path.realpath(sys.executable), "-I", "-S", "-c", "pass"]
TRUE = ["/bin/true"]


def plain(argv: list[str]) -> Callable[[], None]:
    def start() -> None:
        subprocess.run(argv, env={}, check=True)

    return start


def jailed(level: Isolation, argv: list[str]) -> Callable[[], None]:
    jail = Jail(level)

    def start() -> None:
        ran = jail.run(argv, cwd=Path("/tmp"))
        assert ran.ending == "exited", ran.reason

    return start


def confined_fork() -> Callable[[], None]:
    confinement = prepare(Limits(), readable=[Path("/usr")])

    def start() -> None:
        pid = os.fork()
        if pid == 0:
            confinement.apply()
            os._exit(0)
        os.waitpid(pid, 0)

    return start


def cpu_s() -> float:
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    ways: dict[str, Callable[[], None]] = {"/bin/true": plain(TRUE), "python -I -S": plain(PYTHON), "fork and confine": confined_fork()}
    for level in Isolation:
        ways |= {f"{level}: /bin/true": jailed(level, TRUE), f"{level}: python -I -S": jailed(level, PYTHON)}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, start in ways.items():
            began, used = time.perf_counter(), cpu_s()
            start()
            seconds[name].append(time.perf_counter() - began)
            cpu[name].append(cpu_s() - used)
    print(f"| {rounds} starts each, ms | min | median | CPU, median |\n|---|---|---|---|")
    for name, taken in seconds.items():
        print(f"| {name} | {1000 * min(taken):.1f} | {1000 * statistics.median(taken):.1f} | {1000 * statistics.median(cpu[name]):.1f} |")


if __name__ == "__main__":
    main()

"""A real Ray cluster of this machine, for tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

RAY = Path(sys.executable).with_name("ray")
# What the cluster's processes, and programs that tests begin, import from.
PATHS = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1] / ".typing")])


@contextmanager
def local_cluster(cpus: int = 3) -> Iterator[str]:
    """The address of a cluster with so many CPUs."""
    port = 20_000 + os.getpid() % 10_000
    arguments = {
        "--port": port,
        "--num-cpus": cpus,
        "--include-dashboard": "false",
        "--temp-dir": f"/tmp/ray-{os.getpid()}",  # its sockets' names may have 107 characters
    }
    options = [str(part) for option in arguments.items() for part in option]
    environment = {**os.environ, "PYTHONPATH": PATHS, "RAY_DISABLE_IMPORT_WARNING": "1", "PYTHONUNBUFFERED": "1"}
    # with --block it ends what it began, and no other cluster of this machine, which `ray stop` would
    command = [RAY, "start", "--head", "--block", "--disable-usage-stats", *options]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as started:
        assert started.stdout is not None
        try:
            if not any("Ray runtime started" in line for line in started.stdout):
                pytest.fail("ray start: no cluster began")
            yield f"127.0.0.1:{port}"
        finally:
            started.terminate()

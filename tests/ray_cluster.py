"""A real Ray cluster of this machine, for tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

RAY = Path(sys.executable).with_name("ray")
# What the cluster's processes, and programs that tests begin, import from.
PATHS = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1] / ".typing")])


@contextmanager
def local_cluster(cpus: int = 3, nodes: int = 1) -> Iterator[str]:
    """The address of a cluster of so many nodes, each with so many CPUs."""
    port = 20_000 + os.getpid() % 10_000
    address, shared = f"127.0.0.1:{port}", f"/tmp/ray-{os.getpid()}"  # its sockets' names may have 107 characters
    head = ["--head", "--port", str(port), "--include-dashboard", "false", "--temp-dir", shared]
    with ExitStack() as started:
        for node in range(nodes):
            started.enter_context(_node(*(head if node == 0 else ["--address", address]), "--num-cpus", str(cpus)))
        yield address


@contextmanager
def _node(*options: str) -> Iterator[None]:
    environment = {**os.environ, "PYTHONPATH": PATHS, "RAY_DISABLE_IMPORT_WARNING": "1", "PYTHONUNBUFFERED": "1"}
    # with --block it ends what it began, and no other cluster of this machine, which `ray stop` would
    command = [RAY, "start", "--block", "--disable-usage-stats", *options]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as started:
        assert started.stdout is not None
        try:
            if not any("Ray runtime started" in line for line in started.stdout):
                pytest.fail("ray start: no cluster began")
            yield
        finally:
            started.terminate()

"""A real llama-server for tests and benchmarks: built by .ci/build_llama_server.py, found in the user's cache."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from platformdirs import user_cache_path

HOW_TO_BUILD = "llama-server has not been built: python .ci/build_llama_server.py"
# As exact as llama.cpp can be, and one sequence cache for each slot as the runtime in this process has it.
EXACT = ("--cache-type-k", "f32", "--cache-type-v", "f32", "--flash-attn", "off")


def built_folder() -> Path:
    """Where `llama-server` and `llama-bench` are once they are built: of the same llama.cpp that the installed llama-cpp-python holds."""
    return user_cache_path("assay") / f"llama-server-{version('llama-cpp-python')}"


def is_built() -> bool:
    return (built_folder() / "llama-server").is_file()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def running(gguf: Path, *options: str, port: int | None = None, slots: int = 1) -> Iterator[str]:
    """A server of one model on the loopback, ready to answer; its address. Ended at the end of the context."""
    port = port or free_port()
    command = [str(built_folder() / "llama-server"), "--model", str(gguf), "--port", str(port), "--threads", "1", "--parallel", str(slots)]
    quiet = ["--log-disable", "--no-webui", "--slots", *options]
    with subprocess.Popen([*command, *quiet], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_healthy(process, f"http://127.0.0.1:{port}")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def wait_until_healthy(process: subprocess.Popen[bytes], address: str, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while True:
        with (
            contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError),
            urllib.request.urlopen(f"{address}/health", timeout=2),
        ):
            return
        if process.poll() is not None:
            raise RuntimeError(f"llama-server ended with {process.returncode} before it was ready: {process.args}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"llama-server was not ready after {seconds:g} s: {process.args}")
        time.sleep(0.05)

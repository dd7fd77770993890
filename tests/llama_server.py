"""A real llama-server for tests and benchmarks: built by benchmarks/build_llama_server.py, found in the user's cache."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from platformdirs import user_cache_path


def built_folder() -> Path:
    """Where `llama-server` and `llama-bench` are once they are built: of the same llama.cpp that the installed llama-cpp-python holds."""
    return user_cache_path("assay") / f"llama-server-{version('llama-cpp-python')}"

"""The folder of the background run, which its process and the commands share.

checkpoint.pt       what it resumes from
tokenizer.json      of the file that it began with
curve.jsonl         loss over tokens; of a branch: decay-<M>M.jsonl
decay-<M>M.pt       a branch that is being made
export-<M>M.gguf    what came of it, in q8_0; export-<M>M.f16.gguf the same in f16
wanted.json         the files that are asked for, in millions of tokens
validation.json     rows of held-out projects
status.json         what `status` prints
paused              until when the run is paused, in seconds of the epoch
log.txt             what the process says
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import time
from collections.abc import Iterator
from pathlib import Path

from .paths import CACHE, SHIPPED, there


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[bool]:
    """Whether this is the folder's only process; it stays so until the end."""
    with (folder / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def paused_until(folder: Path) -> float:
    """Until when a run is paused, in seconds of the epoch; 0 where it is not."""
    try:
        until = float((folder / "paused").read_text())
    except (OSError, ValueError):
        return 0.0
    return until if until > time.time() else 0.0


def wanted(folder: Path) -> list[int]:
    """The files that are asked for and not made yet, in millions of tokens."""
    path = folder / "wanted.json"
    asked: list[int] = json.loads(path.read_text()) if path.exists() else []
    return [m for m in asked if not (folder / f"export-{m}M.gguf").exists()]


def seen(folder: Path) -> int:
    """The tokens that a run has seen, its branches left out, by its loss curve."""
    path = folder / "curve.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return int(json.loads(lines[-1])["tokens"]) if lines else 0


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """What a run begins with and learns from."""
    parser.add_argument(
        "--start", type=there, default=str(SHIPPED), help="a GGUF that export.py wrote, to begin with (default: the shipped one)"
    )
    parser.add_argument("--corpus", type=there, default=str(CACHE / "corpus.jsonl"))
    parser.add_argument("--validation", type=there, help="texts to validate on, as a corpus file (default: the held-out projects' files)")
    parser.add_argument("--no-compile", action="store_true", help="start at once, without a C++ compiler, and train slower")

"""The folder of the background run, which its process and the commands share.

checkpoint.pt       what it resumes from; checkpoint.json: how far that is
curve.jsonl         loss over tokens; of a branch: decay-<M>M.jsonl
decay-<M>M.pt       a branch that is being made; decay-<M>M.json: how far that is
export-<M>M.gguf    what came of it, to ship
export-<M>M/        the same for export.py and check_export.py, and in f16
wanted.json         the files that are asked for, in millions of tokens
validation.json     rows of held-out projects
status.json         what `status` prints
paused              until when the run is paused, in seconds of the epoch
log.txt             what the process says
lock                held by the process that trains
compiled/           the steps, compiled
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from .paths import CACHE, SHIPPED, there

PATIENCE = 2.0  # seconds


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def copy_whole(source: Path, path: Path) -> None:
    """Copy a file, whole or not at all."""
    temporary = path.with_name(path.name + ".tmp")
    shutil.copy(source, temporary)
    temporary.replace(path)


@contextlib.contextmanager
def only_run(folder: Path) -> Iterator[bool]:
    """Whether this is the folder's only run; it stays so until the end. It is tried for a while, for `runs` takes the lock for a moment."""
    until = time.monotonic() + PATIENCE
    with (folder / "lock").open("a") as lock:
        while not (alone := _locked(lock, fcntl.LOCK_EX)) and time.monotonic() < until:
            time.sleep(0.05)
        yield alone


def runs(folder: Path) -> bool:
    """Whether the folder has a run. Several processes may ask at once: they share the lock."""
    if not folder.is_dir():
        return False
    with (folder / "lock").open("a") as lock:
        return not _locked(lock, fcntl.LOCK_SH)


def _locked(lock: IO[str], how: int) -> bool:
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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


def exported(folder: Path) -> list[Path]:
    """The files that are made, by how many tokens they have seen."""
    return sorted(folder.glob("export-*M.gguf"), key=lambda path: int(path.stem.removeprefix("export-").removesuffix("M")))


def seen(folder: Path) -> int:
    """The tokens that a run had seen when it last saved, its branches left out."""
    path = folder / "checkpoint.json"
    return int(json.loads(path.read_text())["tokens"]) if path.exists() else 0


def add_options(parser: argparse.ArgumentParser) -> None:
    """What a run begins with and learns from, and how it runs."""
    parser.add_argument(
        "--start", type=there, default=str(SHIPPED), help="a GGUF that export.py wrote, to begin with (default: the shipped one)"
    )
    parser.add_argument("--corpus", type=there, default=str(CACHE / "corpus.jsonl"))
    parser.add_argument("--validation", type=there, help="texts to validate on, as a corpus file (default: the held-out projects' files)")
    parser.add_argument(
        "--nice",
        type=int,
        choices=range(20),
        default=19,
        metavar="0…19",
        help="where Linux groups processes by session (autogroup): the run's weight beside other sessions, from 19, which takes what they "
        "leave, to 0, an equal share (default: %(default)s)",
    )
    parser.add_argument("--no-compile", action="store_true", help="start at once, without a C++ compiler, and train slower")

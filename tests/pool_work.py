"""Work functions for the pools' tests: they must be importable in the workers."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.offline_eval.study import Item


@dataclass(frozen=True)
class Squares:
    """Squares numbers; misbehaves at some of them, once or always. folder: where each try of an item leaves a file."""

    folder: Path
    dies_once: frozenset[int] = frozenset()
    dies_always: frozenset[int] = frozenset()
    raises: frozenset[int] = frozenset()
    hangs_once: frozenset[int] = frozenset()
    pause_s: float = 0.0

    def __call__(self) -> Callable[[int], int]:
        with (self.folder / f"worker-{os.getpid()}").open("x"):
            pass
        return self.square

    def square(self, number: int) -> int:
        tried = len(list(self.folder.glob(f"{number}-*")))
        (self.folder / f"{number}-{tried}").touch()
        time.sleep(self.pause_s)
        if number in self.dies_always or (number in self.dies_once and not tried):
            os.kill(os.getpid(), signal.SIGKILL)
        if number in self.raises:
            raise ValueError(f"{number} is not liked")
        if number in self.hangs_once and not tried:
            time.sleep(600)
        return number * number


@dataclass(frozen=True)
class Lingers(Squares):
    """As Squares, but takes its time when it is told to end."""

    def square(self, number: int) -> int:
        try:
            return super().square(number)
        finally:
            time.sleep(self.pause_s)


@dataclass(frozen=True)
class CannotStart:
    """Has no work function."""

    def __call__(self) -> Callable[[int], int]:
        raise OSError("there is no model")


@dataclass(frozen=True)
class DiesAtStart:
    """Its process ends before there is a work function."""

    def __call__(self) -> Callable[[int], int]:
        os._exit(3)


@dataclass(frozen=True)
class Starts:
    """Runs programs."""

    def __call__(self) -> Callable[[str], str]:
        return lambda program: subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False).stdout


@dataclass(frozen=True)
class Imports:
    """Says which file a module is."""

    name: str

    def __call__(self) -> Callable[[int], str]:
        return lambda _: str(importlib.import_module(self.name).__file__)


@dataclass(frozen=True)
class Place:
    """An item of a study."""

    id: str


@dataclass(frozen=True)
class Places:
    """Answers places, some never. log: a file that gets the name of each that is asked; beside it each worker leaves a file."""

    log: Path
    fails: frozenset[str]
    pause_s: float = 0.0

    def __call__(self) -> Callable[[Item], dict[str, Any]]:
        (self.log.parent / f"worker-{os.getpid()}").touch()
        return self.answer

    def answer(self, place: Item) -> dict[str, Any]:
        with self.log.open("a") as out:
            out.write(f"{place.id}\n")
        time.sleep(self.pause_s)
        if place.id in self.fails:
            raise RuntimeError("the machine failed")
        return {"id": place.id, "project": "p", "file": "a.py", "function": "f", "line": 1, "generations": []}

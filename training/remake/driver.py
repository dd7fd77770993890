"""Does the steps in their order: what is done is not done again, and what was killed goes on."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from assay.calibration.atomic_write import write_atomically

from .evidence import Present, blocks_in, fill, folds_of, present
from .steps import Step

ROOT = Path(__file__).parents[2]
RECORD = "made.json"
_END_S = 20.0
# Of a shell in which `assay` and `python` are those of this environment, and a path may have spaces.
_PRELUDE = 'set -e; IFS=; python() { "$PYTHON" "$@"; }; assay() { "$PYTHON" -m assay "$@"; }\n'


class RemakeError(Exception):
    """Why nothing can be remade here; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Remake:
    """Where the steps work.

    steps: all there are, in order, by name. work: for their own folders. tree: the repository, into which evidence is written. now: the
    fingerprints. machine: names in commands that are found on the machine, such as python312; empty where nothing was.
    """

    steps: Mapping[str, Step]
    work: Path
    tree: Path
    now: Present
    machine: Mapping[str, str] = field(default_factory=dict)
    # By path, read once: it has to be the same at the end of a step.
    _hashes: dict[str, str | None] = field(init=False, repr=False, compare=False, default_factory=dict)

    def key(self, step: Step) -> str:
        """A hash of all that decides a step's result."""
        made_of = {
            "model": self.now.model,
            "prompts": dict(self.now.prompts),
            "commands": step.commands,
            "code": {path: self._hash_of_code(path) for path in step.code},
            "needs": {name: self.key(self.steps[name]) for name in step.needs},
        }
        return _hash(json.dumps(made_of, sort_keys=True).encode())

    def folder(self, step: Step) -> Path:
        """The step's own folder. What it is made of is in its name, so that nothing of another version is ever gone on with."""
        return self.work / f"{step.name.replace('/', '-')}-{self.key(step)}"

    def is_done(self, step: Step) -> bool:
        """Whether the step was done with what it is made of now, and so were those it needs, and what it made is in the tree."""
        record = self.folder(step) / RECORD
        made = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else None
        return made == self.outputs(step) and all(self.is_done(self.steps[name]) for name in step.needs)

    def lacks(self, step: Step) -> str:
        """What the machine lacks for a step; empty where nothing."""
        return ", ".join(name for name in step.programs if not shutil.which(self.machine.get(name, name)))

    def make(self, step: Step, lock: TextIO) -> int:
        """Do a step and record it. Returns the exit code of its commands.

        Raises RemakeError where the fingerprints or the code have changed meanwhile.
        """
        folder, before = self.folder(step), self.key(step)
        folder.mkdir(parents=True, exist_ok=True)
        folders = {name: self.folder(self.steps[name]) for name in step.needs} | {step.name: folder}
        named = {name.replace("/", "_"): str(path) for name, path in folders.items()}
        if code := _run("\n".join(step.commands), self.tree, {**self.machine, **named, "self": str(folder)}, lock):
            return code
        for block in sorted(step.blocks):
            fill(self.tree, block, step.blocks[block]({**folders, "tree": self.tree}), self.now.named(*step.tasks))
        self._hashes.clear()
        if present() != self.now or self.key(step) != before:
            raise RemakeError("the model, how it is asked, or the code has changed meanwhile: start the same command again")
        with write_atomically(folder / RECORD) as file:
            file.write(json.dumps(self.outputs(step), indent=1).encode())
        return 0

    def outputs(self, step: Step) -> dict[str, str | None]:
        """A hash of each thing that a step makes, as it is in the tree; None for what is not there."""
        blocks = {f"{page}#{block.name}": block for page in _pages(step) for block in blocks_in(self.tree, page)}
        of_blocks = {name: _hash(repr(blocks[name]).encode()) for name in step.blocks if name in blocks}
        return {name: _hash_of(self.tree / name, *folds_of(self.tree, _calibrators(name))) for name in step.files} | of_blocks

    def _hash_of_code(self, path: str) -> str | None:
        if path not in self._hashes:
            self._hashes[path] = _hash_of(self.tree / path)
        return self._hashes[path]


def chosen(steps: Mapping[str, Step], only: Sequence[str]) -> list[Step]:
    """The steps of some groups or names, all where none is named, with those that they need, in order. Raises RemakeError."""
    known = {*steps, *(step.group for step in steps.values())}
    if unknown := [name for name in only if name not in known]:
        raise RemakeError(f"there is no step {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    names = {name for name, step in steps.items() if not only or name in only or step.group in only}
    while more := {need for name in names for need in steps[name].needs} - names:
        names |= more
    return [step for name, step in steps.items() if name in names]


def remake(at: Remake, steps: Sequence[Step]) -> list[str]:
    """Do what is to be done of the steps. Returns why steps were not, one line each; those that need them are left out as well.

    Raises RemakeError where fingerprints or code have changed, and where another call is at work.
    """
    left_out: dict[str, str] = {}
    with _alone(at.work) as lock:
        for number, step in enumerate(steps, 1):
            title = f"{number} of {len(steps)}: {step.name}"
            if at.is_done(step):
                print(f"{title}: done already", file=sys.stderr)
            elif missing := ", ".join(name for name in step.needs if name in left_out) or at.lacks(step):
                left_out[step.name] = f"it needs {missing}"
            else:
                print(title, file=sys.stderr)
                if code := at.make(step, lock):
                    left_out[step.name] = f"its commands ended with {code}"
    return [f"{name}: {why}" for name, why in left_out.items()]


def _pages(step: Step) -> set[str]:
    return {block.partition("#")[0] for block in step.blocks}


def _calibrators(name: str) -> list[str]:
    return [name] if name.endswith(".json") else []


def _run(script: str, folder: Path, names: Mapping[str, str], lock: TextIO) -> int:
    """Run commands of a shell without a terminal, and return their exit code. What they print goes to standard error.

    They inherit the lock, so that no other call begins before they have ended, and are interrupted with all that they have started.
    """
    with subprocess.Popen(
        ["sh", "-c", _PRELUDE + script], cwd=folder, env={**os.environ, **names, "PYTHON": sys.executable}, stdin=subprocess.DEVNULL,
        stdout=2, pass_fds=[lock.fileno()], start_new_session=True,
    ) as process:  # fmt: skip
        try:
            return process.wait()
        except BaseException:
            for number in (signal.SIGINT, signal.SIGKILL):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_END_S)
            raise


@contextmanager
def _alone(work: Path) -> Iterator[TextIO]:
    """Hold the lock of a work folder. Raises RemakeError where another call, or what one has started, holds it."""
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RemakeError(f"another call is at work in {work}, or what it started is: wait for it to end") from None
        yield lock


def _hash_of(*paths: Path) -> str | None:
    """Of files, and of all below folders, with names; None where there is nothing."""
    below = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*")))]
    files = [file for file in below if file.is_file() and "__pycache__" not in file.parts]
    return _hash(b"".join(file.name.encode() + hashlib.sha256(file.read_bytes()).digest() for file in files)) if files else None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]

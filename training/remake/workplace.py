"""Where the steps work: the folder of each, what it was made of, and the commands with every name filled in."""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.calibration.atomic_write import write_atomically

from .blocks import BlockError
from .evidence import blocks_in, folds_of
from .present import Present
from .steps import FOLDS, Step

ROOT = Path(__file__).parents[2]
RECORD = "made.json"
# Their values are any number of arguments.
_SEVERAL = ("{f16}", "{card}", "{places}", "{arms_places}", "{tests_folds}", "{studied}", "{rewritten}", "{mended}")


@dataclass(frozen=True, slots=True)
class Record:
    """What a step was made of, and when. finished: None while it is at work. seconds: over all calls. outputs: a hash of each it makes."""

    step: str
    made_of: Mapping[str, Any]
    seconds: float
    finished: str | None = None
    machine: str = ""
    outputs: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Command:
    """What is started. printed: the file that gets what it prints on standard output; None: the log."""

    argv: tuple[str, ...]
    printed: Path | None


@dataclass(frozen=True, slots=True)
class Workplace:
    """The folder `work` for the steps' own folders, and `tree`, into which evidence is written.

    steps: all there are, in order, by name. sizes: the values of the steps' own names; machine: of those that are found on the machine.
    """

    work: Path
    tree: Path
    now: Present
    steps: Mapping[str, Step]
    sizes: Mapping[str, str]
    machine: Mapping[str, str] = field(default_factory=dict)
    # By name of a step, read once: a step's folder does not change under it.
    _made_of: dict[str, dict[str, Any]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def made_of(self, step: Step) -> dict[str, Any]:
        """All that decides a step's result, as it was when first asked for."""
        if step.name not in self._made_of:
            self._made_of[step.name] = {
                "model": self.now.model,
                "prompts": dict(self.now.prompts),
                "commands": list(step.commands),
                "sizes": {name: size for name, size in self.sizes.items() if any(f"{{{name}}}" in command for command in step.commands)},
                "code": {path: _content_hash(ROOT / path) for path in step.code},
                "needs": {name: self.key(self.steps[name]) for name in step.needs},
            }
        return self._made_of[step.name]

    def has_changed(self, step: Step) -> bool:
        """Whether it is made of something else now than when this was first asked for."""
        return replace(self).key(step) != self.key(step)

    def key(self, step: Step) -> str:
        """A hash of `made_of`."""
        return hashlib.sha256(json.dumps(self.made_of(step), sort_keys=True).encode()).hexdigest()[:12]

    def folder(self, step: Step) -> Path:
        """The step's own folder. What it is made of is in its name, so that nothing of another version is ever gone on with."""
        return self.work / f"{step.name.replace('/', '-')}-{self.key(step)}"

    def record(self, step: Step) -> Record | None:
        """What is known of a step as it is now; None where it was never begun."""
        return _read(self.folder(step) / RECORD)

    def last_time(self, step: Step) -> Record | None:
        """The newest record of a step that was finished, whatever it was made of."""
        found = (_read(path) for path in self.work.glob(f"{step.name.replace('/', '-')}-{'?' * 12}/{RECORD}"))
        finished = [record for record in found if record and record.finished]
        return max(finished, key=lambda record: record.finished or "", default=None)

    def write(self, step: Step, record: Record) -> None:
        """Keep a record."""
        document = {name: getattr(record, name) for name in Record.__slots__}
        with write_atomically(self.folder(step) / RECORD) as file:
            file.write((json.dumps(document, indent=1) + "\n").encode())

    def outputs(self, step: Step) -> dict[str, str | None]:
        """A hash of each thing that a step makes, as it is in the tree; None for what is not there."""
        return {what: self._folds(step) if what == FOLDS else self._output(what) for what in step.makes}

    def is_done(self, step: Step) -> bool:
        """Whether the step was finished with what it is made of now, and so were those it needs, and what it made is in the tree."""
        record = self.record(step)
        if record is None or record.finished is None or dict(record.outputs) != self.outputs(step):
            return False
        return all(self.is_done(self.steps[name]) for name in step.needs)

    def commands(self, step: Step) -> Iterator[Command]:
        """The commands of a step."""
        folders = {name: str(self.folder(self.steps[name])) for name in step.needs}
        values = {**self.sizes, **self.machine, **folders, "self": str(self.folder(step)), "tree": str(self.tree)}
        values["shared"] = str(self.work / "shared")
        for command in step.commands:
            argv = list(_arguments(command, values))
            printed = Path(argv.pop()) if ">" in argv else None
            yield Command(_started(argv[:-1] if printed else argv), printed)

    def _folds(self, step: Step) -> str | None:
        """A hash of the folds of the step's own calibrators: others may be made beside them later."""
        files = folds_of(self.tree, [what for what in step.makes if what.endswith(".json")])
        return _hash(b"".join(path.name.encode() + path.read_bytes() for path in files)) if files else None

    def _output(self, what: str) -> str | None:
        page, _, name = what.partition("#")
        if not name:
            return _content_hash(self.tree / page)
        try:
            found = next((block for block in blocks_in(self.tree, page) if block.name == name), None)
        except (BlockError, OSError):
            return None
        return _hash(f"{found.of}\n{found.content}".encode()) if found else None


def _arguments(command: str, values: Mapping[str, str]) -> Iterator[str]:
    for token in shlex.split(command):
        filled = token.format_map(values)
        yield from shlex.split(filled) if token in _SEVERAL else (filled,)


def _started(argv: Sequence[str]) -> tuple[str, ...]:
    program, *rest = argv
    first = {"assay": [sys.executable, "-m", "assay"], "python": [sys.executable]}.get(program, [str(ROOT / program)])
    return (*first, *rest)


def _read(path: Path) -> Record | None:
    try:
        return Record(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None


def _content_hash(path: Path) -> str | None:
    """Of a file, or of all code below a folder, with names; None where there is nothing."""
    if path.is_file():
        return _hash(path.read_bytes())
    files = [file for file in sorted(path.rglob("*")) if file.is_file() and "__pycache__" not in file.parts]
    if not files:
        return None
    return _hash(b"".join(str(file.relative_to(path)).encode() + hashlib.sha256(file.read_bytes()).digest() for file in files))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]

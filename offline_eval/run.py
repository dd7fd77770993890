"""A run: one execution of a study, as a folder that can be killed at any point, taken up again, and reported on without a model.

run.toml            what was asked: a run is taken up only by the very same question
generations.jsonl   one line per generation, appended as it is made
labels.jsonl        one line per generation: {"id", "exact_match": true}

Format in docs/formats.md.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..calibration.atomic_write import write_atomically

GENERATIONS, LABELS = "generations.jsonl", "labels.jsonl"
SCHEMA = "assay/run/1"

# What is read again of each line; a generation has more fields.
_FIELDS: dict[str, dict[str, type]] = {
    GENERATIONS: {"id": str, "task": str, "project": str, "file": str, "text": str, "truth": str, "measures": dict},
    LABELS: {"id": str},
}
# What may be left out.
_OPTIONAL: dict[str, dict[str, type]] = {GENERATIONS: {"rank": int, "ranks": list}, LABELS: {}}
# Of a question, what two values of say nothing to people.
_HASHED = {
    "content": "the project's files, or what is installed for its tests",
    "prompt": "how the model is asked",
    "prompt_block": "how the model is asked",
}
_WORDS: dict[type, str] = {str: "a text", dict: "an object", int: "a whole number", list: "a list"}


class RunError(Exception):
    """A run folder that can't be used; the message says which, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Run:
    """The folder of a run."""

    folder: Path

    @classmethod
    def begin(cls, folder: Path, asked: dict[str, str | int | Sequence[str]]) -> Run:
        """A new run, or the one in `folder` if it asked the same.

        Raises RunError where the folder holds another question or something that is not a run.
        """
        if folder.exists() and not folder.is_dir():
            raise RunError(f"{folder} is not a folder; name another")
        toml = "".join(f"{key} = {_toml(value)}\n" for key, value in asked.items())
        question = folder / "run.toml"
        if question.exists():
            if question.read_bytes() != toml.encode():
                raise cls(folder).another(asked)
        elif folder.exists() and any(folder.iterdir()):
            raise RunError(f"{folder} is not empty and not a run (it has no run.toml); name another folder")
        else:
            with write_atomically(question) as f:
                f.write(toml.encode())
        run = cls(folder)
        for name in (GENERATIONS, LABELS):
            run._drop_torn_end(name)
        return run

    @classmethod
    def opened(cls, folder: Path) -> Run:
        """An existing run, to read. Raises RunError."""
        if not (folder / "run.toml").is_file():
            raise RunError(f"{folder} is not a run: it has no run.toml")
        return cls(folder)

    def asked(self) -> dict[str, Any]:
        """What the run was asked. Raises RunError for a run.toml that is damaged or of another version."""
        path = self.folder / "run.toml"
        try:
            asked = tomllib.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise RunError(f"{path}: not TOML: {error}") from None
        if asked.get("schema") != SCHEMA:
            raise RunError(f"{path}: the schema is {asked.get('schema')!r}, this version of Assay reads {SCHEMA!r}")
        if missing := [name for name in ("model", "model_name", "prompt", "seed") if name not in asked]:
            raise RunError(f"{path}: missing: {', '.join(missing)}")
        return asked

    def another(self, now: Mapping[str, Any]) -> RunError:
        """The error that this run did not ask what is asked now. Raises RunError as `asked`."""
        differ = "; ".join(differences(self.asked(), now))
        return RunError(f"{self.folder} holds a run that asked something else ({differ}); name another folder or delete it")

    def append(self, name: str, records: Sequence[dict[str, Any]]) -> None:
        """Add lines to one of the run's files; they are on the disk when this returns."""
        with (self.folder / name).open("ab") as f:
            f.write("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records).encode())
            f.flush()
            os.fsync(f.fileno())

    def records(self, name: str) -> Iterator[dict[str, Any]]:
        """The whole lines of one of the run's files, a torn last one left out. Raises RunError for any other line that is damaged."""
        path = self.folder / name
        if not path.exists():
            return
        with path.open("rb") as f:
            for number, line in enumerate(f, 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise RunError(f"{path}:{number}: not JSON: {error}") from None
                there = record if isinstance(record, dict) else {}
                optional = {field: kind for field, kind in _OPTIONAL[name].items() if field in there}
                for field, kind in (_FIELDS[name] | optional).items():
                    if not isinstance(there.get(field), kind):
                        raise RunError(
                            f"{path}:{number}: {field!r} is missing or not {_WORDS[kind]}; delete the line to have it made again"
                        )
                yield there

    def _drop_torn_end(self, name: str) -> None:
        """A process that was killed while it wrote leaves a line without an end: nothing may be appended behind it."""
        path = self.folder / name
        if path.exists() and (data := path.read_bytes()) and not data.endswith(b"\n"):
            with path.open("rb+") as f:
                f.truncate(data.rfind(b"\n") + 1)


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """In what two questions differ, for people: "seed: 0 -> 5"."""
    names = [name for name in dict.fromkeys((*before, *now)) if before.get(name) != now.get(name)]
    if "interpreter" in names and "content" in names:
        names.remove("content")  # it is of the interpreter, too, so that it tells nothing of the files then
    told = (_HASHED.get(name) or f"{name}: {_told(before.get(name))} -> {_told(now.get(name))}" for name in names)
    return list(dict.fromkeys(told)) or ["it is written otherwise in run.toml"]


def _told(value: Any) -> str:
    if value is None:
        return "none given"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _toml(value: str | int | Sequence[str]) -> str:
    # JSON's strings, whole numbers and lists of strings are TOML's too, but for DEL, which TOML wants escaped.
    return json.dumps(value if isinstance(value, str | int) else list(value), ensure_ascii=False).replace("\x7f", "\\u007f")

"""A run: one execution of a study, as a folder that can be killed at any point, resumed, and reported on without a model.

run.toml            the question: a run is resumed only by the very same one
items.jsonl         what is asked about, where a study freezes it; its hash is part of the question
STEP.jsonl          the records of a step (answers, labels, …), one line per finished item, on the disk before the next is done
lost.json           by step, the ids of items that have no record; they are asked last when the run is resumed
wanted.json         by step, how many items are to be finished, while it has not ended
timings.jsonl       how long what took: all that differs between two runs of the same question
generations.jsonl   one line per generation, with its labels, written when the run ends

A file that was killed at any byte is mended by the next run: what is damaged is taken out, and its items are asked again.
Format in docs/formats.md.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..analysis.sandbox.isolation.tree import entries_below
from ..calibration.atomic_write import leftovers, leftovers_below, write_atomically
from .errors import RunError, UsageError


class _Damaged(ValueError):
    """A line that holds no record."""


@dataclass(frozen=True, slots=True)
class Records:
    """A file of records. kind: a TypedDict that names their fields, "id" among them; a record may have more."""

    path: Path
    kind: type[Any]

    def add(self, record: Mapping[str, Any]) -> None:
        """Add the record of a finished item; it is on the disk when this returns."""
        with self.path.open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> list[Any]:
        """The records by id, a torn last line left out. Raises RunError for any other damaged line, and for a second one of an item."""
        found, known = [], set[str]()
        for number, line in self._lines():
            try:
                found.append(self._record(line, known))
            except _Damaged as error:
                raise RunError(f"{self.path}:{number}: {error}; delete the line: an item without one is asked again") from None
        return sorted(found, key=_id)

    def mend(self) -> list[int]:
        """Take out the lines that hold no record, so that their items are asked again: a torn last one, which a kill leaves, and any that
        a fault of the disk left. Returns the numbers of the latter, and of further lines of an item that has one.
        """
        whole, damaged, known = [], [], set[str]()
        for number, line in self._lines():
            try:
                self._record(line, known)
                whole.append(line)
            except _Damaged:
                damaged.append(number)
        if self.path.exists() and self.path.stat().st_size != sum(map(len, whole)):
            self._write(whole)
        return damaged

    def sort(self) -> None:
        """Put the lines in the order of their ids, so that the file does not tell in which order the items were finished."""
        lines = [line for _, line in self._lines()]
        ordered = sorted(lines, key=lambda line: _id(json.loads(line)))
        if ordered != lines:
            self._write(ordered)

    def _write(self, lines: list[bytes]) -> None:
        with write_atomically(self.path) as file:
            file.writelines(lines)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        if self.path.exists():
            with self.path.open("rb") as file:
                yield from ((number, line) for number, line in enumerate(file, 1) if line.endswith(b"\n"))

    def _record(self, line: bytes, known: set[str]) -> Any:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _Damaged(f"not JSON: {error}") from None
        try:
            msgspec.convert(record, self.kind)
        except msgspec.ValidationError as error:
            raise _Damaged(f"not the record of an item: {error}") from None
        if _id(record) in known:
            raise _Damaged(f"the item {_id(record)} has a line before")
        known.add(_id(record))
        return record


def _id(record: Any) -> str:
    return str(record["id"])


RUN, ITEMS, LOST, WANTED = "run.toml", "items.jsonl", "lost.json", "wanted.json"
GENERATIONS, TIMINGS = "generations.jsonl", "timings.jsonl"
SCHEMA = "assay/run/3"

AnyItem = TypeVar("AnyItem")
Question = Mapping[str, str | int | Sequence[str]]

_NEEDED = ("study", "model", "model_name", "prompt")  # besides the seed, which is a number
# Parts of a question whose values tell people nothing.
_HASHED = {
    "content": "the project's files, or what is installed for its tests",
    "items": "what is asked about",
    "prompt": "how the model is asked",
    "prompt_block": "how the model is asked",
    "prompt_sampled": "how the model is asked",
}
_REASONS = {
    "assay/run/1": ": its labels judge what the model wrote, and not what the editor would have inserted. Make the run again elsewhere",
    "assay/run/2": ": it has no steps. Make the run again elsewhere",
}


def _every(record: Any) -> bool:
    return bool(record["id"])


@dataclass(frozen=True, slots=True)
class Step:
    """One step. name: of its file. unit: what one of its items is, for people. record: the fields of a record.

    counts: whether a record is one of those wanted; others are kept, too, and tell nothing.
    """

    name: str
    unit: str
    record: type[Any]
    counts: Callable[[Any], bool] = _every


class AskedQuestion(dict[str, Any]):
    """The fields of a run.toml. One that is asked for and is not there raises RunError: the file may have been written by hand."""

    def __init__(self, path: Path, fields: Mapping[str, Any]) -> None:
        """path: of run.toml."""
        super().__init__(fields)
        self.path = path

    def __missing__(self, name: str) -> Any:
        """Raises RunError."""
        raise RunError(f"{self.path}: missing: {name}")

    def lists(self, names: Sequence[str]) -> list[list[str]]:
        """Lists of texts that say something of the same things, so each has as many, and one at least. Raises RunError."""
        found = [self[name] for name in names]
        if not all(isinstance(each, list) and each and all(isinstance(text, str) for text in each) for each in found):
            raise RunError(f"{self.path}: must be lists of texts: {', '.join(names)}")
        if len({len(each) for each in found}) > 1:
            raise RunError(f"{self.path}: must have as many texts each: {', '.join(names)}")
        return found


@dataclass(frozen=True, slots=True)
class Run:
    """The folder of a run."""

    folder: Path

    @classmethod
    def begin(cls, folder: Path, question: Question, addable: Collection[str] = ()) -> Run:
        """A new run, or the one in `folder` if its question is the same. addable: parts that a run without them may be given later.

        Raises RunError where the folder holds another question or something that is not a run, or another process works on it.
        """
        if folder.exists() and not folder.is_dir():
            raise RunError(f"{folder} is not a folder; name another")
        path = folder / RUN
        if path.exists():
            _check_files(folder)
            before = cls(folder).question()
            added = [name for name in addable if name in question and name not in before]
            if before != {name: value for name, value in _as_read(question).items() if name not in added}:
                raise cls(folder).asks_something_else(question)
            with cls(folder).locked():
                for file in leftovers_below(folder):
                    file.unlink(missing_ok=True)
                if added:
                    cls(folder)._write_question(question)
        elif not is_free(folder):
            raise RunError(f"{folder} is not empty and not a run (it has no run.toml); name another folder")
        else:
            for file in leftovers(path):
                file.unlink(missing_ok=True)
            # It has the code of the project.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            cls(folder)._write_question(question)
        return cls(folder)

    def _write_question(self, question: Question) -> None:
        with write_atomically(self.folder / RUN) as file:
            file.write("".join(f"{key} = {_toml(value)}\n" for key, value in question.items()).encode())

    @classmethod
    def check(cls, folder: Path, known: Question) -> None:
        """See whether a run can begin or go on in a folder, where not all of its question is known yet. Makes nothing.

        Raises RunError where the folder holds a run that asks something else, or something that is no run; UsageError where it can't be
        made.
        """
        check_writable(folder, "the run is kept there")
        if (folder / RUN).exists():
            before = cls.opened(folder).question()
            if any(before.get(name) != value for name, value in _as_read(known).items()):
                raise cls(folder).asks_something_else({**before, **known})
        elif not is_free(folder):
            raise RunError(f"{folder} is not empty and not a run (it has no run.toml); name another folder")

    @classmethod
    def opened(cls, folder: Path) -> Run:
        """An existing run, to read. Raises RunError."""
        if not (folder / RUN).is_file():
            raise RunError(f"{folder} is not a run: it has no run.toml")
        _check_files(folder)
        return cls(folder)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from working on it at the same time. Raises RunError where one does."""
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RunError(f"another process works on {self.folder}: wait until it ends, or stop it") from None
            yield
        finally:
            os.close(folder)

    def question(self, needed: Sequence[str] = ()) -> AskedQuestion:
        """What the run asks. needed: the texts that its study needs besides those that every study has.

        Raises RunError for a run.toml that is damaged, of another version, or lacks what is needed.
        """
        path = self.folder / RUN
        try:
            question = tomllib.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise RunError(f"{path}: not TOML: {error}") from None
        if (schema := question.get("schema")) != SCHEMA:
            why = _REASONS.get(str(schema), "")
            raise RunError(f"{path}: the schema is {schema!r}, this version of Assay reads {SCHEMA!r}{why}")
        types = {**dict.fromkeys((*_NEEDED, *needed), str), "seed": int}
        if missing := [name for name in types if name not in question]:
            raise RunError(f"{path}: missing: {', '.join(missing)}")
        for name, type_ in types.items():
            if type(question[name]) is not type_:
                raise RunError(f"{path}: {name} must be {'a whole number' if type_ is int else 'text'}")
        return AskedQuestion(path, question)

    def asks_something_else(self, now: Question) -> RunError:
        """The error that this run asks something else than what is asked now. Raises RunError as `question`."""
        differ = "; ".join(differences(self.question(), now))
        return RunError(f"{self.folder} holds a run that asked something else ({differ}); name another folder or delete it")

    def records(self, step: Step) -> Records:
        """The records of one of its steps."""
        return Records(self.folder / f"{step.name}.jsonl", step.record)

    def by_id(self, step: Step, part: str = "") -> dict[str, Any]:
        """The records of a step by their ids, or a part of each. Raises RunError for damaged ones."""
        return {record["id"]: record[part] if part else record for record in self.records(step).read()}

    def lost(self, step: Step) -> set[str]:
        """Ids of the step's items that have no record; empty where lost.json can't be read: they are asked in their usual order then."""
        found = self._of_steps(LOST).get(step.name)
        return {name for name in found if isinstance(name, str)} if isinstance(found, list) else set()

    def keep_lost(self, step: Step, ids: Iterable[str]) -> None:
        """Write down which items of a step have no record."""
        self._keep_of_step(LOST, step, sorted(ids))

    def wanted(self, step: Step) -> int | None:
        """What `keep_wanted` wrote; None where there is nothing or it can't be read."""
        found = self._of_steps(WANTED).get(step.name)
        return found if type(found) is int else None

    def keep_wanted(self, step: Step, wanted: int | None) -> None:
        """Write down how many items of a step are to be finished. None: it has ended, or nobody gave a number."""
        self._keep_of_step(WANTED, step, wanted)

    def keep_items(self, lines: Iterable[bytes]) -> None:
        """Write what is asked about, unless it is there: the hash in the question says that it is the same."""
        if not (self.folder / ITEMS).exists():
            with write_atomically(self.folder / ITEMS) as file:
                file.writelines(lines)

    def items(self, kind: type[AnyItem]) -> list[AnyItem]:
        """What `keep_items` wrote; `kind` names the fields. Raises RunError where that is not what the run began with."""
        path = self.folder / ITEMS
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            content = b""
        if hashlib.sha256(content).hexdigest() != self.question(("items",))["items"]:
            raise RunError(f"{path} is not what the run began with: make the run again elsewhere")
        try:
            # not by msgspec's own decoder, which refuses half a surrogate pair
            return [msgspec.convert(json.loads(line), kind) for line in content.splitlines()]
        except (ValueError, RecursionError) as error:
            raise RunError(f"{path}: not the items of this study: {error}") from None

    def add_timings(self, step: Step, item: str, timings: Mapping[str, float]) -> None:
        """Note how long the parts of an item took, in milliseconds. A run that is killed may lose the last of them."""
        with (self.folder / TIMINGS).open("ab") as file:
            file.write(json.dumps({"step": step.name, "id": item, **timings}).encode() + b"\n")

    def write_lines(self, name: str, lines: Iterable[Mapping[str, Any]]) -> None:
        """Write one of the run's files of JSON Lines, whole or not at all."""
        with write_atomically(self.folder / name) as out:
            out.writelines(json.dumps(line).encode() + b"\n" for line in lines)

    def _of_steps(self, name: str) -> dict[str, Any]:
        try:
            found = json.loads((self.folder / name).read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _keep_of_step(self, name: str, step: Step, value: list[str] | int | None) -> None:
        kept = self._of_steps(name)
        kept.pop(step.name, None)
        if value:
            kept[step.name] = value
        if kept:
            with write_atomically(self.folder / name) as out:
                out.write(json.dumps(kept, sort_keys=True).encode())
        else:
            (self.folder / name).unlink(missing_ok=True)


def lines_of(items: Iterable[Any]) -> list[bytes]:
    """Records, or what is as a dataclass, as lines of JSON."""
    return [json.dumps(each if isinstance(each, dict) else asdict(each)).encode() + b"\n" for each in items]


def digest_of(lines: Iterable[bytes]) -> str:
    """Of lines, as a run's question has it."""
    return hashlib.sha256(b"".join(lines)).hexdigest()


def check_writable(folder: Path, why: str) -> None:
    """Raises UsageError where a folder is none, can't be made, or can't be written to. why: it is needed."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir():
        raise UsageError(
            f"{there} is not a folder; name another" if there == folder else f"{there} is not a folder, so {folder} can't be made; {why}"
        )
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{there} can't be written to; {why}")


def _check_files(folder: Path) -> None:
    """Raises RunError where a run's folder, which may come from anywhere, has what leads out of it or never ends."""
    for entry in entries_below(folder):
        if entry.is_symlink():
            raise RunError(f"{entry.path} is a symbolic link, and a run writes only into its own folder: remove it, or name another folder")
        if not (entry.is_dir() or entry.is_file()):
            raise RunError(f"{entry.path} is no file: remove it, or name another folder")


def is_free(folder: Path) -> bool:
    """Whether a run can begin in a folder: there is none, or nothing is in it but what a killed start left."""
    return not folder.exists() or set(folder.iterdir()) <= set(leftovers(folder / RUN))


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """In what two questions differ, for people: "seed: 0 -> 5"."""
    names = [name for name in dict.fromkeys((*before, *now)) if before.get(name) != now.get(name)]
    if "interpreter" in names and "content" in names:
        names.remove("content")  # the interpreter is part of it, so that it says nothing about the files then
    said = (_HASHED.get(name) or f"{name}: {_words(before.get(name))} -> {_words(now.get(name))}" for name in names)
    return list(dict.fromkeys(said))


def _words(value: Any) -> str:
    if value is None:
        return "none given"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _as_read(question: Question) -> dict[str, Any]:
    return {name: value if isinstance(value, str | int) else list(value) for name, value in question.items()}


def _toml(value: str | int | Sequence[str]) -> str:
    # JSON's strings, whole numbers and lists of strings are TOML's too, except for DEL, which TOML wants escaped.
    return json.dumps(value if isinstance(value, str | int) else list(value), ensure_ascii=False).replace("\x7f", "\\u007f")

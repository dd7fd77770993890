"""A run: one execution of a study, as a folder that can be killed at any point, resumed, and reported on without a model.

run.toml            the question: a run is resumed only by the very same one
answers.jsonl       one line per finished item, appended as it is finished: what was generated there, with its labels
lost.json           ids of items that got no answer; they are asked last when the run is resumed
wanted.json         how many items are to be finished, while the run has not ended
generations.jsonl   one line per generation, and
labels.jsonl        {"id", "exact_match", …} of each: both written from answers.jsonl when the run ends

Format in docs/formats.md.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

import msgspec

from ..analysis.sandbox.isolation.tree import entries_below
from ..calibration.atomic_write import leftovers, write_atomically

RUN, ANSWERS, LOST, WANTED = "run.toml", "answers.jsonl", "lost.json", "wanted.json"
GENERATIONS, LABELS = "generations.jsonl", "labels.jsonl"
SCHEMA = "assay/run/2"

Question = Mapping[str, str | int | Sequence[str]]

_NEEDED = ("study", "model", "model_name", "prompt")  # besides the seed, which is a number
# Parts of a question whose values tell people nothing.
_HASHED = {
    "content": "the project's files, or what is installed for its tests",
    "prompt": "how the model is asked",
    "prompt_block": "how the model is asked",
}
_REASONS = {
    "assay/run/1": ": its labels judge what the model wrote, and not what the editor would have inserted. Make the run again elsewhere"
}


class Generated(TypedDict):
    """One generation, as it is kept. text: what the model wrote; inserted: what the editor would insert, None where it would hide it."""

    id: str
    task: Annotated[str, msgspec.Meta(pattern="^[a-z_]{1,40}$")]
    text: str
    inserted: str | None
    truth: str
    measures: dict[str, float]
    labels: dict[str, bool | None]
    stopped_by: str
    timings: dict[str, float]
    rank: NotRequired[int]
    asked: NotRequired[dict[str, str]]
    fallbacks: NotRequired[list[str]]
    answers: NotRequired[list[str]]


class AnsweredItem(TypedDict):
    """Which item an answer is of."""

    id: str
    project: str
    file: str
    function: str
    line: int


class Answer(AnsweredItem):
    """What is known of a finished item. A study may have answers, and generations, with more fields."""

    generations: list[Generated]


class RunError(Exception):
    """A run folder that can't be used; the message says which, why, and what to do."""


class _Damaged(ValueError):
    """A line that holds no answer."""


@dataclass(frozen=True, slots=True)
class Run:
    """The folder of a run."""

    folder: Path

    @classmethod
    def begin(cls, folder: Path, question: Question) -> Run:
        """A new run, or the one in `folder` if its question is the same.

        Raises RunError where the folder holds another question or something that is not a run.
        """
        if folder.exists() and not folder.is_dir():
            raise RunError(f"{folder} is not a folder; name another")
        toml = "".join(f"{key} = {_toml(value)}\n" for key, value in question.items())
        path = folder / RUN
        if path.exists():
            _check_files(folder)
            if path.read_bytes() != toml.encode():
                raise cls(folder).asks_something_else(question)
        elif not is_free(folder):
            raise RunError(f"{folder} is not empty and not a run (it has no run.toml); name another folder")
        else:
            for file in leftovers(path):
                file.unlink(missing_ok=True)
            # It has the code of the project.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with write_atomically(path) as f:
                f.write(toml.encode())
        return cls(folder)

    @classmethod
    def opened(cls, folder: Path) -> Run:
        """An existing run, to read. Raises RunError."""
        if not (folder / RUN).is_file():
            raise RunError(f"{folder} is not a run: it has no run.toml")
        _check_files(folder)
        return cls(folder)

    def question(self, needed: Sequence[str] = ()) -> dict[str, Any]:
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
        return question

    def asks_something_else(self, now: Question) -> RunError:
        """The error that this run asks something else than what is asked now. Raises RunError as `question`."""
        differ = "; ".join(differences(self.question(), now))
        return RunError(f"{self.folder} holds a run that asked something else ({differ}); name another folder or delete it")

    def keep(self, answer: Mapping[str, Any]) -> None:
        """Add the answer of a finished item; it is on the disk when this returns."""
        with (self.folder / ANSWERS).open("ab") as f:
            f.write(json.dumps(answer).encode() + b"\n")
            f.flush()
            os.fsync(f.fileno())

    def answers(self, kind: type[Any] = Answer) -> list[Any]:
        """The answers by id, a torn last line left out; `kind` names their fields. Raises RunError for any other damaged line."""
        found = []
        for number, line in self._lines():
            try:
                found.append(_answer(line, kind))
            except _Damaged as error:
                raise RunError(f"{self.folder / ANSWERS}:{number}: {error}; delete the line to have its item asked again") from None
        return sorted(found, key=lambda answer: str(answer["id"]))

    def drop_damaged(self, kind: type[Any] = Answer) -> list[int]:
        """Remove the lines that hold no answer, so that their items are asked again: a torn last one, which a kill leaves, and any that a
        fault of the disk left. Returns the numbers of the latter.
        """
        path, whole, damaged = self.folder / ANSWERS, [], []
        for number, line in self._lines():
            try:
                _answer(line, kind)
                whole.append(line)
            except _Damaged:
                damaged.append(number)
        if path.exists() and path.stat().st_size != sum(map(len, whole)):
            with write_atomically(path) as f:
                f.writelines(whole)
        return damaged

    def lost(self) -> set[str]:
        """Ids of items that got no answer; empty where lost.json can't be read: they are asked in their usual order then."""
        try:
            found = json.loads((self.folder / LOST).read_bytes())
        except (OSError, ValueError, RecursionError):
            return set()
        return {name for name in found if isinstance(name, str)} if isinstance(found, list) else set()

    def keep_lost(self, ids: Iterable[str]) -> None:
        """Write down which items got no answer."""
        with write_atomically(self.folder / LOST) as out:
            out.write(json.dumps(sorted(ids)).encode())

    def wanted(self) -> int | None:
        """What `keep_wanted` wrote; None where there is nothing or it can't be read."""
        try:
            found = json.loads((self.folder / WANTED).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        return found if type(found) is int else None

    def keep_wanted(self, wanted: int | None) -> None:
        """Write down how many items are to be finished. None: the run has ended, or nobody gave a number."""
        if wanted is None:
            (self.folder / WANTED).unlink(missing_ok=True)
            return
        with write_atomically(self.folder / WANTED) as out:
            out.write(json.dumps(wanted).encode())

    def write_lines(self, name: str, lines: Iterable[Mapping[str, Any]]) -> None:
        """Write one of the run's files of JSON Lines, whole or not at all."""
        with write_atomically(self.folder / name) as out:
            out.writelines(json.dumps(line).encode() + b"\n" for line in lines)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        path = self.folder / ANSWERS
        if path.exists():
            with path.open("rb") as f:
                yield from ((number, line) for number, line in enumerate(f, 1) if line.endswith(b"\n"))


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


def _answer(line: bytes, kind: type[Any]) -> Any:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _Damaged(f"not JSON: {error}") from None
    try:
        msgspec.convert(record, kind)
    except msgspec.ValidationError as error:
        raise _Damaged(f"not the answer of an item: {error}") from None
    return record


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """In what two questions differ, for people: "seed: 0 -> 5"."""
    names = [name for name in dict.fromkeys((*before, *now)) if before.get(name) != now.get(name)]
    if "interpreter" in names and "content" in names:
        names.remove("content")  # the interpreter is part of it, so that it says nothing about the files then
    said = (_HASHED.get(name) or f"{name}: {_words(before.get(name))} -> {_words(now.get(name))}" for name in names)
    return list(dict.fromkeys(said)) or ["it is written otherwise in run.toml"]


def _words(value: Any) -> str:
    if value is None:
        return "none given"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _toml(value: str | int | Sequence[str]) -> str:
    # JSON's strings, whole numbers and lists of strings are TOML's too, except for DEL, which TOML wants escaped.
    return json.dumps(value if isinstance(value, str | int) else list(value), ensure_ascii=False).replace("\x7f", "\\u007f")

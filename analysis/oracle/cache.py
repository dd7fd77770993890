"""Baselines and coverage on disk, under a hash of all that they depend on."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
import zlib
from pathlib import Path
from typing import Generic, Literal, TypeVar

import msgspec

from .baseline import Baseline, Coverage
from .copying import ProjectCopy
from .interpreter import Interpreter
from .suite import PLUGIN

_Result = TypeVar("_Result", Baseline, Coverage)
_Content = TypeVar("_Content")


class _Stored(msgspec.Struct, Generic[_Content]):
    content: _Content
    schema: Literal["assay/oracle/2"] = "assay/oracle/2"


class _Coverage(msgspec.Struct):
    """A coverage with each test's name, and each set of tests, once: elsewhere they are numbers."""

    tests: list[str]
    sets: list[list[int]]
    lines: dict[str, dict[int, int]]
    imported: dict[str, frozenset[int]]
    fresh: list[int]
    modules: frozenset[str]


def key_of(copied: ProjectCopy, interpreter: Interpreter, settings: str) -> str:
    """A hash of the project's content, its Python with all that is installed, the plugin, and the settings of the runs."""
    digest = hashlib.sha256()
    told = [copied.sha256, str(interpreter.path), str(interpreter.python), *interpreter.distributions, settings]
    digest.update(json.dumps(told).encode())
    for source in sorted((PLUGIN / "assay_oracle").glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def load(folder: Path, key: str, kind: type[_Result]) -> _Result | None:
    """What is stored under a key; None where there is nothing, or nothing that can be read."""
    try:
        data = gzip.decompress(_path(folder, key, kind).read_bytes())
        if issubclass(kind, Coverage):
            return _unpacked(msgspec.json.decode(data, type=_Stored[_Coverage]).content)
        return msgspec.json.decode(data, type=_Stored[kind]).content  # type: ignore[valid-type]
    except (OSError, EOFError, ValueError, IndexError, zlib.error, msgspec.DecodeError):
        return None


def has(folder: Path, key: str, kind: type) -> bool:
    """Whether something is stored under a key."""
    return _path(folder, key, kind).is_file()


def _path(folder: Path, key: str, kind: type) -> Path:
    return folder / f"{key}.{kind.__name__.lower()}.json.gz"


def store(folder: Path, key: str, result: Baseline | Coverage) -> None:
    """Store a result under a key. It is written to a temporary file and renamed, so that nobody reads half of it."""
    folder.mkdir(parents=True, exist_ok=True)
    content = _packed(result) if isinstance(result, Coverage) else result
    handle, name = tempfile.mkstemp(dir=folder, prefix=".kept-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(gzip.compress(msgspec.json.encode(_Stored(content)), compresslevel=3))
        Path(name).replace(_path(folder, key, type(result)))
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _packed(coverage: Coverage) -> _Coverage:
    tests = sorted({test for by_line in coverage.tests.values() for found in by_line.values() for test in found} | coverage.fresh)
    number = {test: i for i, test in enumerate(tests)}
    sets: dict[frozenset[str], int] = {}
    lines = {file: {line: sets.setdefault(found, len(sets)) for line, found in by_line.items()} for file, by_line in coverage.tests.items()}
    return _Coverage(
        tests,
        [[number[test] for test in found] for found in sets],
        lines,
        coverage.imported,
        [number[test] for test in coverage.fresh],
        coverage.modules,
    )


def _unpacked(stored: _Coverage) -> Coverage:
    sets = [frozenset(stored.tests[i] for i in numbers) for numbers in stored.sets]
    tests = {file: {line: sets[i] for line, i in by_line.items()} for file, by_line in stored.lines.items()}
    return Coverage(tests, stored.imported, frozenset(stored.tests[i] for i in stored.fresh), stored.modules)

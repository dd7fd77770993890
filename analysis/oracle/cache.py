"""Baselines and coverage on disk, under a hash of all that they depend on."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .baseline import Baseline, Coverage
from .copying import ProjectCopy
from .interpreter import Interpreter
from .suite import PLUGIN

SCHEMA = "assay/oracle/2"


def key_of(copied: ProjectCopy, interpreter: Interpreter, settings: str) -> str:
    """A hash of the project's content, its Python with all that is installed, the plugin, and the settings of the runs."""
    digest = hashlib.sha256()
    told = [copied.sha256, str(interpreter.path), str(interpreter.python), *interpreter.distributions, settings]
    digest.update(json.dumps(told).encode())
    for source in sorted((PLUGIN / "assay_oracle").glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def load(folder: Path, key: str, kind: str) -> dict[str, Any] | None:
    """What is stored under a key; None where there is nothing, or nothing that can be read."""
    try:
        with gzip.open(_path(folder, key, kind), "rt", encoding="utf-8") as file:
            kept = json.load(file)
    except (OSError, EOFError, ValueError, zlib.error):
        return None
    return kept["content"] if isinstance(kept, dict) and kept.get("schema") == SCHEMA and isinstance(kept.get("content"), dict) else None


def has(folder: Path, key: str, kind: str) -> bool:
    """Whether something is stored under a key."""
    return _path(folder, key, kind).is_file()


def _path(folder: Path, key: str, kind: str) -> Path:
    return folder / f"{key}.{kind}.json.gz"


def store(folder: Path, key: str, kind: str, content: dict[str, Any]) -> None:
    """Store content under a key. It is written to a temporary file and renamed, so that nobody reads half of it."""
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{kind}-")
    try:
        with os.fdopen(handle, "wb") as raw, gzip.open(raw, "wt", encoding="utf-8", compresslevel=3) as file:
            json.dump({"schema": SCHEMA, "content": content}, file, separators=(",", ":"))
        Path(name).replace(_path(folder, key, kind))
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def baseline_as_json(baseline: Baseline) -> dict[str, Any]:
    """The stored form of a baseline."""
    return asdict(baseline)


def baseline_from_json(content: dict[str, Any]) -> Baseline:
    """The baseline of a stored form."""
    return Baseline(**(content | {"notes": tuple(content["notes"])}))


def coverage_as_json(coverage: Coverage) -> dict[str, Any]:
    """The stored form of a coverage, which has each test's name and each set of tests once."""
    tests = sorted({test for by_line in coverage.tests.values() for found in by_line.values() for test in found} | coverage.fresh)
    number = {test: i for i, test in enumerate(tests)}
    sets: dict[frozenset[str], int] = {}
    lines = {
        file: {str(line): sets.setdefault(found, len(sets)) for line, found in by_line.items()} for file, by_line in coverage.tests.items()
    }
    return {
        "tests": tests,
        "sets": [sorted(number[test] for test in found) for found in sets],
        "lines": lines,
        "imported": {file: sorted(numbers) for file, numbers in coverage.imported.items()},
        "fresh": sorted(number[test] for test in coverage.fresh),
        "modules": sorted(coverage.modules),
    }


def coverage_from_json(content: dict[str, Any]) -> Coverage:
    """The coverage of a stored form."""
    tests = content["tests"]
    sets = [frozenset(tests[i] for i in numbers) for numbers in content["sets"]]
    return Coverage(
        {file: {int(line): sets[i] for line, i in by_line.items()} for file, by_line in content["lines"].items()},
        {file: frozenset(numbers) for file, numbers in content["imported"].items()},
        frozenset(tests[i] for i in content["fresh"]),
        frozenset(content["modules"]),
    )

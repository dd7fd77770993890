"""Analyse files of a standard library."""

from __future__ import annotations

import ast
import math
import random
import shutil
import subprocess
import warnings
from pathlib import Path

from assay.analysis.python.docstrings import without_docstrings
from assay.analysis.python.lines import sample_lines
from assay.analysis.python.regions import candidates, deleted, weights
from assay.analysis.python.source_text import BOM, UnreadableSource, decoded
from assay.analysis.python.statements import parse_statements


def python_files(stdlib: Path) -> list[Path]:
    """Of a standard library; what was installed beside it left out."""
    return [path for path in sorted(stdlib.rglob("*.py")) if "site-packages" not in path.parts]


def compiles(source: str) -> bool:
    """As Python does, which says nothing of what it would warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source.removeprefix(BOM), "source", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def parses(source: str) -> bool:
    """Whether it is Python but for what only a whole function could say of a `break` or `nonlocal`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bool(ast.parse(source).body)


def check(path: Path) -> str | None:
    """Regions, docstrings and lines of a file are what they should be; the reason where the file is refused."""
    data = path.read_bytes()
    try:
        source, encoding = decoded(data)
        module = parse_statements(source)
    except UnreadableSource as error:
        return str(error)
    assert source.encode(encoding) == data
    rng = random.Random(path.name)
    sound = compiles(source)
    regions = candidates(source)
    assert all(32 <= region.end - region.start <= 384 for region in regions)
    assert all(math.isfinite(weight) and weight > 0 for weight in weights(source, regions))
    for region in rng.sample(regions, min(3, len(regions))):
        code = source[region.start : region.end]
        assert code == code.strip()
        text = deleted(source, region)
        assert not sound or compiles(text), (path, region)
        assert not sound or parses("async def f():\n" + source[module.starts[region.first_line - 1] : region.end])
    check_docstrings(source, sound)
    return None


def check_docstrings(source: str, sound: bool) -> None:
    """None are left, what is left compiles, and lines are found again."""
    bare = without_docstrings(source)
    assert not parse_statements(bare.text).docstrings
    assert not sound or compiles(bare.text)
    for line in sample_lines(source, "0"):
        same = bare.line(line)
        assert same is None or bare.text[same.start : same.end] == source[line.start : line.end]


def standard_library_of(version: str) -> Path | None:
    """The standard library of a Python of a version ("3.13") that runs, on the path or of pyenv; None where there is none."""
    ask = "import sys, sysconfig; print(*sys.version_info[:2], sep='.'); print(sysconfig.get_path('stdlib'))"
    for python in filter(None, [shutil.which(f"python{version}"), *_of_pyenv(version)]):
        ran = subprocess.run([python, "-c", ask], capture_output=True, text=True, timeout=60, check=False)
        said = ran.stdout.splitlines()
        if ran.returncode == 0 and said[0] == version:
            return Path(said[1])
    return None


def _of_pyenv(version: str) -> list[Path]:
    pyenv = shutil.which("pyenv")
    if pyenv is None:
        return []
    root = subprocess.run([pyenv, "root"], capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    return sorted(Path(root).glob(f"versions/{version}.*/bin/python"))

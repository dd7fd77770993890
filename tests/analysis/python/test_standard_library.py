"""Regions, bodies, docstrings and lines of files of the standard library, of this Python and of others that are here."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest
from standard_library import check, python_files, standard_library_of

# All files take minutes.
STEP = 30


def broken_on_purpose(path: Path) -> bool:
    """Data of tests: Python 2, wrong encodings, syntax errors, a layout that tree-sitter does not read."""
    return not {"lib2to3", "test_lib2to3"}.isdisjoint(path.parts) or path.name.startswith(("bad", "nosyntax", "test_compile.py"))


@pytest.mark.slow
@pytest.mark.parametrize("version", [None, "3.12", "3.13"])
def test_a_standard_library_is_analysed_without_an_exception(version: str | None) -> None:
    stdlib = Path(sysconfig.get_path("stdlib")) if version is None else standard_library_of(version)
    if stdlib is None:
        pytest.skip(f"no Python {version} is on the path or of pyenv")
    files = python_files(stdlib)[::STEP]
    refused = [path for path in files if check(path) is not None]
    assert [path for path in refused if not broken_on_purpose(path)] == []
    assert len(files) - len(refused) > 1000 / STEP

"""The examples in docstrings are true, and docs/formats.md has the fields of the classes that hold the formats."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from docs import formats

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("folder", ["calibration", "cli", "suggestion"])
def test_what_an_example_in_a_docstring_says_is_so(folder: str) -> None:
    files = [file for file in sorted((ROOT / folder).rglob("*.py")) if "    >>> " in file.read_text(encoding="utf-8")]
    modules = [import_module(".".join(("assay", *file.relative_to(ROOT).with_suffix("").parts))) for file in files]
    found = {module.__name__: doctest.testmod(module) for module in modules}
    assert {name for name, each in found.items() if each.failed or not each.attempted} == set()


def test_the_page_has_the_fields_as_they_are() -> None:
    page = formats.PAGE.read_text(encoding="utf-8")
    assert formats.written(page) == page, "run `make formats`"

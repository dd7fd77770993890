"""The examples in docstrings are true."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("folder", ["calibration", "cli", "suggestion"])
def test_what_an_example_in_a_docstring_says_is_so(folder: str) -> None:
    files = [file for file in sorted((ROOT / folder).rglob("*.py")) if "    >>> " in file.read_text(encoding="utf-8")]
    modules = [import_module(".".join(("assay", *file.relative_to(ROOT).with_suffix("").parts))) for file in files]
    found = {module.__name__: doctest.testmod(module) for module in modules}
    assert {name for name, each in found.items() if each.failed or not each.attempted} == set()

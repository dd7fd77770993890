"""What pages and docstrings say of the code is so: their examples, the fields of the formats, and the tests that they name."""

from __future__ import annotations

import doctest
import re
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


def test_every_test_that_the_page_on_security_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "security.md").read_text(encoding="utf-8")))
    written = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    assert named
    assert {name for name in named if f"def {name}(" not in written} == set()

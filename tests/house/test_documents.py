"""What pages and docstrings say of the code is so: their examples, the fields of the formats, and the tests that they name."""

from __future__ import annotations

import doctest
import json
import math
import random
import re
import subprocess
import sys
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


def test_the_script_of_the_page_on_python_runs(tmp_path: Path) -> None:
    rng = random.Random(0)
    rows = [(f"p{n % 40}", -rng.expovariate(1.0)) for n in range(400)]
    answers = [
        {"problem": of, "text": "x" * rng.randint(1, 9), "logprobs": [s / 2, s / 2], "right": rng.random() < math.exp(s)} for of, s in rows
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    script = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", *script], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"^informative ", ran.stdout, re.MULTILINE)
    assert len(ran.stdout.splitlines()[-1].strip("[]").split()) == 5


def test_every_test_that_the_page_on_security_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "security.md").read_text(encoding="utf-8")))
    written = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    assert named
    assert {name for name in named if f"def {name}(" not in written} == set()

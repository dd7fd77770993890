"""What this machine can't run is one skip for each reason, however many tests that are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest
from needs import needs

pytestmark = needs("no house", fixture="house")

@pytest.fixture
def house(): raise AssertionError

@pytest.mark.parametrize("n", range(40))
def test_in_the_house(house, n): pass

@needs("no car")
@pytest.mark.parametrize("n", range(3))
def test_in_the_car(n): raise AssertionError

@pytest.mark.slow
@needs("no car")
def test_far_away(): pass

@needs("no car")
def test_in_the_car_and_the_house(house): pass

@needs("")
def test_on_foot(): pass
"""


@pytest.mark.slow
def test_of_what_can_not_run_one_test_is_skipped_for_each_reason_and_says_how_many_there_are(tmp_path: Path) -> None:
    (tmp_path / "test_all.py").write_text(TESTS)
    here = Path(__file__).parents[1]
    options = ["-p", "conftest", "-p", "no:cacheprovider", "-rs", "-m", "not slow"]
    places = ["-c", str(here.parent / "pyproject.toml"), "--rootdir", str(tmp_path), str(tmp_path / "test_all.py")]
    command = [sys.executable, "-m", "pytest", *options, *places]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=here, timeout=120, check=False)
    said = [line.rpartition(": ")[2] for line in ran.stdout.splitlines() if line.startswith("SKIPPED")]
    assert sorted(said) == ["no car, which 4 of these tests need", "no house, which 40 of these tests need"], ran.stdout
    assert "1 passed, 2 skipped, 43 deselected" in ran.stdout

"""Repairs of small projects, judged by their tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from shop_project import isolated, write

from assay.suggestion.repair import project_tests
from assay.suggestion.repair.project_tests import NoTests, ProjectTests, in_place_of, project_of

BUG = "def double(x):\n    return x * 3\n"
TEST = "import one\n\n\ndef test_double():\n    assert one.double(2) == 4\n\n\ndef test_zero():\n    assert one.double(0) == 0\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "one", {"one.py": BUG, "test_one.py": TEST, "pyproject.toml": ""})


@pytest.mark.slow
def test_repairs_of_a_file_are_judged_beside_what_stands_there(project: Path, bare_python: Path) -> None:
    isolated()
    with ProjectTests(project, python=bare_python) as tests:
        assert tests.measure() == 2
        right = BUG.replace("3", "2")
        found = tests.judge(project / "one.py", BUG)(right)
        assert (found.passed, found.tests, found.mends) == (True, 2, ("test_one.py::test_double",))
        worse = tests.judge(project / "one.py", right)(BUG)
        assert (worse.passed, worse.breaks) == (False, ("test_one.py::test_double",))
        assert "can't be what its own suite judges" in tests.judge(project / "test_one.py", TEST)(TEST + "\n").why
        assert "no such file" in tests.judge(project / "new.py", "x = 1\n")("x = 2\n").why
        for file, why in ((project / "notes.txt", "not a Python file"), (project.parent / "other.py", "not in the project")):
            with pytest.raises(NoTests, match=why):
                tests.judge(file, "")


@pytest.mark.slow
def test_a_file_that_does_not_parse_is_mended_by_what_the_tests_then_pass(project: Path, bare_python: Path) -> None:
    isolated()
    broken, right, wrong = BUG.replace("3", "2)"), BUG.replace("3", "2"), BUG
    # How the tests were run and which were not is said.
    write(project, {"pytest.ini": "[pytest]\naddopts = --no-such-option\n", "test_b.py": "import nothing_of_this_name\n"})
    file = project / "one.py"
    file.write_text(broken)
    instead = in_place_of(file, [broken, wrong, right])
    assert instead == {file: wrong}
    with ProjectTests(project, python=bare_python, instead=instead) as tests:
        judge = tests.judge(file, broken)
        assert (judge(right).passed, judge(right).mends) == (True, ("test_one.py::test_double", "test_one.py::test_zero"))
        options, collected = tests.remarks()
        assert options.startswith("run without the project's own pytest options: ")
        assert "--no-such-option" in options
        assert collected.startswith("test_b.py can't be collected, so its tests are not run: ")
        part = judge(wrong)
        assert (part.passed, part.mends, part.failing) == (True, ("test_one.py::test_zero",), ("test_one.py::test_double",))
    assert file.read_text() == broken
    file.write_text(right)
    assert in_place_of(file, [wrong]) == {}


# Four programs, each with its bug, and one file of tests. The second calls itself until the stack ends, which ends the watch of lines, too.
FOUR = {
    "gcd.py": "def gcd(a, b):\n    if b == 0:\n        return a\n    return gcd(a % b, b)\n",
    "find.py": "def find(xs, x, low, high):\n    if low == high:\n        return -1\n    middle = (low + high) // 2\n"
    "    return find(xs, x, low, middle) if x < xs[middle] else find(xs, x, middle, high)\n",
    "quicksort.py": "def quicksort(xs):\n    if not xs:\n        return []\n    first = xs[0]\n"
    "    return quicksort([x for x in xs if x < first]) + [first] + quicksort([x for x in xs if x > first])\n",
    "count.py": "def count(xs):\n    return len(xs) + 1\n",
    "test_all.py": "from count import count\nfrom find import find\nfrom gcd import gcd\nfrom quicksort import quicksort\n\n\n"
    "def test_gcd():\n    assert gcd(35, 21) == 7\n\n\ndef test_gcd_of_zero():\n    assert gcd(35, 0) == 35\n\n\n"
    "def test_find():\n    assert find([3, 4, 5], 9, 0, 3) == -1\n\n\n"
    "def test_quicksort():\n    assert quicksort([2, 1, 2]) == [1, 2, 2]\n\n\ndef test_count():\n    assert count([]) == 0\n",
}


@pytest.mark.slow
def test_a_repair_is_verified_beside_tests_that_fail_for_another_reason(tmp_path: Path, bare_python: Path) -> None:
    isolated()
    project = write(tmp_path / "four", FOUR | {"pytest.ini": ""})
    with ProjectTests(project, python=bare_python) as tests:
        assert tests.measure() == 5
        assert len(tests.failing()) == 4
        judge = tests.judge(project / "gcd.py", FOUR["gcd.py"])
        right, worse = judge(FOUR["gcd.py"].replace("a % b, b", "b, a % b")), judge(FOUR["gcd.py"].replace("return a\n", "return 7\n"))
        assert (right.passed, right.mends, right.breaks) == (True, ("test_all.py::test_gcd",), ())
        assert "test_all.py::test_gcd" not in right.failing
        assert right.title.startswith("✔ ")
        assert (worse.passed, worse.breaks) == (False, ("test_all.py::test_gcd_of_zero",))
        assert judge(FOUR["gcd.py"].replace("a % b, b", "b % a, b")).passed is False


@pytest.mark.slow
def test_a_suite_whose_outcomes_change_or_that_needs_minutes_is_not_relied_on(project: Path, bare_python: Path) -> None:
    isolated()
    flaky = "import os\n\nimport pytest\n\n\n@pytest.mark.parametrize('n', range(40))\ndef test_f(n):\n    assert os.urandom(1)[0] % 2\n"
    write(project, {"test_one.py": flaky})
    with ProjectTests(project, python=bare_python) as tests, pytest.raises(NoTests, match="have not the same outcome"):
        tests.measure()
    slow = "import time\n\nimport pytest\n\n\n@pytest.mark.parametrize('n', range(500))\ndef test_slow(n):\n    time.sleep(0.5)\n"
    write(project, {"test_slow.py": slow})
    with ProjectTests(project, python=bare_python, max_suite_s=10) as tests, pytest.raises(NoTests, match="takes too long"):
        tests.measure()


def test_where_no_tests_can_be_run_the_reason_is_a_sentence(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "bare", {"one.py": BUG, ".venv/pyvenv.cfg": "", ".venv/lib/test_it.py": TEST})
    with pytest.raises(NoTests, match="has no Python tests"):
        ProjectTests(tmp_path / "bare")
    with pytest.raises(NoTests, match="is not a folder"):
        ProjectTests(tmp_path / "bare/one.py")
    monkeypatch.setenv("HOME", str(tmp_path / "bare"))
    with pytest.raises(NoTests, match="holds your home folder"):
        ProjectTests(tmp_path)
    isolated()
    with pytest.raises(NoTests, match="no such program"):
        ProjectTests(project, python=project / "python")
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(NoTests, match="the sandbox for them needs Linux"):
        ProjectTests(project)


def test_the_project_of_a_file_is_the_nearest_folder_that_looks_like_one(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "", "a/b/c.py": "", "a/setup.cfg": ""})
    assert project_of(tmp_path / "a" / "b" / "c.py") == tmp_path / "a"
    assert project_of(tmp_path / "d.py") == tmp_path
    assert os.sep in str(project_tests.default_cache())

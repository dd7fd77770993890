"""`assay why`: which lines of a project it lists for a failing test, and what it refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from house.running import assay_here
from shop_project import isolated, write

from assay.analysis.oracle.spectrum import Suspect
from assay.calibration.confidence import Confidence, uncalibrated
from assay.calibration.registry import load_registry
from assay.cli.exit_codes import UsageError
from assay.cli.why import in_project, named, report_lines
from assay.suggestion.repair.localisation import Located

CODE = """def double(x):
    return x * 3


def half(x):
    return x / 2
"""
TEST = """import one


def test_double():
    assert one.double(one.half(4)) == 4


def test_zero():
    assert one.double(0) == 0


def test_half():
    assert one.half(4) == 2
"""


# Lives in the process that reports which lines a test runs, and names a file of the user's.
REPORTS_A_SECRET = """import gc

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    yield
    for watch in (each for each in gc.get_objects() if type(each).__name__ == "LineWatch"):
        watch._owners[-1].setdefault({file!r}, set()).update(range(1, 6))
"""


def test_a_test_is_named_by_its_end_and_what_fits_several_or_none_is_refused() -> None:
    failing = ["tests/test_a.py::test_one", "tests/test_b.py::TestIt::test_one", "tests/test_b.py::test_two"]
    assert named(failing, "test_two") == named(failing, "test_b.py::test_two") == failing[2:]
    assert named(failing, "tests/test_a.py::test_one") == failing[:1]
    assert named(["a.py::test_x[1]", "a.py::test_x[b/test_two]", "a.py::test_two[x]"], "test_x") == [
        "a.py::test_x[1]",
        "a.py::test_x[b/test_two]",
    ]
    with pytest.raises(UsageError, match="2 failing tests end with test_one"):
        named(failing, "test_one")
    with pytest.raises(UsageError, match="those that fail are tests/test_a"):
        named(failing, "test_three")
    with pytest.raises(UsageError, match="no test fails"):
        named([], "test_one")


def test_a_file_that_cannot_be_collected_is_named_with_its_error_as_what_fails() -> None:
    broken = {"tests/test_c.py": "shop.py:1: ModuleNotFoundError: No module named 'x'", "test_d.py": "SyntaxError"}
    with pytest.raises(UsageError, match=r"tests/test_c\.py: shop\.py:1: ModuleNotFoundError: No module named 'x'") as refused:
        named(["test_a.py::test_one"], "test_c.py::test_three", broken)
    assert "test_d.py" not in str(refused.value)


def test_a_path_in_a_name_may_be_written_in_any_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = write(tmp_path / "one", {"tests/test_a.py": "", "src/a.py": ""}).resolve()
    (tmp_path / "link").symlink_to(project)
    names = ["tests/test_a.py::T::test_x[a/../b]", "./tests/test_a.py::T::test_x[a/../b]", "tests//./test_a.py::T::test_x[a/../b]"]
    names += [f"{place}/tests/test_a.py::T::test_x[a/../b]" for place in (project, tmp_path / "link")]
    monkeypatch.chdir(project)
    assert {in_project(name, project) for name in names} == {names[0]}
    monkeypatch.chdir(project / "src")
    assert in_project("../tests/test_a.py::t", project) == in_project("tests/test_a.py::t", project) == "tests/test_a.py::t"
    for name in ("test_x[a/../b]", "/etc/passwd::t", "../../x.py::t"):
        assert in_project(name, project) == name


def line(number: int, confidence: Confidence) -> Located:
    return Located(Suspect("one.py", number, 1, 2, 0.5), {"line_surprise": 1.5}, confidence)


def test_a_line_has_a_range_and_it_is_said_that_each_is_judged_by_itself() -> None:
    likely = Confidence("informative", "exact_match", 0.51, 0.18, 0.83, "possible", "id", "")
    none = uncalibrated("exact_match", "there is no calibrator")
    assert list(report_lines([line(2, likely), line(3, none)], lambda suspect: f"code {suspect.line}")) == [
        "◈ 18-83 %      one.py:2: code 2  (2 passing tests run it; surprise 1.5 nats)",
        "○ no evidence  one.py:3: code 3  (2 passing tests run it; surprise 1.5 nats)",
        "Each line is judged by itself, so the numbers need not add up to 100 %.",
        "no evidence: there is no calibrator",
    ]
    assert "100 %" not in "".join(report_lines([line(3, none)], lambda _: "code"))


@pytest.mark.slow
def test_a_file_that_only_the_tests_have_named_is_not_printed(tmp_path: Path) -> None:
    isolated()
    (tmp_path / "secret.py").write_text("token = 'abcdef'\n")
    files = {"one.py": CODE, "test_one.py": TEST, "pyproject.toml": "", "conftest.py": REPORTS_A_SECRET.format(file="../secret.py")}
    ran = assay_here("why", "test_double", "--yes", "--python", sys.executable, cwd=write(tmp_path / "one", files))
    assert ran.returncode == 0, ran.stderr
    assert "one.py:2: return x * 3" in ran.stdout
    assert "secret" not in ran.stdout + ran.stderr
    assert "token" not in ran.stdout


@pytest.mark.slow
def test_the_lines_that_a_failing_test_runs_are_listed_those_of_few_others_first(tmp_path: Path) -> None:
    isolated()
    project = write(tmp_path / "one", {"one.py": CODE, "test_one.py": TEST, "pyproject.toml": ""})
    ran = assay_here("why", "test_double", "--yes", "--json", "--python", sys.executable, cwd=project)
    assert ran.returncode == 0, ran.stderr
    document = json.loads(ran.stdout)
    assert document["test"] == "test_one.py::test_double"
    assert {(line["file"], line["line"]) for line in document["lines"]} == {("one.py", 2), ("one.py", 6)}
    has_number = any(each.calibrator.task == "fault" for each in load_registry().entries)
    for found in document["lines"]:
        assert found["confidence"]["text"].endswith(" % the bug is here") == has_number
    ran = assay_here("why", "test_double", "--yes", "--python", sys.executable, cwd=project)
    assert ran.stdout.splitlines()[1].startswith(document["lines"][0]["confidence"]["short"])
    assert ("need not add up to 100 %" in ran.stdout) == has_number
    ran = assay_here("why", "test_zero", "--yes", "--python", sys.executable, cwd=project)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "no failing test is named test_zero; those that fail are test_one.py::test_double" in ran.stderr

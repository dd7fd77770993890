"""`assay repair`: which lines it repairs, what it prints, and what it refuses."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from clamp_project import BASKET, BASKET_TESTS, CLAMP, CLAMP_TESTS
from house.running import assay, assay_here
from shop_project import isolated, write

from assay.calibration.confidence import uncalibrated
from assay.cli.repair import verified_json
from assay.cli.repair_tests import failure_at, verdict_lines
from assay.suggestion.positions import Position, Range
from assay.suggestion.repair.request import Repair
from assay.suggestion.repair.verified import Verification, Verified
from assay.suggestion.suggestion import Suggestion

from ..inference.chat_server import ChatSpeech, chatting
from ..inference.completion_server import Speech, serving

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere.py:1", "nowhere.py: No such file"),
        ("three.py:" + "9" * 5000, "not FILE:LINE or FILE:LINE-LINE"),
        ("three.py:0", "lines count from 1"),
        ("three.py:3-2", "line 2 comes before line 3"),
        ("three.py:2-9", "the file has 4 lines"),
        (".env:1", ".env: this file may hold secrets"),
    ],
)
def test_lines_that_are_not_there_end_with_2_and_one_clear_line(tmp_path: Path, place: str, message: str) -> None:
    (tmp_path / "three.py").write_text("x = 1\ny = 2\nz = 3\n")
    (tmp_path / ".env").write_text("KEY=1")
    ran = assay_here("repair", place, cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith("assay: ")
    assert message in ran.stderr


def test_a_failure_without_a_model_that_is_told_of_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CLAMP)
    ran = assay_here("repair", "a.py:4", "--failure", "assert 1 == 2", cwd=tmp_path)
    assert ran.returncode == 2
    assert ran.stderr.endswith("this one is not: name one with --instruct\n")


def test_the_key_of_one_server_is_not_sent_to_another(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CLAMP)
    (tmp_path / "key").write_text("of-b")
    writes, instructed = Speech(kind="openai"), ChatSpeech()
    repair = ("repair", "a.py:4", "--most", "1", "--max-ms", "3000")
    with serving(writes) as a, chatting(instructed) as b:
        for more, sent in (((), (None, "of-a")), (("--key-file", f"{b}=key"), ("Bearer of-b", "of-a"))):
            ran = assay(*repair, "--model", a, "--instruct", b, *more, cwd=tmp_path, ASSAY_API_KEY="of-a")
            assert {headers.get("Authorization") for headers in instructed.headers} == {sent[0]}, ran.stderr
            assert {headers.get("Authorization") for headers in writes.headers} == {f"Bearer {sent[1]}"}
            assert (f"{b} gets no key: that of ASSAY_API_KEY goes to the first server alone" in ran.stderr) == (not more)
            instructed.headers.clear()
        ran = assay(*repair, "--instruct", b, "--key-file", "key", cwd=tmp_path, ASSAY_API_KEY="of-a")
        assert {headers.get("Authorization") for headers in instructed.headers} == {"Bearer of-b"}, ran.stderr


def test_repairs_are_diffs_that_can_be_applied(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CLAMP)
    ran = assay_here("repair", "a.py:4", "--most", "40", "--show-surprise", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    surprise, *repairs = ran.stdout.strip("\n").split("\n\n")
    head, columns, *tokens = surprise.splitlines()
    assert head.startswith("a.py:4: surprise ")
    assert columns == "  column  surprise  token"
    assert any(line.split()[0] == "13" and line.split()[2] == "<" for line in tokens)
    titles, diffs = zip(*(text.split("\n", 1) for text in repairs), strict=True)
    assert re.match(f"repair 1 of {len(diffs)}: [◆◈◇○] .+; gain ", titles[0])
    assert "instruct" not in ran.stderr
    (right,) = (diff for diff in diffs if "+    if value > high:" in diff)
    assert right.startswith("--- a.py\n+++ a.py\n@@ -1,6 +1,6 @@\n def clamp(")
    if patch := shutil.which("patch"):
        subprocess.run([patch, "a.py"], input=right + "\n", text=True, cwd=tmp_path, check=True, capture_output=True)
        assert (tmp_path / "a.py").read_text() == CLAMP.replace("value < high", "value > high")


def test_json_is_the_documented_format_and_tells_of_surprise_only_where_asked(tiny_gguf: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CLAMP)
    for options in ((), ("--show-surprise",)):
        ran = assay_here("repair", "a.py:4-5", "--model", tiny_gguf, "--json", *options, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        document = json.loads(ran.stdout)
        assert set(document) == {"repairs", "nothing_better", "not_asked", "stopped_by", "model"} | ({"surprise"} if options else set())
        for repair in document["repairs"]:
            assert repair["kind"] == "repair"
            assert {"id", "text", "range", "confidence", "measures", "old", "sources", "rules", "mends"} <= set(repair)
    (first, *_) = document["surprise"]
    assert set(first) == {"line", "text", "logprob", "surprise", "tokens", "alternative"}
    assert set(first["tokens"][0]) == {"start", "end", "text", "logprob", "surprise", "alternative"}


def test_where_nothing_else_fits_that_is_said(tiny_gguf: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("\n\n")
    ran = assay_here("repair", "a.py:1", "--model", tiny_gguf, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "")
    assert "No repair: nothing else was found that fits here.\n" in ran.stderr


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("notes.md", "# Shopping\n\n- Milk\n- Eggs\n", "what a repair makes of Markdown: there is no parser for it here."),
        ("deploy.yml", "- Milk\n- Eggs\n- Bread\n", "what a repair makes of YAML: there is no parser for it here."),
        ("a.py", "x = 1\n\n# as it is\n", "what a repair makes of a comment, a docstring or a text of several lines."),
    ],
)
def test_where_nothing_could_check_a_repair_there_is_none_and_why(tiny_gguf: Path, tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text)
    ran = assay_here("repair", f"{name}:3", "--model", tiny_gguf, "--verify", cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", f"No repair: nothing can check {why}\n")
    document = json.loads(assay_here("repair", f"{name}:3", "--model", tiny_gguf, "--json", cwd=tmp_path).stdout)
    assert (document["repairs"], document["why_none"]) == ([], f"nothing can check {why}")


def test_a_time_limit_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CLAMP)
    ran = assay_here("repair", "a.py:4", "--max-ms", "1", cwd=tmp_path)
    assert ran.returncode == 0
    assert "there may be more: the time was up (--max-ms)" in ran.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "project", {"clamp.py": CLAMP, "test_clamp.py": CLAMP_TESTS, "pyproject.toml": ""})


def test_tests_are_run_only_where_the_user_says_so(project: Path) -> None:
    ran = assay_here("repair", "clamp.py:4", "--verify", cwd=project)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"assay: May Assay run the tests of {project}, in the sandbox? There is nobody to ask: say --yes\n"
    assert assay_here("calibrate", "trust", "--tests", "--no", cwd=project).returncode == 0
    ran = assay_here("repair", "clamp.py:4", "--verify", cwd=project)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "you said that Assay may not run the tests of this project; to allow it: assay calibrate trust --tests" in ran.stderr
    assert "--yes and --python go with --verify" in assay_here("repair", "clamp.py:4", "--yes", cwd=project).stderr
    assert "is not a folder" in assay_here("repair", "clamp.py:4", "--verify", "nowhere", "--yes", cwd=project).stderr


def test_verified_repairs_come_first_with_the_tests_that_they_mend_and_refused_ones_are_counted(project: Path, bare_python: Path) -> None:
    isolated()
    assert assay_here("calibrate", "trust", "--tests", cwd=project).returncode == 0
    asked = ("repair", "clamp.py:4", "--verify", "--python", bare_python, "--most", "3", "--max-ms", "600000")
    ran = assay_here(*asked, cwd=project)
    assert ran.returncode == 0, ran.stderr
    texts = ran.stdout.strip("\n").split("\n\n")
    assert ["\n✔ 2 tests pass (" in text for text in texts] == [True] * 3, "those that mend one test alone come behind"
    assert "mends test_clamp.py::test_high\nmends test_clamp.py::test_between\n--- clamp.py" in texts[0]
    assert any("+    if value > high:" in text for text in texts)
    said = re.search(r"^the tests judged (\d+) of (\d+) repairs: (\d+) pass, (\d+) do not$", ran.stderr, re.MULTILINE)
    assert said is not None, ran.stderr
    judged, total, passing, refused = map(int, said.groups())
    assert judged == passing + refused
    told = json.loads(assay_here(*asked, "--json", cwd=project).stdout)
    assert len(told["repairs"]) == len(texts)
    assert told["judged"] + told["not_judged"] == total, "which are tried depends on how fast others are found"
    assert told["refused_by_tests"] <= told["judged"]
    assert told["repairs"][0]["verification"]["mends"] == ["test_clamp.py::test_high", "test_clamp.py::test_between"]


def test_what_a_failing_test_says_of_the_lines_is_known_before_repairs_are_asked_for(project: Path, bare_python: Path) -> None:
    isolated()
    failure = failure_at(project, bare_python, str(project / "clamp.py"), CLAMP, range(4, 5))
    assert failure is not None
    assert "test_clamp.py::test_high fails as before: +  where 12 = clamp(12, 0, 9)" in failure.message
    right = CLAMP.replace("value < high", "value > high")
    assert failure_at(project, bare_python, str(project / "clamp.py"), right, range(4, 5)) is None
    (project / "a.js").write_text("let a = 1\n")
    assert failure_at(project, bare_python, str(project / "a.js"), "let a = 1\n", range(1, 2)) is None


def test_a_repair_that_passes_is_found_behind_as_many_as_are_printed(project: Path, bare_python: Path) -> None:
    isolated()
    write(project, {"clamp.py": BASKET, "test_clamp.py": BASKET_TESTS})
    right = "+        return self.count() + item.count <= self.limit"
    shown = assay_here("repair", "clamp.py:10", "--most", "3", cwd=project)
    assert right not in shown.stdout
    ran = assay_here("repair", "clamp.py:10", "--most", "1", "--verify", "--yes", "--python", bare_python, cwd=project)
    assert ran.stdout.startswith("repair 1 of 1: "), ran.stderr
    assert right in ran.stdout
    assert "were not tried: enough pass (--most 1)\n" in ran.stderr


def test_where_the_tests_leave_nothing_that_is_said_with_what_to_try(project: Path, bare_python: Path) -> None:
    isolated()
    write(project, {"test_clamp.py": "from clamp import clamp\n\n\ndef test_between():\n    assert clamp(4, 0, 9) == 'four'\n"})
    ran = assay_here("repair", "clamp.py:4", "--verify", "--yes", "--python", bare_python, cwd=project)
    assert (ran.returncode, ran.stdout) == (0, "")
    assert "No repair passes the tests. Try another line (assay why TEST" in ran.stderr


def test_why_repairs_are_not_verified_is_said_once_of_all_and_how_many_were_judged() -> None:
    def said(passed: bool | None, why: str = "") -> tuple[Repair, Verification]:
        return repair, Verification(passed, 1, 0.1, why=why)

    place = Range(Position(0, 0), Position(0, 1))
    repair = Repair(Suggestion("a", "a", place, "repair", uncalibrated("tests_pass", ""), {}, {}), "", (), (), False)
    some = Verified((said(True), said(None, "no test")), (repair,))
    counted = verified_json(some, 1)
    assert (counted["judged"], counted["not_judged"], counted["refused_by_tests"]) == (1, 2, 0)
    assert list(verdict_lines(some, 1, 1e3)) == [
        "the tests judged 1 of 3 repairs: 1 passes, 1 can't be judged",
        "1 was not tried: enough pass (--most 1)",
    ]
    stopped = Verified((said(True), said(False)), (repair, repair), "not run: the time was up")
    assert list(verdict_lines(stopped, 3, 60e3)) == [
        "2 of these are not verified: the time was up",
        "the tests judged 2 of 4 repairs: 1 passes, 1 does not",
        "2 were not tried: 60 s were over (--max-ms)",
    ]


def test_where_no_tests_can_be_run_the_repairs_are_printed_and_the_reason_said(project: Path) -> None:
    (project / "test_clamp.py").unlink()
    ran = assay_here("repair", "clamp.py:4", "--verify", "--yes", cwd=project)
    assert ran.returncode == 0
    assert "+    if value > high:" in ran.stdout
    assert ran.stderr.count("not verified: ") == 1
    assert "has no Python tests" in ran.stderr
    assert "not verified: " not in ran.stdout

"""The studies of counterfeits and of rewrites on folders whose code no test judges, with the embedded model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.analysis.sandbox.isolation.best_level import NoIsolation
from assay.calibration.samples import read_samples
from assay.cli.main import main
from assay.offline_eval.counterfeit.lines.draw import DRAWS
from assay.offline_eval.run import Run

pytestmark = pytest.mark.slow

_CODE = """\
def total(numbers, start=0):
    found = start
    for number in numbers:
        if number > 0 and number != start:
            found = found + number
    return found


def longest(words, least=1):
    best = ""
    for word in words:
        if len(word) >= least and len(word) > len(best):
            best = word
    return best.strip()


def counted(words, known=()):
    found = {}
    for word in words:
        if word not in known:
            found[word] = found.get(word, 0) + 1
    return dict(sorted(found.items()))
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    root = tmp_path_factory.mktemp("code")
    for name in ("shop", "bank"):
        (root / name).mkdir()
        (root / name / "sums.py").write_text(_CODE if name == "shop" else _CODE.replace("found", "result"), encoding="utf-8")
    return [str(root / name) for name in ("shop", "bank")]


def facts_of(run: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (run / "facts.jsonl").read_text().splitlines()]


def test_a_counterfeit_parses_and_is_not_what_stood_there(folders: list[str], tmp_path: Path) -> None:
    out = tmp_path / "run"
    asked = ["eval", "counterfeit", "--code", *folders, "--draws", "4", "--tasks", "line,line_rest", "--out", str(out)]
    assert main(asked) == 0
    made = {one["id"]: one for answer in Run.opened(out).records(DRAWS).read() for one in answer["generations"]}
    for fact in facts_of(out):
        one = made[str(fact["id"])]
        if one["text_id"] is None:
            expected = None
        elif one["labels"]["exact_match"]:
            expected = "right"
        else:
            expected = "counterfeit" if one["file_parses"] else "other"
        assert set(fact["classes"].values()) == {expected}  # type: ignore[attr-defined]
        assert fact["share"] is fact["error"] is fact.get("pass_rate") is None
    samples = read_samples([out / "samples" / "line.jsonl", out / "samples" / "line_rest-t0.6.jsonl"])
    assert samples
    assert all(sample.labels.get("tests_pass") is None for sample in samples)
    page = (out / "report" / "report.md").read_text()
    assert "No test says what is right" in page
    assert "tests that touch" not in page


@pytest.mark.parametrize("task", ["line_rest"])
def test_code_around_a_line_or_a_part_of_it_is_rewritten_and_the_line_stays(folders: list[str], tmp_path: Path, task: str) -> None:
    out = tmp_path / "run"
    assert main(["eval", "catcode", "--code", *folders, "--task", task, "--out", str(out)]) == 0
    lines = [line for place in facts_of(out) for line in place["lines"]]  # type: ignore[attr-defined]
    variants = [(line, variant) for line in lines for variant in line["variants"]]
    assert {variant["arm"] for _, variant in variants} == {"context"}
    for line, variant in variants:
        assert line["exact"]
        assert variant["measures"] is not None
        assert line["text"] in variant["line"]
    assert all(line["plain"] == line["identity"] for line in lines)
    assert all(sample.labels.get("tests_pass") is None for sample in read_samples([out / "samples" / f"{task}.jsonl"]))
    page = (out / "report" / "report.md").read_text()
    assert not any(words in page for words in ("passes tests", "pass the tests", "that tests fail", "tests confirm"))


@pytest.mark.parametrize(
    ("study", "options", "said"),
    [
        ("counterfeit", ["--steps", "label"], "--code has no step label"),
        ("catcode", ["--of", "truth"], "--of does nothing for --code"),
    ],
)
def test_what_needs_tests_is_refused(
    folders: list[str], tmp_path: Path, study: str, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", study, "--code", *folders, *options, "--out", str(tmp_path / "run")]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("study", ["counterfeit", "catcode"])
def test_a_plan_needs_no_sandbox(folders: list[str], tmp_path: Path, study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_isolates() -> None:
        raise NoIsolation("nothing isolates programs here")

    monkeypatch.setattr("assay.offline_eval.on_suites.best_level", nothing_isolates)
    assert main(["eval", study, "--code", *folders, "--dry-run", "--out", str(tmp_path / "run")]) == 0
    assert not (tmp_path / "run").exists()


def test_a_plan_says_hours_from_a_few_completions_of_this_code(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["eval", "calibration", "--code", *folders, "--languages", "python", "--tasks", "line", "--alternatives", "2", "--workers", "2"]
    assert main([*asked, "--dry-run", "--json", "--out", str(tmp_path / "run")]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["items"] == plan["gaps"] > 0
    assert plan["most_generations"] == 2 * plan["gaps"]
    assert plan["hours"] == pytest.approx(plan["gaps"] * plan["seconds_each"]["gap"] / 2 / 3600, abs=0.01)
    assert plan["tokens_read"] > 0
    assert plan["example"]
    assert not (tmp_path / "run").exists()

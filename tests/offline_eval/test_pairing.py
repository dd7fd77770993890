from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from synthetic_study import studied

from assay.calibration.samples import Sample, write_samples
from assay.offline_eval.errors import UsageError
from assay.offline_eval.pairing import PairingError, Pairs, compare, paired_runs, report_pair
from assay.offline_eval.paper_tables.forecasts import Setting, samples_by_setting
from assay.offline_eval.run import SCHEMA

LINE = Setting("line")


def samples(bonus: float = 0.0, n: int = 300) -> dict[Setting, list[Sample]]:
    return {LINE: studied(n, bonus=bonus)}


def cells(pairs: Pairs) -> dict[str, float | None]:
    return {cell.id: cell.value for table in pairs.tables for cell in table.cells()}


def write_run(folder: Path, name: str, found: dict[Setting, list[Sample]], **question: str) -> Path:
    asked = {"schema": SCHEMA, "study": "calibration", "model": f"m{name}", "model_name": name, "prompt": "p", "items": "abc", **question}
    folder.mkdir(parents=True)
    (folder / "run.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in asked.items()) + "seed = 0\n")
    for setting, of_setting in found.items():
        arm = "" if setting.arm == "docstring" else f"-{setting.arm}"
        write_samples(folder / "samples" / f"{setting.task}{arm}.jsonl", of_setting)
    return folder


def test_a_better_model_is_better_by_the_mean_of_the_differences_and_the_other_way_round_by_minus_that() -> None:
    a, b = samples(), samples(bonus=0.8)
    there, back = cells(paired_runs(a, b)), cells(paired_runs(b, a))
    rates = [np.mean([bool(s.labels["exact_match"]) for s in each[LINE]]) for each in (a, b)]
    assert there["P/exact_match/line/docstring/rate"] == pytest.approx(rates[1] - rates[0])
    place = "P/exact_match/line/docstring/total_logprob/{}/{}"
    for way in ("raw", "project"):
        for score in ("brier", "skill", "auc"):
            name = place.format(way, score)
            assert there[name] == pytest.approx((there[f"{name}/b"] or 0) - (there[f"{name}/a"] or 0))
            assert there[name] == pytest.approx(-(back[name] or 0))
    same = [row.cells[-1] for row in paired_runs(a, a).tables[0].rows]
    assert all((cell.value, cell.low, cell.high) == pytest.approx((0, 0, 0)) for cell in same), "a run beside itself differs by nothing"
    unmeasured = cells(paired_runs(a, {LINE: [structs.replace(s, measures={}) for s in a[LINE]]}))
    assert (unmeasured["P/exact_match/line/docstring/rate"], unmeasured[place.format("raw", "skill")]) == (0, None)


def test_each_project_has_its_row_and_they_add_up() -> None:
    a, b = samples(), samples(bonus=0.8)
    table = next(table for table in paired_runs(a, b).tables if table.id == "P-exact_match-line/docstring")
    assert [row.names[0] for row in table.rows] == sorted({sample.project for sample in a[LINE]})
    for row in table.rows:
        rate_a, rate_b, only_a, only_b = (cell.value or 0 for cell in row.cells)
        assert rate_b - rate_a == pytest.approx(only_b - only_a)


def test_other_samples_are_refused_with_what_differs_unless_the_items_are_known_to_be_the_same() -> None:
    a = samples()
    b = {LINE: [*a[LINE][:290], *(structs.replace(s, id=f"other-{s.id}") for s in a[LINE][290:])]}
    with pytest.raises(
        PairingError, match=r"of the task line, 290 samples are in both, and 10 only in A \(such as s290, s291, s292\); 10 only in B"
    ):
        paired_runs(a, b)
    found = paired_runs(a, b, same_items=True)
    assert found.left_out == ("line: 10 suggestions that only A would show", "line: 10 suggestions that only B would show")
    assert found.tables[0].rows[0].cells[-1].n == 290
    none = {LINE: [structs.replace(s, id=f"other-{s.id}") for s in a[LINE]]}
    with pytest.raises(PairingError, match="0 samples are in both"):
        paired_runs(a, none, same_items=True)


def test_runs_of_other_tasks_are_refused() -> None:
    with pytest.raises(PairingError, match="no task in common: A has line; B has line, no suffix"):
        paired_runs(samples(), {Setting("line", "no_suffix"): studied(20)})
    found = paired_runs(samples() | {Setting("line_rest"): studied(20)}, samples())
    assert found.left_out == ("line_rest: only A has samples of it",)


def test_two_runs_are_reported_as_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = write_run(tmp_path / "a", "small", samples()), write_run(tmp_path / "b", "large", samples(bonus=0.8))
    report_pair(a, b, tmp_path / "out", as_json=False)
    printed = capsys.readouterr()
    written = [Path(line) for line in printed.out.splitlines()]
    assert sorted(path.name for path in written) == ["figures.json", "report.html", "report.json", "report.md"]
    text = (tmp_path / "out" / "report" / "report.md").read_text()
    assert "large is better, beyond chance" in text
    assert "| p11 |" in text
    report_pair(a, b, tmp_path / "out", as_json=True)
    document = json.loads(capsys.readouterr().out)
    assert {"id", "value", "low", "high", "n", "groups"} <= set(document["figures"][0])


def told(folder: Path, a: dict[Setting, list[Sample]], b: dict[Setting, list[Sample]]) -> str:
    report_pair(write_run(folder / "a", "small", a), write_run(folder / "b", "large", b), folder / "out", as_json=True)
    text: str = " ".join(json.loads((folder / "out" / "report" / "report.json").read_text())["summary"])
    return text


def test_four_projects_decide_nothing(tmp_path: Path) -> None:
    labelled = ("p0", "p1", "p2", "p3")
    found = [
        [s if s.project in labelled else structs.replace(s, labels={}) for s in each[LINE]]
        for each in (samples(n=600), samples(bonus=3.0, n=600))
    ]
    text = told(tmp_path, {LINE: found[0]}, {LINE: found[1]})
    assert "not shown to be more than chance" in text
    assert text.endswith("0 differ beyond chance.")


def test_the_arms_of_a_run_are_read_from_the_names_of_its_files(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "a", "m", samples(n=5) | {Setting("line", "no_suffix"): studied(5), Setting("line_rest"): studied(5)})
    assert list(samples_by_setting(folder)) == [LINE, Setting("line", "no_suffix"), Setting("line_rest")], "as it is comes first"


def test_runs_of_other_items_or_studies_are_refused_with_what_differs(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", "small", samples(n=20))
    for number, question in enumerate(({"items": "def"}, {"items": "def", "projects": "x"}, {"study": "repository"})):
        b = write_run(tmp_path / f"b{number}", "large", samples(n=20), **question)
        with pytest.raises(PairingError, match="not of the same items") as refused:
            report_pair(a, b, tmp_path / "out", as_json=False)
        for name, value in question.items():
            said = "what is asked about" if name == "items" else f"{name}: "
            assert said in str(refused.value)
            assert name == "items" or value in str(refused.value)
        assert "model" not in str(refused.value).split("(", 1)[1].split(")")[0]
    with pytest.raises(UsageError, match="is named twice"):
        compare([a, a / ".." / "a"], tmp_path / "out", as_json=False)
    assert not (tmp_path / "out").exists()

"""Recorded round trips: the published set gives its known numbers, and any file with labels is read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from needs import DATA, needs_data
from study_runs import figures_of

from assay.offline_eval.errors import UsageError
from assay.offline_eval.recorded.answers import RecordedError
from assay.offline_eval.rtc.recorded import STUDY, Options, run_recorded
from assay.offline_eval.study import finish

CHAIN = "identitychain-gpt35"


@needs_data(CHAIN)
def test_identity_chain_gives_its_published_numbers(tmp_path: Path) -> None:
    (path,) = (DATA / CHAIN).glob("IDChain_*.jsonl.gz")
    run = run_recorded(Options(tmp_path / "run", files=[path]))
    cells = {name.rpartition("/all/")[2]: cell for name, cell in figures_of(run.folder).items() if "/all/" in name}
    values = {name: round(cell["value"], 3) for name, cell in cells.items()}
    assert (values["rtc"], values["pass_at_1"], values["auc"], values["skill"]) == (0.571, 0.706, 0.653, 0.08)
    assert (values["if_equal"], values["if_not"], values["difference"]) == (0.817, 0.557, 0.26)
    assert cells["difference"]["high"] - cells["difference"]["value"] == pytest.approx(0.14, abs=0.005)
    assert (cells["if_equal"]["n"], cells["if_not"]["n"]) == (93, 70)
    text = (run.folder / "report" / "report.md").read_text()
    assert "| passes | 76 | 39 |" in text
    assert "| fails | 4 | 44 |" in text
    assert "IdentityChain" in text


def lines(count: int = 8, **labels: bool | None) -> list[dict[str, Any]]:
    """Round trips: every second program passes, and what is made of its description, too."""
    found: list[dict[str, Any]] = [{"schema": "assay/answers/1", "name": "mine", "model": "m"}]
    for number in range(count):
        passes = labels.get("passes", number % 2 == 0)
        item = {"item": f"p/{number}", "index": 0}
        code = f"return left + {number}"
        found += [
            {**item, "step": "draw", "text": code, "labels": {"tests_pass": passes}},
            {**item, "step": "describe", "text": code if number == 0 else "Add."},
            {**item, "step": "rebuild", "text": code, "labels": {"tests_pass": passes}, "facts": {"same_outcomes": number % 4 < 2}},
        ]
    return found


def written(path: Path, found: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in found))
    return path


def test_a_file_of_ones_own_is_planned_and_read_and_copies_stand_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = Options(tmp_path / "run", files=[written(tmp_path / "a.jsonl", lines())], as_json=True)
    run_recorded(replace(options, dry_run=True))
    assert json.loads(capsys.readouterr().out)["round_trips"] == 8
    assert not options.out.exists()
    run = run_recorded(options)
    cells = figures_of(run.folder)
    assert [cells[f"I/mine/{which}/rtc"]["n"] for which in ("all", "without_copies")] == [8, 7]
    assert [cells[f"I/mine/all/{name}"]["value"] for name in ("rtc", "pass_at_1", "difference", "auc")] == [0.5, 0.5, 0, 0.5]
    before = (run.folder / "report" / "report.md").read_bytes()
    finish(STUDY, run, as_json=False)
    assert (run.folder / "report" / "report.md").read_bytes() == before


def test_files_without_round_trips_twice_the_same_or_torn_are_told(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", lines())
    options = Options(tmp_path / "run", files=[path])
    with pytest.raises(UsageError, match=r"has no round trips: a problem needs answers to the steps draw, describe and rebuild"):
        run_recorded(replace(options, files=[written(tmp_path / "b.jsonl", lines(passes=None))]))
    with pytest.raises(UsageError, match="two files are named mine"):
        run_recorded(replace(options, files=[path, path]))
    (tmp_path / "torn.jsonl").write_bytes(path.read_bytes()[:-20])
    with pytest.raises(RecordedError, match=r"torn\.jsonl:25"):
        run_recorded(replace(options, files=[tmp_path / "torn.jsonl"]))
    assert not (tmp_path / "run").exists()


def test_several_round_trips_of_a_problem_are_one_group_and_no_problem_is_counted_twice(tmp_path: Path) -> None:
    header, *records = lines()
    several = [{**record, "item": "p/0", "index": int(record["item"][2:])} for record in records]
    unlabelled = [{**record, "item": "p/1", "labels": {}} for record in records[:3]]
    run = run_recorded(Options(tmp_path / "run", files=[written(tmp_path / "a.jsonl", [header, *several, *unlabelled])]))
    cells = figures_of(run.folder)
    assert [cells["I/mine/all/rtc"][name] for name in ("value", "low", "n", "groups")] == [0.5, None, 8, 1]
    assert cells["I/mine/all/auc"]["value"] is None
    assert "1 problem without a whole round trip, or without labels" in (run.folder / "report" / "report.md").read_text()

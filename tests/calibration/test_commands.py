from __future__ import annotations

import builtins
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from house.running import assay
from msgspec import structs
from synthetic_samples import sample, world

from assay.calibration.calibrator import load
from assay.calibration.commands import calibrate_fit, calibrate_report
from assay.calibration.samples import write_samples

FEATURES = ["total_logprob"]


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    write_samples(tmp_path / "s.jsonl", world(500, between=0.3)[0])
    return tmp_path / "s.jsonl"


@pytest.fixture
def fitted(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert calibrate_fit([samples], "exact_match", FEATURES, tmp_path / "c.json", False) == 0
    capsys.readouterr()
    return tmp_path / "c.json"


def test_fit_writes_a_calibrator_and_says_what_it_is_worth(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrate_fit([samples], "exact_match", FEATURES, tmp_path / "new" / "c.json", False) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "informative: P(exact match) for tiny, n = 500 from 12 projects" in said.err
    assert load(tmp_path / "new" / "c.json").status == "informative"


def test_fit_prints_one_json_document_and_nothing_else_on_stdout(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrate_fit([samples], "exact_match", FEATURES, tmp_path / "c.json", True) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["id"] == load(tmp_path / "c.json").id
    assert document["calibrator"] == json.loads((tmp_path / "c.json").read_text())


def test_unreadable_samples_end_with_2_and_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.jsonl").write_text("{\n")
    assert calibrate_fit([tmp_path / "bad.jsonl"], "exact_match", FEATURES, tmp_path / "c.json", False) == 2
    assert "bad.jsonl:1: not JSON" in capsys.readouterr().err
    assert not (tmp_path / "c.json").exists()


def test_an_unknown_event_ends_with_2(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrate_fit([samples], "correct", FEATURES, tmp_path / "c.json", False) == 2
    assert "unknown event 'correct'" in capsys.readouterr().err


def test_a_place_that_can_not_be_written_ends_with_1(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert calibrate_fit([samples], "exact_match", FEATURES, tmp_path / "file" / "c.json", False) == 1
    assert "can't be written" in capsys.readouterr().err


def test_a_report_on_samples_has_evidence_projects_and_plots(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report"
    assert calibrate_report([samples], out, True) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "reliability-exact_match.png",
        "reliability-exact_match.svg",
        "report.json",
        "report.md",
    ]
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads((out / "report.json").read_text())
    found = document["reports"][0]
    assert sum(row["n"] for row in found["by_project"]) == 500
    text = (out / "report.md").read_text()
    for wanted in ("skill score against the base rate", "a perfect forecaster would get", "| p11 |", "](reliability-exact_match.svg)"):
        assert wanted in text
    ET.fromstring((out / "reliability-exact_match.svg").read_text())
    assert (out / "reliability-exact_match.png").read_bytes().startswith(b"\x89PNG")


def test_names_that_mean_something_to_markdown_or_matplotlib_are_only_names(tmp_path: Path) -> None:
    odd = [structs.replace(s, project=f"a|b{s.project}", model_name="$x_{ $") for s in world(60, projects=6)[0]]
    write_samples(tmp_path / "s.jsonl", odd)
    assert calibrate_report([tmp_path / "s.jsonl"], tmp_path / "out", False) == 0
    assert "| a\\|bp3 |" in (tmp_path / "out" / "report.md").read_text()


def test_the_same_samples_give_the_same_plot(samples: Path, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        assert calibrate_report([samples], tmp_path / folder, False) == 0
    one, two = ((tmp_path / folder / "reliability-exact_match.svg").read_bytes() for folder in ("one", "two"))
    assert one == two


def test_every_event_with_labels_has_its_section(tmp_path: Path) -> None:
    both = [structs.replace(s, labels={**s.labels, "kept": s.seed % 3 == 0}) for s in world(100)[0]]
    write_samples(tmp_path / "s.jsonl", both)
    assert calibrate_report([tmp_path / "s.jsonl"], tmp_path / "out", False) == 0
    text = (tmp_path / "out" / "report.md").read_text()
    assert "## exact match, line" in text
    assert "## kept, line" in text
    assert "passes tests" not in text


def test_a_report_is_on_the_features_and_the_event_that_were_asked_for(
    tmp_path: Path, fitted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = [structs.replace(s, labels={**s.labels, "kept": s.seed % 3 == 0}) for s in world(100)[0]]
    write_samples(tmp_path / "s.jsonl", both)
    ran = assay("calibrate", "report", "s.jsonl", "--features", "total_logprob, length", "--event", "kept", "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    (found,) = json.loads(ran.stdout)["reports"]
    assert (found["calibrator"]["event"], found["calibrator"]["features"]) == ("kept", ["total_logprob", "length"])
    for arguments, reason in (
        ([str(fitted), "--features", "length"], "is a calibrator, which has its event and its features already"),
        (["s.jsonl", "--features", "beauty"], "unknown measure beauty, known are total_logprob"),
        (["s.jsonl", "--features", "length,"], "'length,' is not a list of names with commas between"),
        (["s.jsonl", "--event", "tests_pass"], "0 of 100 samples have a label for tests_pass"),
    ):
        refused = assay("calibrate", "report", *arguments, cwd=tmp_path)
        assert refused.returncode == 2, arguments
        assert reason in refused.stderr
        assert "Traceback" not in refused.stderr


def test_a_report_on_a_calibrator_file_needs_no_samples(fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrate_report([fitted], tmp_path / "out", False) == 0
    assert (tmp_path / "out" / "reliability-exact_match.svg").exists()
    assert "skill score against the base rate" in capsys.readouterr().err


def test_a_report_on_one_class_is_possible(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_samples(tmp_path / "s.jsonl", [sample(i, project=f"p{i % 6}", total_logprob=-1.0) for i in range(20)])
    assert calibrate_report([tmp_path / "s.jsonl"], tmp_path / "out", False) == 0
    assert "not defined" in capsys.readouterr().err


def test_a_report_without_labels_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_samples(tmp_path / "s.jsonl", [sample(1, label=None)])
    assert calibrate_report([tmp_path / "s.jsonl"], tmp_path / "out", False) == 2
    assert "none of the 1 samples has a label" in capsys.readouterr().err


def test_a_report_on_several_calibrators_ends_with_2(fitted: Path, samples: Path, tmp_path: Path) -> None:
    assert calibrate_report([fitted, samples], tmp_path / "out", False) == 2


def test_without_matplotlib_the_report_says_what_to_install(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real: Callable[..., object] = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert calibrate_report([samples], tmp_path / "out", False) == 1
    assert "-m pip install matplotlib" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from msgspec import structs
from synthetic_samples import sample, world

from assay.calibration.calibrator import load
from assay.calibration.held_out import load_folds
from assay.calibration.samples import write_samples
from assay.calibration.trust import remembered
from assay.calibration.validation import table
from assay.cli.main import main


def fit(samples: Path, out: Path, *options: str) -> int:
    return main(["calibrate", "fit", str(samples), "--event", "exact_match", "--out", str(out), *options])


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    write_samples(tmp_path / "s.jsonl", world(500, between=0.3)[0])
    return tmp_path / "s.jsonl"


@pytest.fixture
def fitted(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert fit(samples, tmp_path / "c.json") == 0
    capsys.readouterr()
    return tmp_path / "c.json"


def test_fit_writes_a_calibrator_and_says_what_it_is_worth(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit(samples, tmp_path / "new" / "c.json") == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "informative: P(exact match) for tiny, n = 500 from 12 projects" in said.err
    assert load(tmp_path / "new" / "c.json").status == "informative"


@pytest.mark.slow
def test_of_several_languages_each_is_said_with_what_it_is_worth_and_show_says_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "data"))
    go = [
        structs.replace(one, id=f"go {one.id}", language="go", project=f"go {one.project}") for one in world(500, intercept=-1.5, seed=1)[0]
    ]
    few = [structs.replace(one, id=f"rust {one.id}", language="rust") for one in world(12, seed=2)[0]]
    write_samples(tmp_path / "s.jsonl", [*world(500)[0], *go, *few])
    assert fit(tmp_path / "s.jsonl", tmp_path / "data" / "calibrators" / "c.json", "--levels", "language") == 0
    said = capsys.readouterr().err
    assert "  Go: informative: n = 500 from 12 projects, base rate 0." in said
    assert ", with a map of its own" in said
    assert "  Rust: insufficient: n = 12 from " in said
    assert main(["calibrate", "show"]) == 0
    shown = capsys.readouterr().out
    assert "      Go: informative: n = 500 from 12 projects" in shown
    assert "      Rust: insufficient: n = 12 from " in shown


@pytest.mark.parametrize(
    ("folder", "slope", "told"),
    [("data/calibrators", 0, True), ("project/.assay/calibrators", 0, True), ("elsewhere", 0, False), ("data/calibrators", 1, False)],
)
def test_fit_says_that_an_uninformative_calibrator_takes_precedence_where_servers_find_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: str, slope: float, told: bool
) -> None:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "data"))
    write_samples(tmp_path / "s.jsonl", world(500, slope=slope)[0])
    assert fit(tmp_path / "s.jsonl", tmp_path / folder / "c.json", "--map", "platt") == 0
    assert load(tmp_path / folder / "c.json").status == ("informative" if slope else "uninformative")
    note = "note: this file takes precedence over the shipped calibrator, so suggestions of the task line by this model will have no number"
    assert (note in capsys.readouterr().err) == told


@pytest.mark.parametrize(
    "linked",
    [".assay", ".assay/calibrators", ".assay/calibrators/c.json", ".assay/calibrators/folds", ".assay/calibrators/validation"],
)
def test_fit_follows_no_link_out_of_a_project(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], linked: str) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    (elsewhere / "calibrators").mkdir(parents=True)
    (elsewhere / "c.json").write_text("mine")
    (project / linked).parent.mkdir(parents=True)
    targets = {".assay": elsewhere, ".assay/calibrators": elsewhere / "calibrators", ".assay/calibrators/c.json": elsewhere / "c.json"}
    targets |= dict.fromkeys((".assay/calibrators/folds", ".assay/calibrators/validation"), elsewhere / "calibrators")
    (project / linked).symlink_to(targets[linked])
    assert fit(samples, project / ".assay" / "calibrators" / "c.json", "--keep-folds") in (1, 2)
    said = capsys.readouterr().err
    assert str(project / linked) in said
    assert "symbolic link" in said or "not a calibrator" in said
    assert list((elsewhere / "calibrators").iterdir()) == []
    assert (elsewhere / "c.json").read_text() == "mine"


def test_a_calibrator_that_the_user_makes_for_a_project_counts_unless_others_were_there_before(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "data"))
    folders = {name: tmp_path / name / ".assay" / "calibrators" for name in ("own", "cloned")}
    assert fit(samples, folders["own"] / "c.json") == 0
    assert "not used" not in capsys.readouterr().err
    assert remembered(tmp_path / "own").counts
    folders["cloned"].mkdir(parents=True)
    (folders["cloned"] / "theirs.json").write_bytes((folders["own"] / "c.json").read_bytes())
    assert fit(samples, folders["cloned"] / "c.json") == 0
    assert f"note: {folders['cloned']}: its calibrators are not used: nobody has said yet" in capsys.readouterr().err
    assert not remembered(tmp_path / "cloned").counts


def test_fit_prints_one_json_document_and_nothing_else_on_stdout(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit(samples, tmp_path / "c.json", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["id"] == load(tmp_path / "c.json").id
    assert document["calibrator"] == json.loads((tmp_path / "c.json").read_text())


def test_folds_and_the_validation_table_go_with_their_calibrator(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, folder = tmp_path / "c.json", tmp_path / "folds"
    for _ in range(2):
        assert fit(samples, out, "--keep-folds", "--map", "platt", "--json") == 0
        document = json.loads(capsys.readouterr().out)
        (path,) = folder.iterdir()
        assert (document["folds"], path.stem) == (str(path), document["id"])
        assert load_folds(path).calibrator == document["id"]
    table.save(table.empty(load(out)), validation := table.path_of(load(out), out))
    assert fit(samples, out, "--map", "beta") == 0
    assert list(folder.iterdir()) == []
    assert not validation.exists()


def test_a_file_without_samples_ends_with_2_and_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, said in (("{\n", "bad.jsonl:1: not JSON"), ("", "bad.jsonl: no samples")):
        (tmp_path / "bad.jsonl").write_text(text)
        assert fit(tmp_path / "bad.jsonl", tmp_path / "c.json") == 2
        assert said in capsys.readouterr().err
    assert not (tmp_path / "c.json").exists()


def test_free_is_every_measure_that_costs_nothing_and_that_all_samples_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    samples = [structs.replace(s, measures={**s.measures, "ask_true": -1.0, "token_count": 3.0 + s.seed % 5}) for s in world(300)[0]]
    samples[7] = structs.replace(samples[7], measures={k: v for k, v in samples[7].measures.items() if k != "token_count"})
    write_samples(tmp_path / "s.jsonl", samples)
    assert fit(tmp_path / "s.jsonl", tmp_path / "c.json", "--features", "free", "--map", "platt") == 0
    assert load(tmp_path / "c.json").features == ("total_logprob", "length")
    several = [
        structs.replace(one, rank=1 + number % 2, alternatives=2, measures={**one.measures, "agreement": -0.1 - number % 7})
        for number, one in enumerate(world(300)[0])
    ]
    write_samples(tmp_path / "s.jsonl", several)
    assert fit(tmp_path / "s.jsonl", tmp_path / "c.json", "--features", "free", "--map", "platt") == 0
    assert load(tmp_path / "c.json").features == ("total_logprob", "length", "agreement")


def test_a_measure_that_is_missing_or_impossible_is_said_with_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.jsonl"
    write_samples(path, [sample(0), sample(1), sample(2, total_logprob=-1e20)])
    assert fit(path, tmp_path / "c.json") == 2
    assert f"{path}:3: sample s2: total_logprob is -1e" in capsys.readouterr().err
    write_samples(path, [sample(0, min_logprob=-1.0), sample(1)])
    assert fit(path, tmp_path / "c.json", "--features", "min_logprob") == 2
    assert f"{path}:2: 1 of 2 samples have no measure min_logprob" in capsys.readouterr().err


def test_only_a_calibrator_is_written_over(samples: Path, fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = samples.read_bytes()
    assert fit(samples, samples) == 2
    assert "holds the samples" in capsys.readouterr().err
    (tmp_path / "notes.txt").write_text("of use")
    assert fit(samples, tmp_path / "notes.txt") == 2
    assert "exists and is not a calibrator" in capsys.readouterr().err
    assert (samples.read_bytes(), (tmp_path / "notes.txt").read_text()) == (before, "of use")
    fitted.write_text('{"schema": "assay/calibrator/1", damaged')
    assert fit(samples, fitted) == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_not_replaced_a_link_followed(samples: Path, fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert fit(samples, tmp_path / "pipe") == 1
    assert "pipe: can't be read or written: it is no regular file" in capsys.readouterr().err
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "link.json").symlink_to(fitted)
    fitted.unlink()
    assert fit(samples, tmp_path / "link.json") == 0
    assert (tmp_path / "link.json").is_symlink()
    assert load(fitted).event == "exact_match"

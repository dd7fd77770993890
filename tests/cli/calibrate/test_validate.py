"""`assay calibrate validate`: the table that it writes, what it prints, and what it refuses."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as changed
from synthetic_samples import world

from assay.calibration.calibrator import Calibrator, load, save
from assay.calibration.fitting.fit import fit
from assay.calibration.held_out import folds_path, save_folds
from assay.calibration.samples import Sample, write_samples
from assay.calibration.validation import table
from assay.cli.main import main
from assay.offline_eval.run import SCHEMA


def passing() -> list[Sample]:
    return [changed(each, labels={"tests_pass": each.labels["exact_match"]}) for each in world(400, projects=10)[0]]


@pytest.fixture(scope="module")
def fitted() -> dict[str, Calibrator]:
    samples = {"exact_match": world(500, projects=10)[0], "tests_pass": passing()}
    return {event: fit(of_it, event, resamples=50).calibrator for event, of_it in samples.items()}


@pytest.fixture
def files(fitted: dict[str, Calibrator], tmp_path: Path) -> Path:
    """c.json, the run RUN with the samples that it was fitted on and an arm, and newer samples in line.jsonl."""
    samples, _ = world(500, projects=10)
    save(fitted["exact_match"], tmp_path / "c.json")
    write_samples(tmp_path / "RUN" / "samples" / "line.jsonl", samples)
    write_samples(tmp_path / "RUN" / "samples" / "line-no_suffix.jsonl", samples[:300])
    write_samples(tmp_path / "line.jsonl", [changed(each, id=f"new {each.id}") for each in world(300, projects=10, seed=7)[0]])
    return tmp_path


def validated(files: Path, *runs: str) -> int:
    return main(["calibrate", "validate", str(files / "c.json"), *(str(files / run) for run in runs)])


def test_a_run_gives_a_table_beside_the_calibrator_and_a_line_that_counts(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "validate", str(files / "c.json"), str(files / "RUN"), "--json"]) == 0
    out, err = capsys.readouterr()
    calibrator = load(files / "c.json")
    path = files / "validation" / f"{calibrator.id}.json"
    found = table.load(path)
    assert found.is_of(calibrator)
    skill = calibrator.evidence.skill
    rows = {row.id: row for row in found.figures}
    assert (rows["K1"].value, rows["K1"].run, rows["K1"].n) == (skill.value, "RUN", 500)
    assert (rows["K7.no_suffix"].n, rows["K7.no_docstring"].reading) == (300, "not run")
    document = json.loads(out)
    assert (document["file"], document["calibrator"]) == (str(path), calibrator.id)
    assert [each["id"] for each in document["figures"]] == list(rows)
    assert document["summary"] in err
    assert f"written: {path}" in err
    line = next(line for line in err.splitlines() if line.startswith("K1"))
    number = f"{skill.value:.3f} ({skill.low:.3f} to {skill.high:.3f})"
    words = "skill on code that it was not fitted to"
    assert re.split(" {2,}", line) == ["K1", words, number, "500 of 10 projects", "no claim", "reported"], "cross-validation can't fail"


def test_samples_that_it_was_fitted_on_are_not_mixed_with_new_ones(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert validated(files, "RUN", "line.jsonl") == 2
    said = f"{files / 'RUN' / 'samples' / 'line.jsonl'} holds the samples that {files / 'c.json'} was fitted on"
    assert said in capsys.readouterr().err
    for run, how in (("RUN", "cross-validation: its own samples, each by a map"), ("line.jsonl", "other samples than it was fitted on")):
        assert validated(files, run) == 0
        assert f"note: K1, K2, K3, K4, K6{', K7.no_suffix' if run == 'RUN' else ''}: {how}" in capsys.readouterr().err


def test_a_run_of_a_study_that_says_nothing_of_a_calibrator_is_refused(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin(files / "RUN", "repository")
    assert validated(files, "RUN") == 0
    begin(files / "RUN", "recorded")
    assert validated(files, "RUN") == 2
    said = f"{files / 'RUN'} is a run of the study recorded, which says nothing of a calibrator; name runs of: calibration, repository"
    assert said in capsys.readouterr().err


def begin(folder: Path, study: str, model: str = "m") -> None:
    """Make the folder a run of the study."""
    question = {"schema": SCHEMA, "study": study, "model": model, "model_name": "m", "prompt": "p", "seed": 0}
    (folder / "run.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in question.items()))


@pytest.fixture
def counterfeits(fitted: dict[str, Calibrator], tmp_path: Path) -> Path:
    """t.json, a calibrator for tests_pass, and the run CF of counterfeits with shown and drawn texts."""
    samples = passing()
    save(fitted["tests_pass"], tmp_path / "t.json")
    drawn = [changed(each, id=f"{each.id}:{i}", prompt="e" * 16, text_sha256=f"{i}" * 64) for each in samples[:200] for i in range(3)]
    write_samples(tmp_path / "CF" / "samples" / "line.jsonl", samples)
    write_samples(tmp_path / "CF" / "samples" / "line-t0.6.jsonl", drawn)
    begin(tmp_path / "CF", "counterfeit")
    with (tmp_path / "CF" / "facts.jsonl").open("w") as file:
        for number, each in enumerate([*samples, *drawn]):
            kind = "right" if each.labels["tests_pass"] else "counterfeit" if number % 3 else "other"
            fact = {
                "id": each.id,
                "gap": f"{number // 9}",
                "project": each.project,
                "task": "line",
                "classes": {"kept": kind},
                "parses": True,
            }
            file.write(json.dumps(fact) + "\n")
    return tmp_path


@pytest.mark.slow
def test_a_run_of_counterfeits_brings_its_own_figures_and_one_of_another_study_stays(counterfeits: Path) -> None:
    run, path = counterfeits / "CF", str(counterfeits / "t.json")
    assert main(["calibrate", "validate", path, str(run)]) == 0
    found = table.load(table.path_of(load(counterfeits / "t.json"), counterfeits / "t.json"))
    rows = {row.id: row for row in found.figures}
    assert {row.study for row in rows.values()} == {"counterfeit"}
    assert (rows["F1"].n, rows["F4"].reading, rows["F9"].reading) == (400, "holds", "not run")
    assert rows["F2"].n > 0
    assert "of the calibrator itself, by the measures of each text" in rows["F2"].note
    assert (rows["F2.raw"].n, rows["F2.raw"].reading) == (rows["F2"].n, "reported")
    assert main(["calibrate", "validate", path, str(run), str(run / "samples" / "line.jsonl")]) == 0
    found = table.load(table.path_of(load(counterfeits / "t.json"), counterfeits / "t.json"))
    assert {row.study for row in found.figures} == {"calibration", "counterfeit"}


def test_damaged_or_no_facts_and_another_event_are_refused(counterfeits: Path, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = counterfeits / "CF" / "facts.jsonl"
    facts.write_text('{"id": "s0", "gap": 3}\n')
    assert main(["calibrate", "validate", str(counterfeits / "t.json"), str(counterfeits / "CF")]) == 2
    err = capsys.readouterr().err
    assert f"{facts}:1: not the facts of a text: " in err
    assert f"`assay eval report {counterfeits / 'CF'}` writes them again" in err
    kept = load(files / "c.json")
    save(replace(kept, event="kept"), files / "k.json")
    assert main(["calibrate", "validate", str(files / "k.json"), str(counterfeits / "CF")]) == 2
    assert "the study counterfeit says something of calibrators for tests_pass, exact_match alone" in capsys.readouterr().err


def test_samples_of_something_else_are_refused(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_samples(files / "other.jsonl", [changed(each, model="f" * 16) for each in world(50)[0]])
    assert validated(files, "other.jsonl") == 2
    assert "is for the model" in capsys.readouterr().err
    assert not (files / "validation").exists()


def test_what_can_not_be_used_is_said_with_what_to_do(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "RUN" / "samples" / "line.jsonl").rename(files / "RUN" / "samples" / "block.jsonl")
    for run, said in (
        ("RUN", "files of samples in"),
        ("RUN/samples/line-no_suffix.jsonl", "only samples of other inputs; name the run, or the plain samples line.jsonl, too"),
        ("nowhere.jsonl", "can't be read: No such file"),
    ):
        assert validated(files, run) == 2
        assert said in capsys.readouterr().err
    write_samples(files / "unknown.jsonl", [changed(each, labels={}) for each in world(50)[0]])
    assert validated(files, "unknown.jsonl") == 2
    assert "none of the 50 samples has a label for exact_match" in capsys.readouterr().err


def test_a_damaged_table_is_left_as_it_is(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table.path_of(load(files / "c.json"), files / "c.json")
    path.parent.mkdir()
    path.write_text("{")
    assert validated(files, "line.jsonl") == 2
    assert re.search(rf"{path}:1: not JSON: .*; delete the file to have it made anew", capsys.readouterr().err)
    assert path.read_text() == "{"
    table.save(replace(table.empty(load(files / "c.json")), event="kept"), path)
    assert validated(files, "line.jsonl") == 2
    assert f"{path} is of another event, task, model or prompt than the calibrator; delete it" in capsys.readouterr().err


def test_in_a_project_nothing_is_written_through_a_link(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, elsewhere = files / "project" / ".assay" / "calibrators", files / "elsewhere"
    save(load(files / "c.json"), folder / "c.json")
    elsewhere.mkdir()
    (folder / "validation").symlink_to(elsewhere)
    assert main(["calibrate", "validate", str(folder / "c.json"), str(files / "line.jsonl")]) == 1
    assert "symbolic link" in capsys.readouterr().err
    assert list(elsewhere.iterdir()) == []
    (folder / "validation").unlink()
    assert main(["calibrate", "validate", str(folder / "c.json"), str(files / "line.jsonl")]) == 0
    assert len(list((folder / "validation").iterdir())) == 1


@pytest.fixture
def runs(counterfeits: Path) -> Path:
    """The runs in all/ of one model: counterfeits, a run with few samples of which some have no docstring, and one with more."""
    (counterfeits / "all").mkdir()
    (counterfeits / "CF").rename(counterfeits / "all" / "counterfeit")
    samples = [changed(each, labels=each.labels | {"tests_pass": each.labels["exact_match"]}) for each in world(400, projects=10)[0]]
    for name, count in (("asked", 200), ("calibration", 400)):
        folder = counterfeits / "all" / name
        write_samples(folder / "samples" / "line.jsonl", samples[:count])
        if name == "asked":
            write_samples(folder / "samples" / "line-no_suffix.jsonl", samples[:150])
        begin(folder, "calibration", samples[0].model)
    begin(counterfeits / "all" / "counterfeit", "counterfeit", samples[0].model)
    begin(counterfeits / "all", "all", samples[0].model)
    calibrators = counterfeits / "calibrators"
    for event in ("exact_match", "tests_pass"):
        made = fit(samples, event, resamples=50)
        save(made.calibrator, calibrators / f"{event}.json")
        save_folds(made.kept_folds(), folds_path(made.calibrator, calibrators / f"{event}.json"))
    other = load(calibrators / "tests_pass.json")
    save(replace(other, fitted_on=replace(other.fitted_on, model="e" * 16)), calibrators / "other.json")
    return counterfeits


@pytest.mark.slow
def test_all_calibrators_are_validated_by_all_runs_that_say_something_of_them(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calibrators = runs / "calibrators"
    assert main(["calibrate", "validate", "--all", str(runs / "all"), "--calibrators", str(calibrators), "--json"]) == 0
    out, err = capsys.readouterr()
    tables = json.loads(out)["tables"]
    assert {each["event"] for each in tables} == {"exact_match", "tests_pass"}
    for each in tables:
        figures = {figure["id"]: figure for figure in each["figures"]}
        # the larger run replaces the figures of the smaller, but for what it lacks
        assert (figures["K1"]["run"], figures["K1"]["n"]) == ("calibration", 400)
        assert figures["K7.no_suffix"]["run"] == "asked"
        assert ("F2" in figures) == (each["event"] == "tests_pass"), "its samples have no label for exact_match"
        calibrator = load(calibrators / f"{each['event']}.json")
        assert table.load(table.path_of(calibrator, calibrators / "x.json")).is_of(calibrator)
    assert "tests_pass.json: validated: " in err
    assert ", by asked, calibration, counterfeit; written: " in err or ", by asked, counterfeit, calibration; written: " in err
    assert len(list((calibrators / "validation").iterdir())) == 2


def test_what_can_not_be_validated_together_is_refused(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (runs / "t.json").unlink()
    for arguments, said in (
        (["--all", "{}/none"], "none is not a folder"),
        (["--all", "{}"], "has no runs that say something of a calibrator"),
        (["--all", "{}/all", "--calibrators", "{}"], "no calibrator was validated: the runs in"),
        (["{}/t.json", "--all", "{}/all"], "leave CALIBRATOR and RUN out"),
        (["{}/t.json"], "name a calibrator and runs, or --all DIR"),
    ):
        assert main(["calibrate", "validate", *(each.replace("{}", str(runs)) for each in arguments)]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.slow
def test_the_hash_of_a_run_covers_its_facts(counterfeits: Path) -> None:
    def hashes() -> set[str]:
        assert main(["calibrate", "validate", str(counterfeits / "t.json"), str(counterfeits / "CF")]) == 0
        calibrator = load(counterfeits / "t.json")
        found = table.load(table.path_of(calibrator, counterfeits / "t.json"))
        return {row.run_sha256 for row in found.figures if row.reading != "not run"}

    before = hashes()
    facts = counterfeits / "CF" / "facts.jsonl"
    lines = facts.read_text().splitlines()
    facts.write_text("\n".join([*lines[:-1], lines[-1].replace('"parses": true', '"parses": false')]) + "\n")
    assert not hashes() & before

"""`assay logs recalibrate`."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from log_commands import document, run
from synthetic_events import life, lives, new
from synthetic_samples import MODEL, PROMPT, world

from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import AcceptanceTested, RequestEnded, hash_of
from assay.calibration.registry import Purpose, choose, load_registry


def test_calibrators_are_written_where_servers_look_or_refused(logged: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with EventLog(logged) as log:
        for n in range(30):
            log.append([new(event, showing) for showing, event in life(f"rest {n}", kept=n > 2, task="line_rest")])
        log.append([new(event, showing) for showing, event in life("other", kept=True, model="f" * 16)])
    assert run("recalibrate", "--log", logged, "--dry-run", "--json") == 0
    assert document(capsys)["dry_run"]
    assert not home.exists()
    assert run("recalibrate", "--log", logged, "--json") == 0
    out, told = capsys.readouterr()
    said = json.loads(out)
    assert "line_rest of the model 0123456789abcdef: 30 shown, for 30 it is known whether they were kept (27 were): no calibrator" in told
    assert "where the setting assay.event is kept" in told
    (written,) = said["written"]
    assert (written["task"], written["event"], written["n"], written["status"]) == ("line", "kept", 300, "informative")
    assert written["skill"]["low"] > 0
    reasons = {(each["task"], each["model"]): each["reason"] for each in said["refused"]}
    assert "at least 25 with 5 of each" in reasons["line_rest", MODEL]
    assert "at least two" in reasons["line", "f" * 16]
    assert Path(written["path"]).parent == home / "calibrators"
    assert [file.name for file in (home / "calibrators").iterdir()] == ["kept-line-01234567-fedcba98.json"]
    chosen = choose(load_registry(), Purpose(MODEL, PROMPT, "kept", "line", "python"))
    assert (chosen.origin, chosen.calibrator.id) == ("user", written["id"])


def test_a_calibrator_of_passing_tests_is_fitted_where_tests_were_run(logged: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with EventLog(logged) as log:
        ended = [row for row in log.rows() if isinstance(row.event, RequestEnded)][:200]
        for row in ended:
            likely = row.event.measures["total_logprob"] > -2
            log.append([new(AcceptanceTested(passed=likely == (row.number % 5 > 0), tests=2), row.event.id)])
    assert run("recalibrate", "--log", logged, "--json") == 0
    out, told = capsys.readouterr()
    written = {each["event"]: each for each in json.loads(out)["written"]}
    assert written.keys() == {"kept", "tests_pass"}
    assert written["tests_pass"]["n"] == 200
    assert "line of the model 0123456789abcdef: 200 accepted, with which tests were run that tell something" in told
    assert Path(written["tests_pass"]["path"]).name == "tests_pass-line-01234567-fedcba98.json"


def test_recalibrating_a_log_without_suggestions_writes_nothing(path: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    EventLog(path, create=True).close()
    assert run("recalibrate", "--log", path) == 0
    assert "no suggestion that was shown" in capsys.readouterr().err
    with EventLog(path) as log:
        log.append([new(event, showing) for showing, event in life("unmeasured", kept=True, measures={})])
    assert run("recalibrate", "--log", path) == 0
    told = capsys.readouterr().err
    assert "left out: 1 without measures" in told
    assert "all that was shown is left out" in told
    assert not home.exists()


@pytest.mark.parametrize(
    "changes",
    [{"task": "../../x"}, {"model": "../x"}],
    ids=lambda changes: next(iter(changes)),
)
def test_recalibrate_makes_no_file_of_any_name(
    path: Path, home: Path, tmp_path: Path, changes: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with EventLog(path, create=True) as log:
        for each in lives(20):
            for showing, event in each:
                foreign = msgspec.structs.replace(event, **changes) if isinstance(event, RequestEnded) else event
                log.append([new(foreign, showing)])
    assert run("recalibrate", "--log", path) == 0
    told = capsys.readouterr().err
    assert "left out: 20 not as Assay logs it" in told
    assert "no calibrator: all that was shown is left out" in told
    assert not home.exists()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("slope", "habit", "is_written"),
    [
        (1.0, 2.0, False),  # keeps nearly all, and edits it later: only the share is another
        (0.2, 0.0, True),  # hardly cares how likely it is
    ],
)
def test_a_map_of_ones_own_is_written_only_where_it_beats_the_number_shown(
    path: Path, home: Path, capsys: pytest.CaptureFixture[str], slope: float, habit: float, is_written: bool
) -> None:
    samples, truth = world(400, seed=7)
    rng = np.random.default_rng(3)
    with EventLog(path, create=True) as log:
        for sample, p in zip(samples, truth, strict=True):
            kept = bool(rng.random() < 1 / (1 + np.exp(-(slope * np.log(p / (1 - p)) + habit))))
            shown = {"status": "informative", "event": "exact_match", "probability": float(p), "low": 0.0, "high": 1.0, "band": "likely"}
            of_sample = {"measures": sample.measures, "confidence": shown, "project": hash_of(sample.project)}
            document_of = hash_of(sample.project + sample.file)
            log.append([new(event, showing) for showing, event in life(sample.id, kept=kept, document=document_of, **of_sample)])
    assert run("recalibrate", "--log", path, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert bool(said["written"]) == is_written
    if not is_written:
        (refused,) = said["refused"]
        assert refused["reason"].startswith("the numbers that were shown, moved to how often it is true, foretell it as well: log loss")

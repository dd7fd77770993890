from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from synthetic_events import SERVER, life, new
from synthetic_samples import MODEL

from assay.calibration.log.evaluation import evaluations_of
from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import Event, Row, hash_of
from assay.calibration.log.samples import showings_of
from assay.cli import main as cli

Logged = tuple[str | None, Event]


def showing(number: int, kept: bool | None, probability: float | None, *, event: str = "kept", documents: int = 12) -> list[Logged]:
    said: dict[str, str | float | None] = {"status": "informative", "event": event, "probability": probability, "calibrator": f"by {event}"}
    return life(f"{event} {number}", kept=kept, confidence=said, project=hash_of("p"), document=hash_of(str(number % documents)))


def world(n: int, *, off: float = 0.0, event: str = "kept", documents: int = 12) -> list[Logged]:
    """Showings of which each is kept with the probability that was said, or with log odds that are so much less."""
    rng, found = np.random.default_rng(0), list[Logged]()
    for number in range(n):
        said = rng.uniform(0.05, 0.95)
        true = 1 / (1 + np.exp(off - np.log(said / (1 - said))))
        found += showing(number, bool(rng.random() < true), float(said), event=event, documents=documents)
    return found


def rows(*events: Logged) -> list[Row]:
    return [Row(number, 1000 * number, SERVER, name, event) for number, (name, event) in enumerate(events, 1)]


@pytest.mark.parametrize(("off", "refuted"), [(0.0, False), (1.5, True)])
def test_percentages_that_are_true_are_not_refuted_and_others_are(off: float, refuted: bool) -> None:
    (one,) = evaluations_of(showings_of(rows(*world(600, off=off))))
    assert (one.calibrator, one.event, one.task, one.model, one.shown, one.labelled) == ("by kept", "kept", "line", MODEL, 600, 600)
    assert one.grouped_by == "document"
    assert (one.evidence.n, one.evidence.positives, one.rate.value) == (600, one.kept, one.kept / 600)
    assert (one.calibrated.p_value < 0.05) is refuted
    assert (one.evidence.ece.low > 0) is refuted
    assert (not one.rate.low <= one.said <= one.rate.high) is refuted


def test_of_another_event_only_the_ranking_is_judged() -> None:
    one, other = evaluations_of(showings_of(rows(*world(200), *world(100, event="exact_match"))))
    assert [(each.event, each.labelled) for each in (one, other)] == [("kept", 200), ("exact_match", 100)]
    assert other.auc.low > 0.5
    assert (other.evidence, other.calibrated) == (None, None)


def test_what_has_no_label_or_no_probability_is_not_judged() -> None:
    unlabelled = showing(9_001, None, 0.5)
    without = showing(9_002, True, None)
    damaged = [each for n, p in enumerate((0.0, 1.0, 5.0, True)) for each in showing(9_003 + n, False, p)]
    foreign = [each for n in range(9) for each in life(f"foreign {n}", kept=True, task="line\n\x1b[2J", project=hash_of("p"))]
    (one,) = evaluations_of(showings_of(rows(*world(100), *unlabelled, *without, *damaged, *foreign)))
    assert (one.shown, one.labelled) == (101, 100)


def test_of_too_little_it_is_said_why_no_more_is_told() -> None:
    (few,) = evaluations_of(showings_of(rows(*world(20))))
    assert (few.rate, few.auc, few.evidence, few.calibrated) == (None, None, None, None)
    assert few.said is not None
    assert "at least 25 labels" in few.because
    (alike,) = evaluations_of(showings_of(rows(*world(200, documents=4))))
    assert (alike.labelled, alike.rate) == (200, None)
    assert "fewer than 5 documents" in alike.because
    (none,) = evaluations_of(showings_of(rows(*showing(1, None, 0.5))))
    assert (none.shown, none.labelled, none.said) == (1, 0, None)


def test_the_command_tells_what_was_said_and_what_was_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log"
    with EventLog(path, create=True) as log:
        log.append([new(event, name) for name, event in [*world(600, off=1.5), *world(100, event="exact_match")]])
    assert cli.main(["logs", "evaluate", "--log", str(path)]) == 0
    told = capsys.readouterr().out
    assert "600 shown; of 600 it is known whether they were kept after 300 s" in told
    assert "that the percentages are true is refuted (p = 0.0" in told
    assert "exact match by the calibrator by exact_match:" in told
    assert "a log can't show whether" in told
    assert cli.main(["logs", "evaluate", "--log", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["labelled"] for each in found["evaluations"]] == [600, 100]
    assert found["evaluations"][0]["evidence"]["ece"]["low"] > 0

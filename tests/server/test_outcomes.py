from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay.calibration.confidence import Confidence, uncalibrated
from assay.server.outcomes import Ending, Outcome, Spent, hash_of

URI = "file:///projects/secret-one/plan.py"
BARE = Outcome(
    Ending.EMPTY, "0123456789ab", datetime(2026, 11, 9, 8, 7, 6, 5432, UTC), hash_of(URI), "python", "automatic", "line", Spent(1.5)
)
CONFIDENCE = Confidence("informative", "exact_match", 0.8, 0.7, 0.9, "likely", "c" * 16, "")


def shown(**changes: object) -> Outcome:
    fields = {"ending": Ending.PRODUCED, "source": "model", "propensity": 1.0, "confidence": CONFIDENCE, "measures": {"length": 3.0}}
    return replace(BARE, **{**fields, **changes})  # type: ignore[arg-type]


def test_a_record_is_one_line_of_json() -> None:
    line = json.dumps(
        shown(task="line", model="a" * 16, prompt="b" * 16, tokens=4, spent=Spent(9.0, 1, 2, 3, 2.5)).as_json(), allow_nan=False
    )
    assert "\n" not in line
    assert json.loads(line) == {
        "schema": "assay/outcome/1",
        "id": "0123456789ab",
        "time": "2026-11-09T08:07:06.005+00:00",
        "outcome": "produced",
        "reason": "",
        "document": hash_of(URI),
        "language": "python",
        "trigger": "automatic",
        "kind": "line",
        "task": "line",
        "source": "model",
        "propensity": 1.0,
        "confidence": {
            "status": "informative",
            "event": "exact_match",
            "probability": 0.8,
            "low": 0.7,
            "high": 0.9,
            "band": "likely",
            "calibrator": "c" * 16,
        },
        "measures": {"length": 3.0},
        "model": "a" * 16,
        "prompt": "b" * 16,
        "tokens": 4,
        "timings_ms": {"total": 9.0, "waited": 1, "queued": 2, "prompt": 3, "generate": 2.5},
    }


def test_the_seven_endings_are_these() -> None:
    assert [ending.value for ending in Ending] == ["produced", "hidden", "empty", "superseded", "cancelled", "failed", "timed_out"]


def test_every_field_and_ending_is_documented() -> None:
    section = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8").partition("## Request log")[2]
    assert section
    assert [name for name in (*shown().as_json(), *Ending, *BARE.as_json()["timings_ms"]) if f"`{name}`" not in section] == []


def test_no_path_is_logged_not_even_in_the_reason_why_there_is_no_number() -> None:
    reason = "no calibrator for this model is for the project /projects/secret-one/plan.py, only for /projects/other"
    line = json.dumps(shown(ending=Ending.HIDDEN, propensity=0.0, confidence=uncalibrated("exact_match", reason)).as_json())
    assert "secret" not in line
    assert "plan" not in line


def test_what_is_not_finite_is_left_out() -> None:
    assert shown(measures={"total_logprob": -math.inf, "mean_margin": math.nan, "length": 2.0}).as_json()["measures"] == {"length": 2.0}


def test_the_same_document_has_the_same_hash_and_any_uri_has_one() -> None:
    assert hash_of(URI) == hash_of(URI)
    assert len({hash_of(uri) for uri in (URI, URI + "x", "untitled:1", "\ud800")}) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"propensity": 0.0},
        {"propensity": None},
        {"propensity": 1.1},
        {"propensity": math.nan},
        {"source": None},
        {"confidence": None},
        {"ending": Ending.HIDDEN},
        {"ending": Ending.HIDDEN, "propensity": -0.1},
        {"ending": Ending.EMPTY},
        {"time": datetime(2026, 11, 9)},
    ],
)
def test_a_record_that_an_estimate_could_not_stand_on_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"propensity|time zone"):
        shown(**wrong)

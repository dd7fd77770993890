from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.confidence import Confidence, uncalibrated
from assay.calibration.log.events import OtherSuggestion, RequestEnded, hash_of
from assay.server.requests.request_ending import Ending, RequestCounts, Spent, ended, percentile

URI = "file:///projects/secret-one/plan.py"
BARE = {"id": "0123456789ab", "document": hash_of(URI), "language": "python", "trigger": "automatic", "kind": "line"}
CONFIDENCE = Confidence("informative", "exact_match", 0.8, 0.7, 0.9, "likely", "c" * 16, "")


def shown(ending: Ending = Ending.PRODUCED, spent: Spent = Spent(1.5), **changes: Any) -> RequestEnded:  # noqa: B008
    decided = {"source": "model", "propensity": 1.0, "confidence": CONFIDENCE, "measures": {"length": 3.0}}
    return ended(ending, spent, **{**BARE, **decided, **changes})


def test_an_event_has_all_that_is_known_of_the_request() -> None:
    text = {
        "text_sha256": "d" * 64,
        "characters": 3,
        "rank": 2,
        "others": (OtherSuggestion(id="1" * 12),),
        "project": hash_of("file:///projects/secret-one"),
    }
    event = shown(task="line", model="a" * 16, prompt="b" * 16, tokens=4, spent=Spent(9.0, 1, 2, 3, 2.5), **text)
    assert msgspec.structs.asdict(event) == {
        "id": "0123456789ab",
        "outcome": "produced",
        "reason": "",
        "document": hash_of(URI),
        "project": hash_of("file:///projects/secret-one"),
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
        "rank": 2,
        "text_sha256": "d" * 64,
        "characters": 3,
        "others": (OtherSuggestion(id="1" * 12),),
        "tokens": 4,
        "timings_ms": {"total": 9.0, "waited": 1, "queued": 2, "prompt": 3, "generate": 2.5},
    }


def test_no_path_is_logged_not_even_in_the_reason_why_there_is_no_number() -> None:
    reason = "no calibrator for this model is for the project /projects/secret-one/plan.py, only for /projects/other"
    event = shown(ending=Ending.HIDDEN, propensity=0.0, confidence=uncalibrated("exact_match", reason))
    line = msgspec.json.encode(event)
    assert b"secret" not in line
    assert b"plan" not in line


def test_what_is_not_finite_is_left_out() -> None:
    assert shown(measures={"total_logprob": -math.inf, "mean_margin": math.nan, "length": 2.0}).measures == {"length": 2.0}


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
    ],
)
def test_a_record_that_an_estimate_could_not_stand_on_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="propensity"):
        shown(**wrong)


def test_the_summary_counts_all_and_times_what_was_shown_of_the_latest() -> None:
    counts = RequestCounts(latest=20)
    for event in (*(shown(spent=Spent(float(ms))) for ms in range(1, 101)), ended(Ending.CANCELLED, Spent(1e6), **BARE)):
        counts.add(event)
    summary = counts.summary()
    assert summary["outcomes"] == {ending.value: {"produced": 100, "cancelled": 1}.get(ending.value, 0) for ending in Ending}
    assert summary["shown_ms"] == {"n": 19, "p50": 91.0, "p95": 100.0}
    assert RequestCounts().summary()["shown_ms"] == {"n": 0, "p50": None, "p95": None}


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1))
def test_a_percentile_is_the_least_value_that_so_many_do_not_exceed(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
    assert all(sum(value <= lower for value in values) < share * len(values) + 1e-9 for lower in values if lower < found)

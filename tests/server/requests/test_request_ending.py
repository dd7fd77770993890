from __future__ import annotations

import math
from dataclasses import replace

import msgspec
import pytest

from assay.calibration.confidence import Confidence, uncalibrated
from assay.calibration.log.events import OtherSuggestion, hash_of
from assay.server.requests.request_ending import Ending, Outcome, Spent

URI = "file:///projects/secret-one/plan.py"
BARE = Outcome(Ending.EMPTY, "0123456789ab", hash_of(URI), "python", "automatic", "line", Spent(1.5))
CONFIDENCE = Confidence("informative", "exact_match", 0.8, 0.7, 0.9, "likely", "c" * 16, "")


def shown(**changes: object) -> Outcome:
    fields = {"ending": Ending.PRODUCED, "source": "model", "propensity": 1.0, "confidence": CONFIDENCE, "measures": {"length": 3.0}}
    return replace(BARE, **{**fields, **changes})  # type: ignore[arg-type]


def test_an_event_has_all_that_is_known_of_the_request() -> None:
    text = {
        "text_sha256": "d" * 64,
        "characters": 3,
        "rank": 2,
        "others": (OtherSuggestion(id="1" * 12),),
        "project": hash_of("file:///projects/secret-one"),
    }
    event = shown(task="line", model="a" * 16, prompt="b" * 16, tokens=4, spent=Spent(9.0, 1, 2, 3, 2.5), **text).as_event()
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
    event = shown(ending=Ending.HIDDEN, propensity=0.0, confidence=uncalibrated("exact_match", reason)).as_event()
    line = msgspec.json.encode(event)
    assert b"secret" not in line
    assert b"plan" not in line


def test_what_is_not_finite_is_left_out() -> None:
    assert shown(measures={"total_logprob": -math.inf, "mean_margin": math.nan, "length": 2.0}).as_event().measures == {"length": 2.0}


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
def test_a_record_that_an_estimate_could_not_stand_on_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="propensity"):
        shown(**wrong)

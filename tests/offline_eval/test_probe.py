from __future__ import annotations

from pathlib import Path

import pytest
from tiny_gguf import END, scripted, write_tiny_gguf

from assay.inference.asking.asker import Asker, Message
from assay.inference.opening import ModelChoice
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.probe import Probe, estimated, spoken


def ask(asker: Asker) -> None:
    asker.say([Message("user", "x" * 35)], n=2, max_tokens=4)


def test_a_run_takes_as_long_as_one_question_of_each_kind_times_their_number(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "m.gguf", scripted(b"yes", END.encode(), context_length=512))
    plan = estimated(ModelChoice(str(path)), None, Pool(2), [Probe("one", 3600, ask), Probe("two", 7200, ask)])
    one, two = plan["seconds_each"]["one"], plan["seconds_each"]["two"]
    assert plan["hours"] == pytest.approx((one + 2 * two) / 2, abs=0.01)
    assert plan["tokens_read"] == 10800 * 10
    assert "by 2 workers" in plan["time"]


def test_a_server_that_does_not_answer_is_told_and_ends_no_plan() -> None:
    plan = estimated(ModelChoice("http://127.0.0.1:9"), None, Pool(), [Probe("one", 1, ask)])
    assert list(plan) == ["time"]
    assert plan["time"].startswith("not known: http://127.0.0.1:9")


@pytest.mark.parametrize(("hours", "words"), [(0.001, "1 minute"), (0.5, "30 minutes"), (2.04, "2.0 hours")])
def test_the_time_is_told_in_minutes_or_hours(hours: float, words: str) -> None:
    assert spoken(hours) == words

"""What became of rewrites, joined place by place."""

from __future__ import annotations

from typing import Any

import msgspec

from assay.calibration.validation.catcode_facts import PlaceFact
from assay.offline_eval.calibration.draw import label_id
from assay.offline_eval.catcode.lines.asking import facts_of, lines_at

PLACE, TRUTH = "shop:shop/sums.py:9", "return total + tax"
BOTH = ("truth", "suggestion")


def answer(inserted: str | None) -> dict[str, Any]:
    made = {"id": f"{PLACE}:line", "task": "line", "inserted": inserted, "truth": TRUTH, "labels": {"exact_match": inserted == TRUTH}}
    return {"id": PLACE, "project": "shop", "file": "shop/sums.py", "function": "f", "line": 9, "generations": [made]}


def variant(arm: str, *rules: str) -> dict[str, Any]:
    steps = [{"rule": rule, "start": 0, "end": 0, "text": ""} for rule in rules]
    return {"arm": arm, "steps": steps, "line": TRUTH, "kind": "right", "diff": []}


def known(text: str, variants: list[dict[str, Any]], scores: list[Any] | None, regenerated: dict[str, Any] | None = None) -> Any:
    name, plain = label_id(PLACE, "line", text), {"total_logprob": -1.0}
    return {
        "rewrites": {name: {"id": name, "place": PLACE, "variants": variants, "tried": []}},
        "scores": {} if scores is None else {name: {"id": name, "plain": plain, "identity": plain, "variants": scores}},
        "regenerated": {} if regenerated is None else {PLACE: {"id": PLACE, "line": name, "variant": 1, **regenerated}},
        "said": {},
    }


def test_a_suggestion_that_is_the_projects_own_line_is_one_line() -> None:
    assert lines_at(answer(TRUTH), BOTH) == {"truth": TRUTH}
    assert lines_at(answer(TRUTH), ("suggestion",)) == {"suggestion": TRUTH}
    assert lines_at(answer("return 1"), BOTH) == {"truth": TRUTH, "suggestion": "return 1"}
    assert lines_at(answer(None), BOTH) == {"truth": TRUTH}


def test_each_rewrite_has_its_own_score_and_what_was_not_scored_has_none() -> None:
    variants = [variant("context", "unused_statement"), variant("wrong", "wrong_name")]
    (place,) = facts_of([answer(None)], known(TRUTH, variants, [{"total_logprob": -2.0}, None]), BOTH)
    (line,) = place["lines"]
    assert (line["code"], line["exact"]) == ("truth", True)
    assert [one["measures"] for one in line["variants"]] == [{"total_logprob": -2.0}, None]
    (bare,) = facts_of([answer(None)], known(TRUTH, variants, None), BOTH)[0]["lines"]
    assert bare["plain"] is None
    assert [one["measures"] for one in bare["variants"]] == [None, None]


def test_a_suggestion_in_rewritten_code_that_is_the_line_passes_and_another_is_as_the_tests_say() -> None:
    variants = [variant("context", "unused_statement"), variant("context", "unused_statement", "rename_variable")]
    again = {"text": TRUTH, "inserted": TRUTH, "measures": {"total_logprob": -1.0}, "equal": True}
    (place,) = facts_of([answer(None)], known(TRUTH, variants, None, again), BOTH)
    assert place["regenerated"] is not None
    assert (place["regenerated"]["passes"], place["regenerated"]["exact"]) == (True, True)
    assert place["regenerated"]["rules"] == ["unused_statement", "rename_variable"]
    other = known(TRUTH, variants, None, {**again, "inserted": "return 1", "equal": False})
    for said in (False, None):
        other["said"] = {f"{PLACE}:rewritten": said}
        (place,) = facts_of([answer(None)], other, BOTH)
        assert place["regenerated"] is not None
        assert (place["regenerated"]["passes"], place["regenerated"]["exact"]) == (said, False)
    hidden = known(TRUTH, variants, None, {**again, "inserted": None, "equal": False})
    assert facts_of([answer(None)], hidden, BOTH)[0]["regenerated"] is None


def test_they_are_what_the_validation_table_reads() -> None:
    variants = [variant("context", "unused_statement"), variant("context", "unused_statement", "rename_variable")]
    again = {"text": TRUTH, "inserted": TRUTH, "measures": {"total_logprob": -1.0}, "equal": True}
    (place,) = facts_of([answer(None)], known(TRUTH, variants, [None, {"total_logprob": -2.0}], again), BOTH)
    read = msgspec.json.decode(msgspec.json.encode(place), type=PlaceFact)
    assert read.lines[0].variants[1].rules == ("unused_statement", "rename_variable")
    assert read.regenerated is not None
    assert read.regenerated.passes is True

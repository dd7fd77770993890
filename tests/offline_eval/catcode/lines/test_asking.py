"""What a model is asked about a place, a line and its rewrites: as the editor would, and the same each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from sums_project import SOURCE

from assay.analysis.python.lines import Gap
from assay.inference.opening import ModelChoice
from assay.offline_eval.asked_line import Asking, OpenModel
from assay.offline_eval.catcode.lines.asking import Line, RewrittenPlace, Variants, answer, regenerate, score
from assay.offline_eval.catcode.lines.rewrites import StepRecord, Variant
from assay.offline_eval.model import model_of
from assay.offline_eval.sets.lines import Place

AT = SOURCE.index("    result = start")
LONGER: StepRecord = {"rule": "unused_statement", "start": AT, "end": AT, "text": "    amount = 0\n"}


def place(line: str = "result = result + number") -> Place:
    start = SOURCE.index(line)
    return Place("shop", "shop/shop/sums.py", SOURCE, "total", SOURCE.count("\n", 0, start) + 1, (("line", Gap(start, start + len(line))),))


def variant(*steps: StepRecord, arm: str = "context", line: str = "result = result + number") -> Variant:
    return {"arm": arm, "steps": list(steps), "line": line, "kind": "right", "diff": []}


@pytest.fixture(scope="module")
def opened() -> Iterator[OpenModel[None]]:
    model = model_of(ModelChoice(), ("line",), memory="file")
    found = Asking(model, None, answer).at(model.choice)
    yield found
    found.close()


def asking(opened: OpenModel[None], what: Callable[[OpenModel[None], Any], dict[str, Any]]) -> OpenModel[None]:
    return replace(opened, asking=replace(opened.asking, ask=what))


def test_a_line_that_the_model_wrote_has_the_measures_that_it_was_written_with(opened: OpenModel[None]) -> None:
    """So that one calibrator judges suggestions and rewrites."""
    told = opened(place())
    (made,) = told["generations"]
    start, end = told["shown"]
    line = Line(place(), made["text"], (start, end))
    scored = asking(opened, score)(Variants(line, ()))
    assert scored["plain"] == pytest.approx(made["measures"], abs=1e-3)
    assert scored["identity"] == pytest.approx(scored["plain"], abs=0.1)


def test_each_rewrite_is_scored_where_its_steps_lead(opened: OpenModel[None]) -> None:
    line = Line(place(), "result = result + number", (0, len(SOURCE)))
    at = SOURCE.index("result + number")
    wrong: StepRecord = {"rule": "wrong_operator", "start": at + 7, "end": at + 8, "text": "-"}
    variants = (variant(LONGER), variant(wrong, arm="wrong", line="result = result - number"))
    scoring = asking(opened, score)
    found = scoring(Variants(line, variants))
    context, other = found["variants"]
    assert context["total_logprob"] != found["plain"]["total_logprob"]
    alone = scoring(Variants(Line(place(), "result = result - number", (0, len(SOURCE))), ()))["plain"]
    assert other == pytest.approx(alone, abs=0.1)
    again = scoring(Variants(line, variants))
    assert {**again, "timings": None} == {**found, "timings": None}


def test_what_is_suggested_in_rewritten_code_is_asked_for_in_that_code(opened: OpenModel[None]) -> None:
    line = Line(place(), "result = result + number", (0, len(SOURCE)))
    item = RewrittenPlace(line, 0, variant(LONGER))
    assert item.view.line == "result = result + number"
    assert "    amount = 0\n    result = start" in item.view.text
    found = asking(opened, regenerate)(item)
    assert (found["id"], found["line"], found["variant"]) == (place().id, line.id, 0)
    assert found["measures"]["total_logprob"] < 0
    assert found["equal"] == (found["inserted"] == "result = result + number")


def test_steps_of_another_text_are_refused() -> None:
    line = Line(place(), "result = result + number", (0, len(SOURCE)))
    gone: StepRecord = {"rule": "loop_exchange", "start": 0, "end": len(SOURCE), "text": "pass\n"}
    with pytest.raises(ValueError, match="the rewrite loop_exchange is not one of this text"):
        _ = RewrittenPlace(line, 0, variant(gone)).view

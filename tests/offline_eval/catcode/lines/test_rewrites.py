"""Rewrites of a line and of the code around it: what is kept, and what is told of the others."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sums_project import SOURCE

from assay.analysis.morphisms.morphism import Refused, Rewrite, Site, rewrite
from assay.analysis.morphisms.registry import MORPHISMS, morphism
from assay.analysis.python.lines import Gap
from assay.inference.completion.settings import Settings
from assay.inference.model import Model
from assay.inference.opening import ModelChoice
from assay.offline_eval.asked_line import Asking, OpenModel
from assay.offline_eval.catcode.lines.asking import Line, RewrittenPlace, Variants, answer, regenerate, score
from assay.offline_eval.catcode.lines.rewrites import (
    ARMS,
    MAX_CHAIN,
    MAX_UNCONFIRMED,
    MAX_WRONG,
    Arm,
    Class,
    Rewriting,
    StepRecord,
    Variant,
    View,
    as_shown,
    shown_around,
    view_of,
)
from assay.offline_eval.model import model_of
from assay.offline_eval.sets.lines import FileWithGap, Place

PROGRAM = (
    SOURCE
    + '''

def longest(words):
    """The longest word, if it is long enough."""
    best, seen = "", False
    limit = 3
    for word in words:
        if len(word) > len(best) and len(word) > limit:
            best = word
            seen = True
    if not seen:
        return None
    else:
        return best
'''
)
RULES = [entry.name for entry in MORPHISMS if "python" in entry.languages]


def view_in(line: str, text: str = PROGRAM, shown: tuple[int, int] | None = None) -> View:
    start = text.index(line)
    return View(text, Gap(start, start + len(line)), *(shown or (0, len(text))))


LINES = [line.strip() for line in PROGRAM.splitlines() if line.startswith("    ") and '"""' not in line]


@given(st.sampled_from(LINES), st.sampled_from(RULES), st.integers(0, 10**6), st.sampled_from([0, PROGRAM.index("def words")]))
def test_a_rewrite_moves_the_line_with_the_text_or_it_is_not_certain_where_it_is(line: str, rule: str, seed: int, start: int) -> None:
    rng = random.Random(seed)
    view = view_in(line, shown=(min(start, PROGRAM.index(line)), len(PROGRAM)))
    sites = morphism(rule, "python").sites(PROGRAM)
    if not sites:
        return
    try:
        step = rewrite(morphism(rule, "python"), PROGRAM, rng.choice(sites), rng)
    except Refused:
        return
    after = view.after(step)
    if after is None:
        return
    assert after.text == step.of(view.text)
    number = after.text.count("\n", 0, after.gap.start)
    whole = after.text.split("\n")[number]
    assert whole.strip() == after.line, "the gap has a whole line"
    if after.line != view.line:
        assert after.text.count("\n") == view.text.count("\n"), "only a rewrite that keeps the lines may change the one in the gap"
    if step.start >= view.start:
        assert after.text[: after.start].count("\n") == view.text[: view.start].count("\n")
    if step.end <= view.end:
        assert after.text[after.end :] == view.text[view.end :]


def test_a_line_that_takes_the_place_of_its_neighbour_is_not_the_same_line() -> None:
    before, after = "a = 1\nbb = 2\ncc = 3\n", "bb = 2\na = 1\ncc = 3\n"
    step = Rewrite(0, 12, "bb = 2\na = 1", "permute_statements", equivalent=True, site=Site(0, 12))
    assert step.of(before) == after
    moved = view_in("bb = 2", before).after(step)
    assert moved is not None
    assert moved.line == "a = 1", "whoever wants the line kept sees that it is another one"
    kept = view_in("cc = 3", before).after(step)
    assert kept is not None
    assert kept.line == "cc = 3"


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with ModelChoice().open() as opened:
        yield opened


def test_what_is_shown_of_a_file_is_what_the_editor_shows(model: Model) -> None:
    text = "# a comment that fills the file\n" * 400 + PROGRAM + "# and one below it\n" * 400
    gap = view_in("best = word", text).gap
    file = FileWithGap(text, gap, "line", Settings())
    start, end = shown_around(model, file)
    assert 0 < start < gap.start < gap.end < end < len(text)
    shown = as_shown(model, View(text, gap, start, end), gap, "line", Settings())
    assert shown is not None
    assert shown.truth == "best = word"
    assert shown.prompt(model) == file.prompt(model)
    at = text.index("    limit = 3")
    step = Rewrite(at, at, "    amount = 0\n" * 5, "unused_statement", equivalent=True, site=Site(at, at))
    after = View(text, gap, start, end).after(step)
    assert after is not None
    longer = as_shown(model, after, after.gap, "line", Settings())
    assert longer is not None
    assert longer.text == step.of(text)[start : end + len(step.text)], "a longer rewrite moves nothing out"


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


REWRITTEN = '''
def kept(values, /):
    """Those that are large, and how many others there are."""
    limit = 3
    found = []
    others = 0
    for value in values:
        if value > limit and value != 7:
            found.append(value)
        else:
            others = others + 1
    return found, others
'''
TESTS = (([1, 5, 7, 9], ([5, 9], 2)), ([], ([], 0)), ([4], ([4], 0)))


def view(line: str = "if value > limit and value != 7:", source: str = REWRITTEN) -> View:
    start = source.index(line)
    return View(source, Gap(start, start + len(line)), 0, len(source))


def by_tests(arm: Arm, rewritten: View) -> tuple[Class | None, str]:
    """The class of a program by running it."""
    names: dict[str, Any] = {}
    try:
        exec(rewritten.text, names)
        failed = sum(names["kept"](list(values)) != wanted for values, wanted in TESTS)
    except Exception as error:
        return "other", repr(error)
    return ("right", "") if not failed else ("counterfeit", "") if failed < len(TESTS) else ("other", "")


def rewriting(of: View, seed: str = "0", judge: Any = by_tests, *, at_import: bool = False) -> Rewriting:
    found = Rewriting(of, seed, judge, lambda _: at_import)
    found.find(ARMS)
    return found


def test_each_arm_keeps_what_it_says() -> None:
    found = rewriting(view())
    assert found.variants == rewriting(view()).variants
    assert found.variants != rewriting(view(), "1").variants
    arms = {arm: [one for one in found.variants if one["arm"] == arm] for arm in ("context", "equivalent", "wrong")}
    for one in found.variants:
        after = view_of(view(), one["steps"])
        assert after.line == one["line"]
        assert by_tests("context", after)[0] == one["kind"]
        assert one["diff"]
    assert [len(one["steps"]) for one in arms["context"]] == list(range(1, MAX_CHAIN + 1))
    for shorter, longer in zip(arms["context"], arms["context"][1:], strict=False):
        assert longer["steps"][:-1] == shorter["steps"], "a chain goes on from the rewrite before it"
    assert {one["line"] for one in arms["context"]} == {view().line}
    assert len({REWRITTEN, *(view_of(view(), one["steps"]).text for one in arms["context"])}) == MAX_CHAIN + 1, "and never comes back"
    assert arms["equivalent"]
    assert all(one["line"] != view().line for one in arms["equivalent"])
    assert 0 < len(arms["wrong"]) <= MAX_WRONG
    assert len({one["line"] for one in arms["wrong"]}) == len(arms["wrong"])
    assert {one["kind"] for one in arms["wrong"]} <= {"counterfeit", "other"}


def test_what_tests_contradict_is_told_and_ends_the_chain() -> None:
    found = rewriting(view(), judge=lambda *_: ("other", "test_kept: failed"))
    assert not [one for one in found.variants if one["arm"] != "wrong"]
    told = [one for one in found.tried if one["outcome"] == "contradicted"]
    assert sum(one["arm"] == "context" for one in told) == MAX_UNCONFIRMED
    assert {one["why"] for one in told} == {"test_kept: failed"}


def test_a_bug_that_no_test_notices_is_no_wrong_line() -> None:
    found = rewriting(view(), judge=lambda *_: ("right", ""))
    assert not [one for one in found.variants if one["arm"] == "wrong"]
    judged = [one for one in found.tried if one["arm"] == "wrong" and one["outcome"] == "not noticed"]
    assert 0 < len(judged) <= MAX_WRONG + MAX_UNCONFIRMED


def test_code_that_runs_at_import_or_can_not_be_read_has_no_equivalent_rewrites() -> None:
    found = rewriting(view(), at_import=True)
    assert {one["arm"] for one in found.variants} == {"wrong"}
    assert "at import" in {one["outcome"] for one in found.tried}
    assert rewriting(view("x = 1", "x = 1\n)\n")).variants == []

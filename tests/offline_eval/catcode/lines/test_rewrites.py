"""Rewrites of a line and of the code around it: what is kept, and what is told of the others."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.python.lines import Gap
from assay.offline_eval.catcode.lines.rewrites import MAX_CHAIN, MAX_UNCONFIRMED, MAX_WRONG, Arm, Class, Rewriting, View, view_of

SOURCE = '''
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


def view(line: str = "if value > limit and value != 7:", source: str = SOURCE) -> View:
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
    found.find()
    return found


@pytest.mark.parametrize("seed", ["0", "1", "2", "3"])
def test_each_arm_keeps_what_it_says(seed: str) -> None:
    found = rewriting(view(), seed)
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
    assert arms["equivalent"]
    assert all(one["line"] != view().line for one in arms["equivalent"])
    assert 0 < len(arms["wrong"]) <= MAX_WRONG
    assert len({one["line"] for one in arms["wrong"]}) == len(arms["wrong"])
    assert {one["kind"] for one in arms["wrong"]} <= {"counterfeit", "other"}


def test_the_same_seed_gives_the_same_rewrites() -> None:
    assert rewriting(view()).variants == rewriting(view()).variants
    assert rewriting(view()).variants != rewriting(view(), "1").variants


def test_a_chain_never_comes_back_to_a_text_that_it_had() -> None:
    source = "def f(a, b):\n    if a < b:\n        return 1\n    x = g()\n    return x\n"
    of = view("x = g()", source)
    for seed in range(5):
        chain = [one for one in rewriting(of, str(seed), lambda *_: ("right", "")).variants if one["arm"] == "context"]
        texts = [source, *(view_of(of, one["steps"]).text for one in chain)]
        assert len(set(texts)) == len(texts)


def test_rewrites_are_where_the_model_sees_them() -> None:
    start, end = SOURCE.index("    others = 0"), SOURCE.index("        else")
    of = View(SOURCE, view().gap, start, end)
    for one in rewriting(of).variants:
        if one["arm"] == "context":
            first = one["steps"][0]
            assert first["end"] >= start
            assert first["start"] < end


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


def test_what_runs_at_import_is_left_out_of_the_equivalent_rewrites() -> None:
    found = rewriting(view(), at_import=True)
    assert {one["arm"] for one in found.variants} == {"wrong"}
    assert "at import" in {one["outcome"] for one in found.tried}


def test_a_source_that_can_not_be_read_has_no_rewrites() -> None:
    found = rewriting(view("x = 1", "x = 1\n)\n"))
    assert found.variants == []
    assert {one["outcome"] for one in found.tried} == {"refused"}

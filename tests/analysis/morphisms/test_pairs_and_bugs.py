from __future__ import annotations

from contextlib import suppress

import pytest
from analyzed_program import PROGRAM, outcomes

from assay.analysis.bugs.injection import inject
from assay.analysis.bugs.registry import bug
from assay.analysis.morphisms.morphism import Refused, outcomes_differ
from assay.analysis.morphisms.pairs import chain, pairs
from assay.analysis.morphisms.registry import morphism, morphisms


def test_what_changes_no_tests_outcome_is_not_called_different() -> None:
    assert outcomes_differ(PROGRAM, PROGRAM, outcomes) is False
    assert outcomes_differ(PROGRAM, PROGRAM.replace("place = i", "place = -i - 5"), outcomes) is True
    assert outcomes_differ(PROGRAM, PROGRAM, lambda _: None) is None


def test_pairs_have_the_distance_of_their_rewrites_and_those_that_differ_do() -> None:
    found = pairs(PROGRAM, "python", "seed", 3, outcomes=outcomes)
    assert [pair.kind for pair in found if pair.equivalent] == ["1-eq", "2-eq", "3-eq"]
    assert {pair.kind for pair in found if not pair.equivalent} <= {"1-neq"}
    assert len({pair.after for pair in found}) == len(found)
    for pair in found:
        text = pair.before
        for step in pair.rewrites:
            text = step.of(text)
        assert text == pair.after
        assert outcomes_differ(pair.before, pair.after, outcomes) is (not pair.equivalent)
    assert found == pairs(PROGRAM, "python", "seed", 3, outcomes=outcomes)
    assert found != pairs(PROGRAM, "python", "another", 3, outcomes=outcomes)


def test_a_chain_takes_another_morphism_before_one_that_it_had_and_ends_where_none_applies() -> None:
    steps = chain(PROGRAM, morphisms("python", equivalent=True), "seed", 7)
    assert len({step.morphism for step in steps}) >= 6
    assert chain("x = 1\n", morphisms("python", equivalent=True), "seed", 3) == []


@pytest.mark.slow
def test_an_injected_bug_is_one_that_a_test_notices() -> None:
    for kind in (None, "off_by_one", "missing_negation", "wrong_operator"):
        step = inject(PROGRAM, "python", "seed", kind=kind, outcomes=outcomes)
        assert outcomes(step.of(PROGRAM)) != outcomes(PROGRAM)
        assert step == inject(PROGRAM, "python", "seed", kind=kind, outcomes=outcomes)
    with pytest.raises(Refused, match="no place for a bug of removed_guard"):
        inject("x = 1\n", "python", "seed", kind="removed_guard")


def test_a_bug_in_a_line_makes_one_other_line_of_it() -> None:
    lines, start, fitting = PROGRAM.splitlines(keepends=True), 0, 0
    for at, line in enumerate(lines):
        end = start + len(line.rstrip("\n"))
        with suppress(Refused):
            wrong = inject(PROGRAM, "python", "seed", line=(start, end)).of(PROGRAM).splitlines(keepends=True)
            assert [number for number, pair in enumerate(zip(lines, wrong, strict=True)) if pair[0] != pair[1]] == [at]
            fitting += 1
        start += len(line)
    assert fitting >= 5


def test_what_there_is_not_is_named_with_what_there_is() -> None:
    with pytest.raises(ValueError, match="no morphisms for 'cobol'; there are some for python, java"):
        morphism("rename_variable", "cobol")
    with pytest.raises(ValueError, match=r"no morphism 'rename'.*; there are rename_variable"):
        morphism("rename", "python")
    with pytest.raises(ValueError, match="no bug 'typo'; there are swapped_arguments"):
        bug("typo", "python")

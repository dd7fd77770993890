from __future__ import annotations

import random

import pytest
from generated_programs import program
from hypothesis import assume, given
from hypothesis import strategies as st
from python_sources import sources
from standard_library import compiles

from assay.analysis.python.source_text import UnreadableSource, line_starts
from assay.analysis.repairs.candidates import LANGUAGES, Candidate, candidates, rules


def check_sound(source: str, line: int, found: list[Candidate]) -> None:
    """Each compiles where the source does, changes something in the line or puts lines there, and is given once."""
    starts = line_starts(source)
    first, last = starts[line], starts[line + 1]
    results = [candidate.of(source) for candidate in found]
    assert source not in results
    assert len(set(results)) == len(results)
    for candidate, after in zip(found, results, strict=True):
        assert compiles(after), (candidate, after)
        assert candidate.start < last
        assert candidate.end > first or candidate.start >= first
    assert [candidate.start for candidate in found] == sorted(candidate.start for candidate in found)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.data())
def test_each_candidate_compiles_and_changes_the_line_and_none_comes_twice(seed: int, data: st.DataObject) -> None:
    source = program(random.Random(seed))
    line = data.draw(st.integers(0, source.count("\n") - 1))
    start = line_starts(source)[line]
    check_sound(source, line, candidates(source, "python", (start, start), most=1000))


@pytest.mark.slow
@given(sources(), st.data())
def test_that_holds_for_any_line_ends_and_indentation(source: str, data: st.DataObject) -> None:
    # libcst does not give back what has a carriage return alone
    assume(compiles(source) and "\r" not in source.replace("\r\n", ""))
    starts = line_starts(source)
    line = data.draw(st.integers(0, len(starts) - 2))
    check_sound(source, line, candidates(source, "python", (starts[line], starts[line]), most=1000))


@pytest.mark.parametrize(("language", "name"), [(language, name) for language in LANGUAGES for name in rules(language)])
def test_the_example_of_a_rule_is_what_it_does(name: str, language: str) -> None:
    before, after = rules(language)[name].EXAMPLE
    found = candidates(before, language, (0, len(before)), most=1000)
    assert after in {candidate.of(before) for candidate in found if candidate.rule == name}


def test_a_bound_keeps_the_simplest_at_each_place_then_the_nearest_to_the_span() -> None:
    source = "def f(a, b, c):\n    return a < b < c\n"
    near = source.index("b < c")
    every = candidates(source, "python", (near, near), most=1000)
    few = candidates(source, "python", (near, near), most=4)
    assert [c for c in every if c in few] == few
    assert len(few) == 4
    assert {source[c.start : c.end] for c in few} == {"a", "<", "b"}
    assert abs(min(c.start for c in few) - near) <= 4
    assert candidates(source, "python", (near, near), most=0) == []


def test_a_selection_of_whole_lines_does_not_reach_the_next_one() -> None:
    source = "def f(a, b):\n    a += b\n    b -= a\n"
    first, second, end = source.index("    a"), source.index("    b"), len(source)
    operators = [
        {c.start for c in candidates(source, "python", span, most=1000) if c.rule == "wrong_operator"}
        for span in ((first, second), (second, second), (first, end))
    ]
    assert operators[0] == {source.index("+=")}
    assert operators[1] == {source.index("-=")}
    assert operators[2] == operators[0] | operators[1]


def test_words_stay_apart_and_the_byte_order_mark_stays() -> None:
    source = "\ufeffdef f(a):\n    return(a)\n"
    found = [c.of(source) for c in candidates(source, "python", (len(source) - 3, len(source) - 3), most=100)]
    assert "\ufeffdef f(a):\n    return not (a)\n" in found


def test_what_cannot_be_repaired_is_told() -> None:
    with pytest.raises(UnreadableSource, match="line 1"):
        candidates("def f(:\n", "python", (0, 0), most=5)
    with pytest.raises(ValueError, match="no repairs for 'cobol'; there are some for python"):
        candidates("", "cobol", (0, 0), most=5)
    with pytest.raises(ValueError, match="characters 3-9 are no span of a source of 6 characters"):
        candidates("x = 1\n", "python", (3, 9), most=5)
    with pytest.raises(ValueError, match="at most -1 candidates"):
        candidates("x = 1\n", "python", (0, 0), most=-1)

"""Which lines a test that fails for a bug is said to run."""

from __future__ import annotations

from assay.offline_eval.repairs.lines.bugs import with_lines_of

TESTS = {"a.py": {1: {"t", "u"}, 2: {"t"}, 3: {"u"}}}


def test_the_failing_test_has_the_lines_that_it_runs_with_the_bug_and_others_keep_theirs() -> None:
    assert with_lines_of("t", TESTS, {"a.py": {1: {"t"}, 3: {"t"}}, "b.py": {7: {"t"}}}) == {
        "a.py": {1: {"t", "u"}, 2: frozenset(), 3: {"t", "u"}},
        "b.py": {7: {"t"}},
    }


def test_where_it_could_not_be_watched_its_lines_are_those_without_the_bug() -> None:
    assert with_lines_of("t", TESTS, {}) == TESTS

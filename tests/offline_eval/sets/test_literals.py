from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.offline_eval.sets.problem import hashable, literal

atoms = st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.floats(-1, 1), st.text("ab", max_size=2), st.binary(max_size=1))
keys = st.one_of(atoms, st.tuples(atoms))
values = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.tuples(inner, inner), st.sets(keys, max_size=2), st.dictionaries(keys, inner, max_size=2)
    ),
    max_leaves=6,
)


@given(values, values)
def test_two_literals_are_one_answer_exactly_where_python_calls_them_equal(a: Any, b: Any) -> None:
    assert (hashable(a) == hashable(b)) == (a == b)
    if a == b:
        assert hash(hashable(a)) == hash(hashable(b))


def test_order_counts_in_lists_and_not_in_sets_and_dicts() -> None:
    assert literal("{1: [2], 3: 4}") == literal("{3: 4, True: [2.0]}")
    assert literal("{'a', 'b', 'c'}") == literal("{'c', 'b', 'a'}")
    assert literal("[1, 2]") not in (literal("[2, 1]"), literal("(1, 2)"), literal("{1, 2}"), literal("'[1, 2]'"))


@given(values)
def test_a_literal_is_read_however_it_is_spaced(value: Any) -> None:
    assert literal(f"  {value!r} ") == hashable(value)


@pytest.mark.parametrize(
    "text", ["", "f(1)", "'a' * 3", "open('made', 'w')", "[" * 2000, "11. Finally, the answer", "{[]}", "\0", "9" * 5000]
)
def test_what_is_no_literal_is_neither_read_nor_executed(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert literal(text) is None
    assert not list(tmp_path.iterdir())

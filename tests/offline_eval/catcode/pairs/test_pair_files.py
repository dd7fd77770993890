from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.offline_eval.catcode.command import PAIR_KINDS
from assay.offline_eval.catcode.pairs.pair import KINDS, CodePair, is_pairs_file, read_pairs, write_pairs
from assay.offline_eval.sets.problem import SetError

PAIR = CodePair("a:1-eq:x", "mine", "python", "p", "1-eq", ("x",), "first\n", "second\n", ("passed", "passed"))

made = st.builds(
    CodePair, st.uuids().map(str), st.text(), st.sampled_from(["python", "java"]), st.text(), st.sampled_from(KINDS),
    st.lists(st.text(), max_size=3).map(tuple), st.text(), st.text(), st.tuples(st.text(), st.text()),
)  # fmt: skip


@given(st.lists(made, min_size=1, max_size=5))
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, pairs: list[CodePair]) -> None:
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    write_pairs(path, "some", 3, pairs)
    assert is_pairs_file(path)
    assert read_pairs(path) == pairs


def test_the_kinds_on_the_command_line_are_those_of_pairs() -> None:
    assert PAIR_KINDS == KINDS


def test_an_identity_is_asked_about_in_one_order_and_others_in_both() -> None:
    assert PAIR.orders == ("ab", "ba")
    assert (PAIR.programs("ab"), PAIR.programs("ba")) == (("first\n", "second\n"), ("second\n", "first\n"))
    assert CodePair("i", "", "python", "", "identity", (), "a", "a", ("", "")).orders == ("ab",)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: ["{}", *lines[1:]], "pairs.jsonl:1: not the header"),
        (lambda lines: [lines[0].replace("pairs/1", "pairs/9"), *lines[1:]], "the schema is 'assay/pairs/9'"),
        (lambda lines: [lines[0], lines[1].replace("1-eq", "9-eq")], "pairs.jsonl:2: not a pair"),
        (lambda lines: [*lines, lines[1]], "pairs.jsonl:3: the pair a:1-eq:x is there already"),
        (lambda lines: lines[:1], "there is no pair in it"),
    ],
)
def test_a_file_that_is_damaged_is_refused_with_its_line(tmp_path: Path, change: object, reason: str) -> None:
    path = tmp_path / "pairs.jsonl"
    write_pairs(path, "some", 0, [PAIR])
    path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))  # type: ignore[operator]
    with pytest.raises(SetError, match=reason):
        read_pairs(path)


def test_another_file_is_none_of_pairs(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(json.dumps({"task_id": "HumanEval/0"}) + "\n")
    assert not is_pairs_file(path)
    assert not is_pairs_file(tmp_path / "missing.jsonl")

"""Sets of counterfeits as files: written, read back, refused; and the published one."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from needs import DATA, needs_data

from assay.offline_eval.counterfeit.problems.programs import SCHEMA, CounterfeitSet, Program, lines_of, read_set, write_set
from assay.offline_eval.counterfeit.problems.study import audit
from assay.offline_eval.sets.problem import SetError

PUBLISHED = "counterfeit-cl34b-humaneval/test.jsonl.gz"
ONE = Program("HumanEval/0", 3, "def f():\n    return 1\n", "right", 1.0, 1.0, 0.5)
TWO = replace(ONE, index=4, text="def f():\n    return 2\n", kind="counterfeit", base=0.5, plus=0.25)
MADE = CounterfeitSet("mine", "humaneval", "some-7b", (ONE, TWO), "nowhere", "MIT", 0.6)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda lines: [lines[0], lines[1][:-9], lines[2]], r":2: not a program of assay/counterfeits/1"),
        (lambda lines: [lines[0], lines[1], lines[1]], r":3: a program of HumanEval/0 with the same index is there already"),
        (lambda lines: [lines[0], lines[1], lines[1].replace(b'"index": 3', b'"index": 4')], ":3: .* with the same text"),
        (lambda lines: [lines[0].replace(b"counterfeits/1", b"counterfeits/9"), *lines[1:]], "reads 'assay/counterfeits/1'"),
        (lambda lines: lines[:1], "there is no program in it"),
        (lambda lines: lines[1:], "no known format.*A set of counterfeits is a file of assay/counterfeits/1"),
    ],
)
def test_a_file_that_is_no_set_is_refused_with_its_line(tmp_path: Path, spoil: object, message: str) -> None:
    path = tmp_path / "set.jsonl"
    path.write_bytes(b"\n".join(spoil(list(lines_of(MADE)))))  # type: ignore[operator]
    with pytest.raises(SetError, match=message):
        read_set(path)


def test_what_is_written_is_read_back_and_a_torn_gzip_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    write_set(tmp_path / "set.jsonl", MADE)
    assert read_set(tmp_path / "set.jsonl") == MADE
    path = tmp_path / "set.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n".join(lines_of(MADE)))[:-12])
    with pytest.raises(SetError, match="can't be read"):
        read_set(path)
    with pytest.raises(SetError, match=f"is missing: name a file of {SCHEMA}"):
        read_set(tmp_path / "none.jsonl")


@needs_data(PUBLISHED)
def test_the_published_set_is_read_as_one_written_and_audited(tmp_path: Path) -> None:
    made = read_set(DATA / PUBLISHED)
    write_set(tmp_path / "set.jsonl", made)
    assert read_set(tmp_path / "set.jsonl") == made
    problems = list(dict.fromkeys(program.problem for program in made.programs))
    assert (len(made.programs), len(problems), made.generator, made.licence) == (850, 85, "CodeLlama-34B", "MIT License")
    assert "counterfeit-code" in made.source
    for problem in problems:
        kinds = [program.kind for program in made.programs if program.problem == problem]
        assert kinds.count("right") == kinds.count("counterfeit") == 5
    assert round(fmean(program.pass_at_1 or 0.0 for program in made.programs), 4) == 0.4199
    assert dict(audit(made.programs).rows) == {
        "right programs": "425",
        "of these, not all tests pass": "0",
        "counterfeits": "425",
        "of these, all original tests pass": "89",
        "of these, right by the 95 % rule": "51",
        "of these, all of EvalPlus' pass and an original one fails": "13",
        "counterfeits that pass less than half of the tests": "137",
        "counterfeits that pass more than half": "283",
        "distinct texts": "850",
    }

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.offline_eval.recorded.answers import STEPS, Recorded, RecordedAnswer, RecordedError
from assay.offline_eval.recorded.assay_answers import write
from assay.offline_eval.recorded.formats import recorded

HEADER = {"schema": "assay/answers/1", "name": "mine", "model": "some-7b"}
ANSWER = {"item": "HumanEval/0", "step": "draw", "index": 0, "text": "    return 1\n"}
# with halves of surrogate pairs, which a model's bytes may become
texts = st.text(st.characters(exclude_categories=()), max_size=8)
facts = st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False, allow_infinity=False), texts)
answers = st.builds(
    RecordedAnswer,
    item=texts.filter(bool),
    step=st.sampled_from(STEPS),
    index=st.integers(0, 5),
    text=texts,
    logprobs=st.none() | st.lists(st.floats(-1e9, 0), max_size=3).map(tuple),
    stopped_by=texts,
    score=st.none() | st.floats(1, 5),
    labels=st.dictionaries(st.sampled_from(["exact_match", "tests_pass", "kept"]), st.none() | st.booleans()),
    facts=st.dictionaries(texts, facts, max_size=2),
)


def written(path: Path, *records: object) -> Path:
    path.write_text("".join(record if isinstance(record, str) else json.dumps(record) + "\n" for record in records))
    return path


@given(texts, texts, texts, texts.filter(bool), st.lists(answers, max_size=4, unique_by=lambda answer: answer.key))
def test_what_is_written_is_read_back(name: str, model: str, source: str, licence: str, made: list[RecordedAnswer]) -> None:
    kept = Recorded(name, model, source, licence, {answer.key: answer for answer in made}, (1.0, 5.0))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answers.jsonl")
        write(path, kept)
        assert recorded(path) == kept


def test_a_packed_file_is_read_as_a_plain_one(tmp_path: Path) -> None:
    plain = written(tmp_path / "a.jsonl", HEADER, ANSWER)
    packed = tmp_path / "b.jsonl"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert recorded(packed) == recorded(plain)


def test_source_and_licence_come_from_beside_the_file_where_the_header_tells_none(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", HEADER, ANSWER)
    (tmp_path / "SOURCE").write_text("github.com/some/where @ 123 :\n  a.jsonl\n")
    (tmp_path / "LICENSE").write_text("\n   Apache License\n   Version 2.0, January 2004\n")
    found = recorded(path)
    assert (found.source, found.licence) == ("github.com/some/where @ 123 : a.jsonl", "Apache License Version 2.0")
    told = recorded(written(path, HEADER | {"source": "me", "licence": "CC0"}, ANSWER))
    assert (told.source, told.licence) == ("me", "CC0")


def test_a_score_is_a_confidence_on_the_scale_that_the_file_states(tmp_path: Path) -> None:
    scored = [ANSWER | {"index": index, "score": score} for index, score in enumerate((0, 3, 4))]
    found = recorded(written(tmp_path / "a.jsonl", HEADER | {"scale": [0, 4]}, *scored, ANSWER | {"index": 3}))
    assert [found.confidence(answer) for answer in found.of("HumanEval/0", "draw")] == [0, 0.75, 1, None]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ('{"item": \n', "line 1 column"),
        ("[]\n", "Expected `object`"),
        (ANSWER | {"step": "guess"}, "`$.step`"),
        (ANSWER | {"index": -1}, "index is -1"),
        (ANSWER | {"index": "0"}, "`$.index`"),
        (ANSWER | {"item": ""}, "item is empty"),
        (ANSWER | {"extra": 1}, "unknown field `extra`"),
        ({"item": "a", "step": "draw", "index": 0}, "missing required field `text`"),
        (ANSWER | {"labels": {"correct": True}}, "correct"),
        (ANSWER | {"labels": {"tests_pass": 1}}, "`$.labels[...]`"),
        (ANSWER | {"score": 1.5}, "outside of the file's scale, 0 to 1"),
        ('{"item":"a","step":"draw","index":0,"text":"","score":NaN}\n', "NaN"),
        (ANSWER | {"logprobs": [-1.0, 0.5]}, "above 0"),
        (ANSWER, "is there already"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_with_its_line_and_the_reason(tmp_path: Path, record: object, reason: str) -> None:
    path = written(tmp_path / "a.jsonl", HEADER, ANSWER, "\n", record)
    with pytest.raises(RecordedError) as refused:
        recorded(path)
    assert str(refused.value).startswith(f"{path}:4: ")
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"schema": "assay/answers/2", "name": "", "model": ""}, "reads 'assay/answers/1'"),
        (HEADER | {"scale": [1, 0]}, "the lowest and the highest score"),
        ({"schema": "assay/answers/1", "name": "mine"}, "missing required field `model`"),
        (HEADER | {"author": "me"}, "unknown field `author`"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(tmp_path: Path, header: dict[str, Any], reason: str) -> None:
    path = written(tmp_path / "a.jsonl", header, ANSWER)
    with pytest.raises(RecordedError, match=reason) as refused:
        recorded(path)
    assert str(refused.value).startswith(f"{path}:1: not the header of a file of assay/answers/1")


@pytest.mark.parametrize(
    "made", [RecordedAnswer("", "draw", 0, ""), RecordedAnswer("a", "draw", -1, ""), RecordedAnswer("a", "draw", 0, "", score=2)]
)
def test_what_would_not_be_read_is_not_written(tmp_path: Path, made: RecordedAnswer) -> None:
    path = written(tmp_path / "a.jsonl", HEADER, ANSWER)
    before = path.read_bytes()
    with pytest.raises(RecordedError):
        write(path, Recorded("", "", "", "", {made.key: made}))
    assert path.read_bytes() == before

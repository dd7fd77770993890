from __future__ import annotations

import gzip
import json
import tempfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from needs import DATA, needs_data
from recorded_answers import write

from assay.offline_eval.recorded.answers import STEPS, Recorded, RecordedAnswer, RecordedError
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
        packed = Path(folder, "packed.jsonl")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert recorded(packed) == kept


def test_source_and_licence_come_from_beside_the_file_where_the_header_tells_none(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", HEADER, ANSWER)
    (tmp_path / "SOURCE").write_text("github.com/some/where @ 123 :\n  a.jsonl\n")
    (tmp_path / "LICENSE").write_text("\n   Apache License\n   Version 2.0, January 2004\n")
    found = recorded(path)
    assert (found.source, found.licence) == ("github.com/some/where @ 123 : a.jsonl", "Apache License Version 2.0")
    told = recorded(written(path, HEADER | {"source": "me", "licence": "CC0"}, ANSWER))
    assert (told.source, told.licence) == ("me", "CC0")
    scored = [ANSWER | {"index": index, "score": score} for index, score in enumerate((0, 3, 4))]
    scaled = recorded(written(path, HEADER | {"scale": [0, 4]}, *scored, ANSWER | {"index": 3}))
    assert [scaled.confidence(answer) for answer in scaled.of("HumanEval/0", "draw")] == [0, 0.75, 1, None]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ('{"item": \n', "line 1 column"),
        (ANSWER | {"step": "guess"}, "`$.step`"),
        (ANSWER | {"index": "0"}, "`$.index`"),
        (ANSWER | {"extra": 1}, "unknown field `extra`"),
        (ANSWER | {"labels": {"tests_pass": 1}}, "`$.labels[...]`"),
        (ANSWER | {"score": 1.5}, "outside of the file's scale, 0 to 1"),
        ('{"item":"a","step":"draw","index":0,"text":"","score":NaN}\n', "NaN"),
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
    ],
)
def test_a_header_that_does_not_fit_is_refused(tmp_path: Path, header: dict[str, Any], reason: str) -> None:
    path = written(tmp_path / "a.jsonl", header, ANSWER)
    with pytest.raises(RecordedError, match=reason) as refused:
        recorded(path)
    assert str(refused.value).startswith(f"{path}:1: not the header of a file of assay/answers/1")


CODET = "codet-codegen16b/HumanEval_codegen16B_temp0.8_topp0.95_num100_max300_{}.jsonl.gz"
CRUXEVAL = "cruxeval-model-outputs/gpt-3.5-turbo-0613+cot_temp0.8_output.json.gz"


def test_a_program_that_no_test_was_run_on_has_no_label(tmp_path: Path) -> None:
    path = tmp_path / "IDChain_m_tmp0.jsonl"
    trip = {"task_id": "HumanEval/0", "PL_0": "x", "PL_0_results": ["Passed"], "NL_1": "y", "PL_1": "z", "PL_1_results": []}
    path.write_text(json.dumps(trip) + "\n")
    answers = recorded(path).answers
    assert [answers["HumanEval/0", step, 0].labels["tests_pass"] for step in ("draw", "rebuild")] == [True, None]


@needs_data(CODET.format("code_solution"), CODET.format("test_case"), "humaneval")
def test_the_answers_of_codet_belong_to_the_problem_whose_function_their_prompt_names() -> None:
    with gzip.open(DATA / "humaneval" / "HumanEval.jsonl.gz", "rt") as file:
        names = {record["task_id"]: record["entry_point"] for record in map(json.loads, file)}
    found = recorded(DATA / CODET.format("code_solution"))
    with gzip.open(DATA / CODET.format("code_solution"), "rt") as file:
        prompts = [json.loads(line)["prompt"] for line in file]
    assert all(f"def {names[item]}(" in prompt for item, prompt in zip(found.items(), prompts, strict=True))
    assert [len(found.of(item, "draw")) for item in names] == [100] * 164
    tests = recorded(DATA / CODET.format("test_case"))
    assert [len(tests.of(item, "test")) for item in names] == [100] * 164
    assert (found.model, tests.model) == ("codegen16B", "codegen16B")


@needs_data(CRUXEVAL)
def test_the_answers_to_cruxeval_have_the_labels_of_the_published_evaluation() -> None:
    found = recorded(DATA / CRUXEVAL)
    assert (found.name, found.model) == ("gpt-3.5-turbo-0613+cot_temp0.8", "gpt-3.5-turbo-0613+cot")
    assert len(found.items()) == 800
    assert all(len(found.of(item, "execute")) == 10 for item in found.items())
    with gzip.open(DATA / CRUXEVAL, "rt") as file:
        published = json.load(file)["pass_at_1"]
    passed = [answer.labels["tests_pass"] for answer in found.answers.values()]
    assert 100 * sum(map(bool, passed)) / len(passed) == pytest.approx(published)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([{"prompt": "def f():", "samples": ["a"]}], "1 problems of HumanEval's 164"),
        ([{"id": 1}], "no known format: a record with id"),
        ([], "an empty file"),
        ([{"raw_generations": {"a": ["1"]}, "raw_scored_generations": {"a": []}}], "not one label for each"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_the_reason(tmp_path: Path, lines: list[object], reason: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(RecordedError, match=reason):
        recorded(path)


def test_a_damaged_file_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"schema":"assay/answers/1"}\n' * 100)[:15])
    with pytest.raises(RecordedError, match=r"answers\.jsonl\.gz: can't be read"):
        recorded(path)
    with pytest.raises(RecordedError, match="No such file"):
        recorded(tmp_path / "none")
    with pytest.raises(RecordedError, match="a folder"):
        recorded(tmp_path)
    packing = zlib.compressobj(wbits=31)
    packed = packing.compress(b"{\n" + b" " * 1_000_000) + packing.flush(zlib.Z_FULL_FLUSH)
    path = tmp_path / "some-7b_temp0.2_output.json.gz"
    path.write_bytes(packed + b"\xff" * 1000)
    with pytest.raises(RecordedError, match=r"output\.json\.gz"):
        recorded(path)

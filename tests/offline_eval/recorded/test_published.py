from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from pathlib import Path

import pytest
from needs import DATA, needs_data

from assay.offline_eval.recorded.answers import RecordedError
from assay.offline_eval.recorded.formats import recorded

COUNTERFEIT = "counterfeit-cl34b-humaneval/test.jsonl.gz"
CHAIN = "identitychain-gpt35/IDChain_gpt-3.5-turbo-0613_tmp0_len1_pb_all_m_human-judge_EvalPlus-Mini-v0.1.6_reformatted.jsonl.gz"
CODET = "codet-codegen16b/HumanEval_codegen16B_temp0.8_topp0.95_num100_max300_{}.jsonl.gz"
CRUXEVAL = "cruxeval-model-outputs/gpt-3.5-turbo-0613+cot_temp0.8_output.json.gz"


@needs_data(COUNTERFEIT)
def test_the_published_counterfeits_are_all_there() -> None:
    found = recorded(DATA / COUNTERFEIT)
    assert (found.model, found.licence) == ("CodeLlama-34B", "MIT License")
    assert "counterfeit-code" in found.source
    answers = list(found.answers.values())
    assert set(Counter(answer.item for answer in answers).values()) == {10}
    assert len(found.items()) == 85
    assert len({answer.text for answer in answers}) == 850
    rates = {answer.item: answer.facts["problem_pass_rate"] for answer in answers}
    assert sum(rate for rate in rates.values() if isinstance(rate, float)) / 85 == pytest.approx(0.4199, abs=5e-5)
    wrong = [answer.facts["pass_rate_plus"] for answer in answers if not answer.labels["tests_pass"]]
    assert len(wrong) == 425
    assert (sum(rate < 0.5 for rate in wrong), sum(rate > 0.5 for rate in wrong)) == (137, 283)  # type: ignore[operator]


@needs_data(CHAIN)
def test_the_published_round_trips_pass_as_often_as_their_results_say() -> None:
    found = recorded(DATA / CHAIN)
    assert (found.model, found.licence) == ("gpt-3.5-turbo-0613", "Apache License Version 2.0")
    trips = [(found.answers[item, "draw", 0], found.answers[item, "rebuild", 0]) for item in found.items()]
    passed = Counter((first.labels["tests_pass"], second.labels["tests_pass"]) for first, second in trips)
    assert passed == {(True, True): 76, (True, False): 39, (False, False): 44, (False, True): 4}
    assert sum(bool(second.facts["same_outcomes"]) for _, second in trips) == 93
    assert all('"""' in found.answers[item, "describe", 0].text for item in found.items())


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
        ([{"prompt": "def f():", "samples": "a"}], "samples is str"),
        ([{"id": 1}], "no known format: a record with id"),
        (["x"], "a record is a JSON object"),
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


@pytest.mark.parametrize("whole", [False, True])
def test_a_document_that_is_damaged_behind_its_first_line_is_refused_by_its_name(tmp_path: Path, whole: bool) -> None:
    first = json.dumps({"raw_generations": {}, "raw_scored_generations": {}}) if whole else "{"
    packing = zlib.compressobj(wbits=31)
    packed = packing.compress(first.encode() + b"\n" + b" " * 1_000_000) + packing.flush(zlib.Z_FULL_FLUSH)
    path = tmp_path / "some-7b_temp0.2_output.json.gz"
    path.write_bytes(packed + b"\xff" * 1000)
    with pytest.raises(RecordedError, match=r"output\.json\.gz"):
        recorded(path)


def test_a_document_over_several_lines_is_recognised_too(tmp_path: Path) -> None:
    path = tmp_path / "some-7b_temp0.2_output.json"
    path.write_text(json.dumps({"raw_generations": {"a": ["1"]}, "raw_scored_generations": {"a": [True]}}, indent=2))
    found = recorded(path)
    assert (found.model, found.answers["a", "execute", 0].text) == ("some-7b", "1")

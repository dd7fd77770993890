"""Outputs of other tools: the fields are those of their sources, the values ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.offline_eval.recorded.answers import Recorded, RecordedError
from assay.offline_eval.recorded.formats import recorded

BODY, PROGRAM = "    return x\n", "def f(x):\n    return x\n"


def written(path: Path, *rows: Any, **more: Any) -> Path:
    path.write_text("".join(json.dumps(row, **more) + "\n" for row in rows))
    return path


def drawn(found: Recorded, item: str) -> list[tuple[str, bool | None]]:
    return [(answer.text, answer.labels.get("tests_pass")) for answer in found.of(item, "draw")]


def logged(doc_id: int, resps: Any, doc: Any, **metrics: Any) -> dict[str, Any]:
    about = {"doc_id": doc_id, "doc": doc, "target": "", "arguments": [["", {}]], "resps": [[BODY]], "filter": "create_test"}
    return {**about, "filtered_resps": resps, "metrics": list(metrics), "doc_hash": "0", **metrics}


def sample(name: Any, epoch: int, text: str, score: Any, **more: Any) -> dict[str, Any]:
    choice = {"message": {"role": "assistant", "content": text}, "stop_reason": "stop", **more}
    return {
        "id": name,
        "epoch": epoch,
        "input": "",
        "target": "",
        "output": {"model": "m", "choices": [choice]},
        "scores": {"verify": {"value": score}},
    }


def log(*samples: Any) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"task": "humaneval", "model": "some/m"}, "samples": list(samples)}


def tokens(*said: tuple[str, float]) -> dict[str, Any]:
    return {"content": [{"token": token, "logprob": logprob, "bytes": list(token.encode()), "top_logprobs": []} for token, logprob in said]}


def batch(custom_id: str, *choices: Any, status: int = 200) -> dict[str, Any]:
    body = {"object": "chat.completion", "model": "some-7b", "choices": [{"index": n, **choice} for n, choice in enumerate(choices)]}
    return {"id": "b", "custom_id": custom_id, "response": {"status_code": status, "request_id": "r", "body": body}, "error": None}


def chat(text: str, *said: tuple[str, float]) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": text}, "logprobs": tokens(*said) if said else None, "finish_reason": "stop"}


def test_samples_of_evalplus_are_numbered_by_problem_and_its_results_have_labels(tmp_path: Path) -> None:
    name = "Qwen--Qwen2.5-Coder_vllm_temp_0.0.jsonl"
    found = recorded(written(tmp_path / name, *({"task_id": f"HumanEval/{n % 2}", "solution": PROGRAM * n} for n in range(3))))
    assert (found.model, drawn(found, "HumanEval/0")) == ("Qwen/Qwen2.5-Coder", [("", None), (PROGRAM * 2, None)])
    completed = recorded(written(tmp_path / "a.jsonl", {"task_id": "Mbpp/2", "completion": BODY, "result": "passed", "passed": True}))
    assert drawn(completed, "Mbpp/2") == [(BODY, True)]
    assert [each.of(item, "draw")[0].form for each, item in ((found, "HumanEval/0"), (completed, "Mbpp/2"))] == ["program", "completion"]
    rows = [{"task_id": "Mbpp/2", "solution": PROGRAM, "base_status": base, "plus_status": plus, "base_fail_tests": []}
            for base, plus in (("pass", "pass"), ("pass", "fail"), ("pass", None))]  # fmt: skip
    results = recorded(written(tmp_path / "eval_results.json", {"date": "d", "hash": "h", "eval": {"Mbpp/2": rows}}, indent=1))
    assert [label for _, label in drawn(results, "Mbpp/2")] == [True, False, True]


def test_logged_samples_of_the_harness_are_what_it_tested(tmp_path: Path) -> None:
    folder = tmp_path / "Qwen__Qwen2.5-Coder"
    folder.mkdir()
    rows = [
        logged(0, [BODY], {"task_id": "HumanEval/0"}) | {"filter": "none"},
        logged(0, [[PROGRAM]], {"task_id": "HumanEval/0"}, **{"pass@1": 1.0}),
        logged(1, [[PROGRAM, BODY]], {"task_id": "HumanEval/1"}, **{"pass@1": 0.5}),
        logged(2, [PROGRAM], {"task_id": 11, "test_list": []}, pass_at_1=0.0),
        logged(2, [BODY], {"task_id": 11, "test_list": []}, pass_at_1=0.0) | {"filter": "other"},
    ]
    found = recorded(written(folder / "samples_humaneval_2026.jsonl", *rows))
    assert found.model == "Qwen/Qwen2.5-Coder"
    assert [drawn(found, item) for item in ("HumanEval/0", "HumanEval/1", "Mbpp/11")] == [
        [(PROGRAM, True)], [(PROGRAM, None), (BODY, None)], [(PROGRAM, False)],
    ]  # fmt: skip


def test_a_log_of_inspect_has_an_answer_for_each_epoch_and_none_where_the_sample_failed(tmp_path: Path) -> None:
    said = f"Here:\n```python\n{PROGRAM}```\nDone."
    failed = sample("HumanEval/0", 3, "", "I") | {"error": {"message": "sandbox"}}
    path = written(tmp_path / "log.json", log(sample("HumanEval/0", 1, said, "C"), sample("HumanEval/0", 2, BODY, False), failed), indent=2)
    found = recorded(path)
    assert (found.name, found.model, found.failed) == ("humaneval", "some/m", 1)
    assert drawn(found, "HumanEval/0") == [(PROGRAM, True), (BODY, False)]
    late = sample("HumanEval/0", 1, "", "I") | {"error": {"message": "sandbox"}}
    assert drawn(recorded(written(path, log(late, sample("HumanEval/0", 2, BODY, "C")))), "HumanEval/0") == [(BODY, True)]
    assert drawn(recorded(written(path, log(sample(7, 1, BODY, "N")))), "7") == [(BODY, None)]


def test_programs_of_bigcode_are_named_by_their_place(tmp_path: Path) -> None:
    assert drawn(recorded(written(tmp_path / "g.json", [[f"{n}"] for n in range(164)])), "HumanEval/163") == [("163", None)]
    assert drawn(recorded(written(tmp_path / "g.json", [[f"{n}"] for n in range(500)])), "Mbpp/510") == [("499", None)]
    with pytest.raises(RecordedError, match="in another language than Python"):
        recorded(written(tmp_path / "generations_humanevalsynthesize-js.json", [[f"{n}"] for n in range(164)]))


def test_only_the_tokens_of_the_program_and_those_that_ended_it_are_measured(tmp_path: Path) -> None:
    fenced = [("Sure\n", -9.0), ("```python\n", -8.0), ("def f", -1.0), ("(x):\n    return x\n", -2.0), ("```", -7.0), ("<eos>", -6.0)]
    rows = [
        batch("HumanEval/0#1", chat("Sure\n```python\n" + PROGRAM + "```", *fenced), chat("y", ("y", -1.0), ("<eos>", -0.5))),
        batch("HumanEval/0#2", {"text": " é", "logprobs": {"tokens": [" é"], "token_logprobs": [1e-7]}}),
        batch("HumanEval/1", chat("z"), chat(None)),  # type: ignore[arg-type]
        batch("HumanEval/2", chat("lost"), status=500),
    ]
    found = recorded(written(tmp_path / "batch.jsonl", *rows))
    told = [(answer.text, answer.logprobs) for answer in found.of("HumanEval/0", "draw")]
    assert told == [(PROGRAM, (-1.0, -2.0)), ("y", (-1.0, -0.5)), (" é", (0.0,))]
    assert (found.model, drawn(found, "HumanEval/1"), drawn(found, "HumanEval/2")) == ("some-7b", [("z", None), ("", None)], [])
    assert found.failed == 1
    measures = found.of("HumanEval/0", "draw")[0].measures
    assert (measures["total_logprob"], measures["token_count"], measures["length"]) == (-3.0, 2.0, len(PROGRAM))
    assert found.of("HumanEval/1", "draw")[0].measures == {}
    thinking = recorded(written(tmp_path / "batch.jsonl", batch("A", chat("<think>hm</think>", ("<think>hm</think>", -1.0))), rows[0]))
    assert thinking.of("A", "draw")[0].measures == {}, "nothing was answered"


@pytest.mark.parametrize(
    ("choice", "program"),
    [
        (chat("```bash\npip install x\n```\n```python\ny\n```"), "y\n"),
        (chat("```\ny\n```"), "y\n"),
        (chat("~~~python\ny\n~~~"), "y\n"),
        (chat("``` python title=a.py\r\ny\n```"), "y\n"),
        (chat("```{python}\ny\n```"), "y\n"),
        (chat("<think>\n```python\nno\n```\n</think>\n```py\ny\n```"), "y\n"),
        (chat("```python\ny"), "y"),
        (chat([{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "y"}, {"type": "text", "text": None}]), "y"),  # type: ignore[arg-type]
        ({"text": "    return x\n\n```python\nprint(f(3))\n```"}, "    return x\n\n"),
        ({"text": "```python\ny\n```"}, "y\n"),
    ],
)
def test_the_program_of_a_chat_is_its_block_and_of_a_completion_what_comes_before_one(tmp_path: Path, choice: Any, program: str) -> None:
    assert drawn(recorded(written(tmp_path / "batch.jsonl", batch("A", choice))), "A") == [(program, None)]


def test_an_answer_whose_tokens_spell_another_text_has_no_measure(tmp_path: Path) -> None:
    thought = chat("x", ("<think>x", -9.0), ("</think>", -8.0), ("x", -2.0))
    rows = [batch("A", chat("x", ("y", -1.0))), batch("B", chat("x", ("x", -1.0))), batch("C", thought)]
    found = recorded(written(tmp_path / "batch.jsonl", *rows))
    assert [found.of(item, "draw")[0].logprobs for item in "ABC"] == [None, (-1.0,), (-2.0,)]
    assert found.unusable == 1


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([batch("HumanEval/0", chat("x", ("y", -1.0)))], "HumanEval/0: its log-probabilities are of another text: 'y', and"),
        ([batch("HumanEval/0", chat("x", ("x", 0.5)))], "a log-probability is no number from -1e+09 to 0"),
        ([batch("A", {"text": "x", "logprobs": {"tokens": ["x"], "token_logprobs": []}})], "1 tokens and 0 log-probabilities"),
        ([batch("A", {"text": "x", "logprobs": {"tokens": ["x"], "token_logprobs": [None]}})], "leave echo out"),
        ([batch("A"), batch("A")], "2: the custom_id 'A' is there already"),
        ([logged(0, [PROGRAM], {"task_id": "A"})] * 2, "2: doc_id 0 is there already"),
        ([logged(0, [PROGRAM], {"question": "?"})], "1: its doc has no task_id"),
        ([logged(0, [[-1.2, False]], {"task_id": "A"})], "its responses are no texts"),
        ([[["x"]] * 7], "lists of programs for 7 problems: HumanEval has 164 and MBPP 500"),
        ([{"task_id": "", "solution": ""}], "1: the name of the problem is empty"),
        ([log({"id": 1})], "not as the records of this set"),
        ([log() | {"samples": None}], "a log without samples"),
        ([[["x"]] * 164] * 2, "not JSON: Extra data"),
    ],
)  # fmt: skip
def test_what_can_not_be_read_is_refused_with_its_place_and_the_reason(tmp_path: Path, rows: list[Any], reason: str) -> None:
    with pytest.raises(RecordedError) as refused:
        recorded(written(tmp_path / "a.jsonl", *rows))
    assert reason in str(refused.value)

"""Round trips on functions of a benchmark, with a chat server and the real sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from study_runs import figures_of, isolation_here
from tiny_gguf import TinyModel, write_tiny_gguf

from assay.inference.asking.chat import ChatAsker
from assay.inference.opening import ModelChoice
from assay.offline_eval.chains.chain import ANSWERS
from assay.offline_eval.errors import RunError, StudyError, UsageError
from assay.offline_eval.pairing import compare
from assay.offline_eval.rtc.sets import LABELS
from assay.offline_eval.rtc.study import STUDY, Options, run_problems
from assay.offline_eval.study import finish

from ...inference.chat_server import ChatSpeech, chatting
from .round_trip_server import replying

pytestmark = pytest.mark.slow
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

BODIES = ("return x // 2", "return -x", "return x * x", "return x + 1", "return x - 1", "return abs(x)")
WORDS = ("Halve it.", "Negate it.", "Square it.", "Add one.", "return x - 1", "Do something.")
# What comes back: of the first three the code, of the fourth its equal, of the fifth, through a copy, the code, of the last nothing.
BACK = {"Halve it.": BODIES[0], "Negate it.": BODIES[1], "Square it.": BODIES[2], "Add one.": "return 1 + x", "return x - 1": BODIES[4]}


def record(number: int) -> dict[str, Any]:
    body = BODIES[number]
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": f'import math\n\n\ndef f{number}(x):\n    """Number {number}."""\n',
        "entry_point": f"f{number}",
        "canonical_solution": f"    {body}\n",
        "test": f"def check(candidate):\n    for x in (-3, 7):\n        assert candidate(x) == {body.removeprefix('return ')}\n",
    }


def knowing(name: str = "acme/chat-tiny", *, documented: bool = True) -> ChatSpeech:
    """A model that goes around as `BACK` tells, and writes all but the last two functions from their docstrings."""
    by_docstring = {f'"""Number {number}."""': BODIES[number] for number in range(4)} if documented else {}
    return ChatSpeech(reply=replying(dict(zip(BODIES, WORDS, strict=True)), {**BACK, **by_docstring}), models=[name])


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ChatAsker.__init__.__kwdefaults__, "patience_s", 0.1)
    isolation_here()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "HumanEval.jsonl"
    path.write_text("".join(json.dumps(record(number)) + "\n" for number in range(len(BODIES))))
    return path


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with chatting(knowing()) as address:
        yield address


@pytest.fixture
def options(tmp_path: Path, data: Path, address: str) -> Options:
    return Options(tmp_path / "run", choice=ModelChoice(address), set="humaneval", data=[data])


def test_what_comes_back_is_judged_and_told_with_and_without_copies(options: Options, capsys: pytest.CaptureFixture[str]) -> None:
    run = run_problems(options)
    cells = figures_of(run.folder)
    shares = {name: cells[f"T2/tests_pass/{name}"]["value"] for name in ("all/rtc", "all/baseline", "all/lift", "all/pass_at_1", "all/any")}
    assert shares == pytest.approx({"all/rtc": 5 / 6, "all/baseline": 0, "all/lift": 5 / 6, "all/pass_at_1": 4 / 6, "all/any": 5 / 6})
    assert 0 < cells["T2/tests_pass/all/lift"]["low"] < cells["T2/tests_pass/all/lift"]["high"] <= 1
    assert {cells[f"T2/tests_pass/without_copies/{name}"]["n"] for name in ("rtc", "lift", "baseline", "pass_at_1", "any")} == {5}
    assert cells["T2/exact/all/rtc"]["value"] == pytest.approx(4 / 6)
    assert cells["T2/tests_pass/without_copies/rtc"]["value"] == pytest.approx(4 / 5)
    assert cells["N/copies"]["value"] == pytest.approx(1 / 6)
    assert (cells["N/unreadable"]["value"], cells["T2/tests_pass/all/rtc"]["groups"]) == (0, 6)
    assert [each["value"] for each in cells["T2/tests_pass/all/rtc"]["paper"]][:2] == pytest.approx([0.083, 0.106])
    told = capsys.readouterr()
    assert (
        "rebuilt 83.3% of 6 items of humaneval from its own descriptions (passes tests), and 0.0% from words that say nothing" in told.err
    )
    assert str(run.folder / "report" / "report.html") in told.out
    # a text without a label takes its item out of every number
    labels = run.records(LABELS).path
    labels.write_text("".join(line for line in labels.read_text().splitlines(keepends=True) if '"HumanEval/3:' not in line))
    finish(STUDY, run, as_json=True)
    assert "rebuilt 80.0% of 5 items" in capsys.readouterr().err
    assert figures_of(run.folder)["T2/tests_pass/all/rtc"]["n"] == 5
    assert "1 item of which a text has no label" in (run.folder / "report" / "report.md").read_text()


def test_each_item_is_asked_as_often_as_the_plan_says_and_no_docstring_is_shown(
    options: Options, capsys: pytest.CaptureFixture[str]
) -> None:
    speech = knowing()
    speech.tells = False  # no log-probability is needed
    with chatting(speech) as address:
        run = run_problems(replace(options, choice=ModelChoice(address), forward=2, backward=2, limit=2))
    of_us = [body for body in speech.chats if len(body["messages"]) == 8]
    assert sum(body.get("n", 1) for body in of_us) == 2 * (2 + 2 * 2 + 3 + 2)
    assert {body["temperature"] for body in of_us} == {0.8, 0.1}
    described = [body for body in of_us if "region start" in body["messages"][-1]["content"]]
    assert sum(body.get("n", 1) for body in described) == 4
    assert not any('"""' in body["messages"][-1]["content"] for body in described)
    (first, _) = run.records(ANSWERS).read()
    assert [(one["arm"], one["of"]) for one in first["answers"]] == [
        *[("description", 0)] * 2, *[("description", 1)] * 2, *[("baseline", 0)] * 3, *[("direct", 0)] * 2,
    ]  # fmt: skip
    capsys.readouterr()
    run_problems(replace(options, forward=2, backward=2, limit=2, as_json=True, dry_run=True))
    plan = json.loads(capsys.readouterr().out)
    assert (plan["most_items"], plan["descriptions"], plan["rebuilt"]) == (2, 4, 18)


def test_answers_that_can_not_be_read_come_first_in_the_report(options: Options) -> None:
    with chatting(ChatSpeech(reply=lambda _: ["The", " weather", " is", " fine."])) as address:
        run = run_problems(replace(options, choice=ModelChoice(address)))
    text = (run.folder / "report" / "report.md").read_text()
    assert text.splitlines()[2].startswith("100.0% (")
    assert "of the answers can't be read, and count as failures." in text.splitlines()[2]
    assert figures_of(run.folder)["T2/tests_pass/all/rtc"]["value"] == 0
    # without a description nothing is rebuilt from one
    assert {one["arm"] for record in run.records(ANSWERS).read() for one in record["answers"]} == {"baseline", "direct"}


def test_a_run_in_chat_takes_no_answers_in_text(options: Options, tmp_path: Path) -> None:
    metadata = {"tokenizer.chat_template": "{% for each in messages %}{{ each.content }}<|endoftext|>{% endfor %}"}
    model = write_tiny_gguf(tmp_path / "tiny.gguf", TinyModel(context_length=8192, metadata=metadata))
    few = replace(options, choice=ModelChoice(str(model)), limit=1, steps=("describe",), forward=1)
    assert run_problems(few).question()["form"] == "chat"
    with pytest.raises(RunError, match="form: chat -> text"):
        run_problems(replace(few, form="text"))


def test_runs_of_several_models_stand_in_one_table(options: Options, tmp_path: Path) -> None:
    folders = []
    for number in range(5):
        speech = knowing(f"acme/{number}", documented=number % 2 == 0)
        known = dict(list(BACK.items())[: 1 + number])
        speech.reply = replying(
            dict(zip(BODIES, WORDS, strict=True)), {**known, **{f'"""Number {n}."""': BODIES[n] for n in range(number)}}
        )
        with chatting(speech) as address:
            folders.append(run_problems(replace(options, out=tmp_path / f"run{number}", choice=ModelChoice(address), forward=1)).folder)
    compare(folders, tmp_path / "all", as_json=False)
    cells = figures_of(tmp_path / "all")
    assert [cells[f"M/acme/{number}/rtc"]["value"] for number in range(5)] == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6])
    assert [cells[f"M/acme/{number}/pass_at_1"]["value"] for number in range(5)] == pytest.approx([0, 1 / 6, 2 / 6, 3 / 6, 4 / 6])
    assert (cells["CM/all/r"]["value"], cells["CM/all/tau"]["value"], cells["CM/all/r"]["n"]) == (None, 1, 5)  # they lie on a line
    run = run_problems(replace(options, out=tmp_path / "other", limit=3))
    with pytest.raises(StudyError, match="not of the same items"):
        compare([folders[0], run.folder], tmp_path / "more", as_json=False)
    with chatting(speech) as address:
        twice = run_problems(replace(options, out=tmp_path / "twice", choice=ModelChoice(address), forward=2))
    with pytest.raises(StudyError, match=r"not asked equally often \(forward: 1 -> 2\)"):
        compare([folders[4], twice.folder], tmp_path / "more", as_json=False)
    with pytest.raises(UsageError, match="named twice"):
        compare([folders[0], folders[0]], tmp_path / "more", as_json=False)

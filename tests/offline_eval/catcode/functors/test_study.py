"""Translation and reproduction of small problems, with a chat server and the real sandboxes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from study_runs import figures_of, files_of, isolation_here

from assay.inference.asking.chat import ChatAsker
from assay.inference.opening import ModelChoice
from assay.offline_eval.catcode.functors.labelling import LABELS, SOURCES, Options
from assay.offline_eval.catcode.functors.study import STUDY, run_functors
from assay.offline_eval.chains.chain import ANSWERS
from assay.offline_eval.errors import StudyError, UsageError
from assay.offline_eval.pairing import compare
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.study import finish

from ....inference.chat_server import ChatSpeech, chatting
from .functor_server import replying, written

pytestmark = pytest.mark.slow

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

# One of each: whole, a body, wrong, a crash, not Python, and no code at all.
TRANSLATIONS = {
    0: "[CODE]\ndef halve_0(x):\n    return x // 2\n[/CODE]",
    1: "```python\nreturn -x\n```",
    2: "[CODE]\nreturn x\n[/CODE]",
    3: "[CODE]\nreturn x.y\n[/CODE]",
    4: "[CODE]\nreturn = 1\n[/CODE]",
}
# From words with names: three right, one of them through a copy; from words without: two; from the header alone: none.
NAMED = {"Halve it.": "return x // 2", "Negate it.": "return -x", "return x - 1": "return x - 1"}
UNNAMED = {"Halve it.": "def solve(x):\n    return x // 2", "Negate it.": "def solve(x):\n    return -x"}


def knowing(name: str = "acme/chat-tiny", known: int = 6) -> ChatSpeech:
    translations = {number: text for number, text in TRANSLATIONS.items() if number < known}
    return ChatSpeech(reply=replying(translations, NAMED, UNNAMED), models=[name])


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ChatAsker.__init__.__kwdefaults__, "patience_s", 0.1)
    isolation_here()


@pytest.fixture(scope="module")
def address() -> Any:
    with chatting(knowing()) as address:
        yield address


@pytest.fixture
def options(tmp_path: Path, address: str) -> Options:
    return Options(
        tmp_path / "run", data=written(tmp_path), set="translate", choice=ModelChoice(address), sources=("javascript",), pool=Pool(1)
    )


@pytest.fixture
def explaining(options: Options) -> Options:
    return replace(options, out=options.out.with_name("explained"), set="explain", sources=("python",))


def test_translations_are_run_and_end_in_classes(options: Options, capsys: pytest.CaptureFixture[str]) -> None:
    run = run_functors(options)
    cells = figures_of(run.folder)
    place = "humaneval/javascript-python"
    assert cells[f"T4/{place}"]["value"] == pytest.approx(2 / 6)
    assert (cells[f"T4/{place}"]["n"], cells[f"T4/{place}"]["groups"], cells[f"T4/{place}"]["paper"]) == (6, 6, [])
    endings = {name: cells[f"E/{place}/translation/{name}"]["value"] for name in ("passes", "wrong", "crash", "time")}
    assert endings == pytest.approx({"passes": 2 / 6, "wrong": 1 / 6, "crash": 1 / 6, "time": 0})
    for name in ("does_not_compile", "unreadable"):
        cell = cells[f"E/{place}/translation/{name}"]
        assert cell["value"] == pytest.approx(1 / 6)
        assert 0 < cell["low"] < cell["high"] < 1
    told = capsys.readouterr()
    report = (run.folder / "report" / "report.md").read_text()
    # more than one in twenty
    assert report.splitlines()[2].startswith("16.7% (")
    assert "of the answers can't be read, and count as failures. Of 6 translations" in report.splitlines()[2]
    assert str(run.folder / "report" / "report.html") in told.out
    assert "does not compile" in report
    claims = {claim["id"]: claim["verdict"] for claim in json.loads((run.folder / "report" / "report.json").read_text())["claims"]}
    assert claims == {"b": "undecided", "c1": "not run", "c2": "not run"}


def test_reproduction_is_told_with_names_without_and_without_copies(explaining: Options, capsys: pytest.CaptureFixture[str]) -> None:
    run = run_functors(explaining)
    cells = figures_of(run.folder)
    values = {name: cells[f"T6/humaneval/python/{name}"]["value"] for name in ("named", "named_without_copies", "unnamed", "header")}
    assert values == pytest.approx({"named": 3 / 6, "named_without_copies": 2 / 5, "unnamed": 2 / 6, "header": 0})
    assert cells["T6/humaneval/python/lift"]["value"] == pytest.approx(3 / 6)
    assert cells["T6/humaneval/python/names"]["value"] == pytest.approx(1 / 6)
    assert cells["N/named/copies"]["value"] == pytest.approx(1 / 6)
    assert "Without names and types 33.3%" in capsys.readouterr().err


def test_each_question_is_asked_as_often_as_the_plan_says(
    options: Options, explaining: Options, capsys: pytest.CaptureFixture[str]
) -> None:
    for how, calls, temperature in ((replace(options, limit=2), 2, 0.0), (replace(explaining, limit=2, draws=2), 2 * 2 * (2 + 3), 0.2)):
        speech = knowing()
        with chatting(speech) as address:
            run_functors(replace(how, choice=ModelChoice(address)))
        about = [body for body in speech.chats if len(body["messages"]) == 4 + (body["messages"][-1]["role"] == "assistant")]
        assert sum(body.get("n", 1) for body in about) == calls
        assert {body["temperature"] for body in about} == {temperature}
        capsys.readouterr()
        run_functors(replace(how, as_json=True, dry_run=True))
        plan = json.loads(capsys.readouterr().out)
        assert (plan["most_programs"], plan["descriptions"] + plan["code"]) == (2, calls)


def test_steps_can_be_done_one_after_the_other_and_nothing_is_claimed_without_a_label(options: Options) -> None:
    run = run_functors(replace(options, steps=("sources", "write")))
    assert not run.records(LABELS).path.exists()
    assert figures_of(run.folder)["T4/humaneval/javascript-python"]["value"] is None
    assert "of which a text has no label" in (run.folder / "report" / "report.md").read_text()
    run_functors(replace(options, steps=("labels",)))
    assert figures_of(run.folder)["T4/humaneval/javascript-python"]["value"] == pytest.approx(2 / 6)
    before = files_of(run.folder)
    finish(STUDY, run, as_json=True)
    assert files_of(run.folder) == before
    labels = run.records(LABELS).path
    first, *others = labels.read_text().splitlines(keepends=True)
    labels.write_text("".join([json.dumps({**json.loads(first), "ending": None}) + "\n", *others]))
    finish(STUDY, run, as_json=True)
    assert figures_of(run.folder)["T4/humaneval/javascript-python"]["n"] == 5


def test_data_that_can_not_be_used_are_told(options: Options) -> None:
    with pytest.raises(UsageError, match="no program that is to be found in two languages"):
        run_functors(replace(options, data=options.data[:1], sources=("python",)))
    with pytest.raises(UsageError, match="no program to explain"):
        run_functors(replace(options, set="explain", sources=("java",)))
    assert not options.out.exists()


def test_a_program_that_fails_its_own_test_is_not_asked_about(options: Options, tmp_path: Path) -> None:
    run = run_functors(replace(options, data=written(tmp_path, 3, broken=1)))
    assert {record["id"]: record["ending"] for record in run.records(SOURCES).read()}["humaneval-javascript/1"] == "wrong"
    assert [record["id"] for record in run.records(ANSWERS).read()] == ["humaneval-javascript-python/0", "humaneval-javascript-python/2"]
    assert "1 program of 3 that fail their own tests" in (run.folder / "report" / "report.md").read_text()


def test_two_models_are_compared_pair_by_pair(options: Options, tmp_path: Path) -> None:
    folders = []
    for number, known in enumerate((1, 6)):
        with chatting(knowing(f"acme/{number}", known)) as address:
            folders.append(run_functors(replace(options, out=tmp_path / f"run{number}", choice=ModelChoice(address))).folder)
    compare(folders, tmp_path / "both", as_json=False)
    cells = figures_of(tmp_path / "both")
    found = cells["P/acme/1/humaneval/javascript-python/translation/difference"]
    assert found["value"] == pytest.approx(1 / 6)
    assert found["low"] < found["value"] < found["high"]
    assert cells["M/acme/0/humaneval/javascript-python/translation"]["value"] == pytest.approx(1 / 6)
    other = run_functors(replace(options, out=tmp_path / "other", limit=3))
    with pytest.raises(StudyError, match="not of the same programs"):
        compare([folders[0], other.folder], tmp_path / "more", as_json=False)


def test_reproduction_stands_beside_translation_problem_by_problem(options: Options, explaining: Options, tmp_path: Path) -> None:
    translated = run_functors(replace(options, sources=("javascript",)))
    explained = run_functors(replace(explaining, sources=("javascript",)))
    compare([explained.folder, translated.folder], tmp_path / "both", as_json=False)
    cells = figures_of(tmp_path / "both")
    assert cells["C/humaneval/javascript/translation"]["value"] == pytest.approx(2 / 6)
    reproduced = figures_of(explained.folder)["T6/humaneval/javascript/named"]["value"]
    assert cells["C/humaneval/javascript/reproduction"]["value"] == pytest.approx(reproduced)
    assert cells["C/mean/difference"]["value"] == pytest.approx(reproduced - 2 / 6)
    claims = {claim["id"]: claim["verdict"] for claim in json.loads((tmp_path / "both" / "report" / "report.json").read_text())["claims"]}
    assert set(claims) == {"b", "c1", "c2"}
    assert claims["c1"] != "not run"

"""Round trips of regions of a project whose own tests judge, in a real jail, with a chat server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from needs import needs
from study_runs import figures_of, isolation_here
from sums_project import SOURCE, write_project

from assay.inference.opening import ModelChoice, open_asker
from assay.offline_eval.asked_model import asked_model
from assay.offline_eval.chains.chain import Description, write
from assay.offline_eval.errors import StudyError, UsageError
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.rtc import sets
from assay.offline_eval.rtc.items import Code, Edit, Plan
from assay.offline_eval.rtc.sets import CONTEXT, LABELS, edits, edits_of, project_regions
from assay.offline_eval.rtc.study import Options, ask, find, run_problems
from assay.offline_eval.sets.suites import Finding, Suite, watched

from ...inference.chat_server import ChatSpeech, chatting
from .round_trip_server import replying

LIBRARIES = needs("" if find_spec("sacrebleu") and find_spec("rouge_score") else "sacrebleu or rouge-score is not installed")
FIRST = "def f(x):\n    y = x + 1\n    return y\n\n\ndef g(x):\n    z = x\n    return z\n"
VERSIONS = (
    FIRST,
    FIRST.replace("x + 1", "x + 2"),  # one place
    FIRST.replace("x + 1", "x + 3").replace("z = x", "z = -x"),  # two places
    FIRST.replace("x + 1", "x + 3").replace("z = x", "z  =  -x"),  # white space alone
    FIRST.replace("x + 1", "x * 3").replace("z = x", "z  =  -x"),  # one place
)


def git(folder: Path, *arguments: str) -> None:
    told = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *told, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    folder = tmp_path / "history"
    folder.mkdir()
    git(folder, "init", "-q")
    for number, text in enumerate(VERSIONS):
        (folder / "a.py").write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", f"change {number}")
    (folder / "a.py").write_text("x = 1\n")
    (folder / "b.py").write_text("y = 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one file changed, one added")
    return folder


def test_commits_that_change_one_place_are_taken_with_the_lines_around(history: Path) -> None:
    found = [edit for edit in edits_of(history, "history") if "x + 1" in edit.old or "x * 3" in edit.new]
    assert [edit.changed for edit in found] == ["    y = x * 3\n", "    y = x + 2\n"]
    assert found[1].old == "def f(x):\n    y = x + 1\n    return y\n\n\n"
    assert found[1].new == "def f(x):\n    y = x + 2\n    return y\n\n\n"
    assert found[1].id.endswith(":a.py:2")
    assert not any("z =" in edit.changed for edit in edits_of(history, "history")), "two places, or white space alone"


@LIBRARIES
def test_folders_without_a_history_or_missing_libraries_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="is not a folder; name folders of git repositories with --data"):
        edits([tmp_path / "none"], 10, 0, None)
    with pytest.raises(UsageError, match=f"two folders are named {tmp_path.name}"):
        edits([tmp_path, tmp_path], 10, 0, None)
    with pytest.raises(UsageError, match="--set edits needs --data"):
        find(Options(tmp_path / "run", set="edits"))
    monkeypatch.setattr(sets, "find_spec", lambda _: None)
    with pytest.raises(StudyError, match=r"sacrebleu and rouge_score.*pip install 'assay\[studies\]'"):
        edits([tmp_path], 10, 0, None)


def test_an_edit_is_rebuilt_greedily_once_and_drawn_where_several_are_asked_for() -> None:
    speech = ChatSpeech(reply=lambda _: ["[NEW]\n", "y = 2", "\n[/NEW]"])
    edit = Edit("a", "a", "y = 1\n", "y = 2\n", "y = 2\n")
    described = [Description(arm="description", text="Make it 2.", said="", stopped_by="end")]
    with chatting(speech) as address, open_asker(ModelChoice(address)) as asker:
        for backward, arms, temperature in ((1, [1, 1], 0.0), (2, [2, 3], 0.1)):
            plan = Plan(1, backward)
            speech.asked.clear()
            made = [one["arm"] for one in write(plan, {edit.id: described}, asker, edit)["answers"]]
            assert [made.count("description"), made.count("baseline")] == arms
            assert {body["temperature"] for body in speech.chats} == {temperature}
            assert sum(body.get("n", 1) for body in speech.chats) == plan.calls("edit")


@pytest.mark.slow
@LIBRARIES
def test_edits_are_judged_by_exact_match_and_by_overlap(history: Path, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Sequence[str]:
        asked = body["messages"][-1]["content"]
        if "[NEW]" in asked:
            return ["[DESCRIPTION]", "Add two." if "x + 2" in asked else "Change it.", "[/DESCRIPTION]"]
        old = asked.partition("[OLD]\n")[2].partition("\n[/OLD]")[0]
        return ["[NEW]\n", old.replace("x + 1", "x + 2") if "Add two." in asked else old, "\n[/NEW]"]

    with chatting(ChatSpeech(reply=reply)) as address:
        run = run_problems(Options(tmp_path / "run", choice=ModelChoice(address), set="edits", data=[history], forward=2))
    cells = figures_of(run.folder)
    n = cells["T3/all/exact/rtc"]["n"]
    assert n >= 2
    assert cells["T3/all/exact/rtc"]["value"] == pytest.approx(1 / n)
    assert cells["T3/all/exact/lift"]["value"] == pytest.approx(1 / n)
    assert 0.3 < cells["T3/all/bleu/rtc"]["value"] < 1
    assert 0.3 < cells["T3/all/rouge/rtc"]["value"] < 1
    assert cells["T3/all/bleu/lift"]["value"] > 0
    assert [each["of"] for each in cells["T3/all/exact/rtc"]["paper"]] == ["Gemini Nano 2", "Gemini v1 Pro"]
    assert "history" in (run.folder / "report" / "report.md").read_text()


@pytest.mark.slow
def test_regions_are_statements_whose_loss_tests_notice_and_what_is_rebuilt_is_judged_by_them(tmp_path: Path) -> None:
    suite = Suite("shop", write_project(tmp_path / "shop"), Path(sys.executable), isolation_here(), tmp_path / "cache")
    found = project_regions(watched([suite], Pool(), Finding(6, 0), ("line", "block")))
    for item in found.items:
        assert isinstance(item, Code)
        assert item.before + item.code + item.after in SOURCE
        assert 32 <= len(item.code) <= 384
        assert len(item.before) + len(item.after) <= CONTEXT + 2 * 80
        assert "unseen" not in item.id
    assert len({item.id for item in found.items}) == len(found.items)
    (first, *others) = found.items
    assert isinstance(first, Code)
    words = {item.code: f"Number {number}." for number, item in enumerate(found.items) if isinstance(item, Code)}
    dedented = first.dedented(first.code)
    with chatting(
        ChatSpeech(reply=replying(words, {"Number 0.": dedented, "Number 1.": "result = 'wrong'"}, otherwise="raise KeyError"))
    ) as at:
        run = ask(
            options := Options(tmp_path / "run", choice=ModelChoice(at), set="regions", forward=1), asked_model(options.choice), found
        )
    cells = figures_of(run.folder)
    assert cells["T2/tests_pass/all/rtc"]["value"] == pytest.approx(1 / len(found.items))
    assert cells["T2/tests_pass/all/baseline"]["value"] == 0
    assert cells["F2/shop/lift"]["value"] == pytest.approx(1 / len(found.items))
    assert {label["tests_pass"] for label in run.records(LABELS).read()} == {False}
    assert others

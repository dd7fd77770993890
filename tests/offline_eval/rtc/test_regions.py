"""Round trips of regions of a project whose own tests judge, in a real jail, with a chat server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from study_runs import isolation_here
from sums_project import SOURCE, write_project

from assay.analysis.sandbox.isolation.best_level import best_level
from assay.inference.opening import ModelChoice
from assay.offline_eval.asked_model import asked_model
from assay.offline_eval.pool.choice import Pool
from assay.offline_eval.rtc.asking import Code
from assay.offline_eval.rtc.labelling import CONTEXT, LABELS, Found, project_regions
from assay.offline_eval.rtc.study import Asked, ask
from assay.offline_eval.sets.suites import Suite, watched

from ...inference.chat_server import ChatSpeech, chatting
from .round_trip_server import replying


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    isolation_here()
    folder = tmp_path_factory.mktemp("regions")
    suite = Suite("shop", write_project(folder / "shop"), Path(sys.executable), best_level(), folder / "cache")
    return project_regions(watched([suite], Pool(), 6, ("line", "block"), 0), 0, None)


@pytest.mark.slow
def test_regions_are_whole_statements_whose_loss_tests_notice(found: Found) -> None:
    assert len(found.items) >= 2
    for item in found.items:
        assert isinstance(item, Code)
        assert item.before + item.code + item.after in SOURCE
        assert 32 <= len(item.code) <= 384
        assert len(item.before) + len(item.after) <= CONTEXT + 2 * 80
        assert "unseen" not in item.id
    assert len({item.id for item in found.items}) == len(found.items)


@pytest.mark.slow
def test_what_is_rebuilt_is_judged_by_the_projects_tests(found: Found, tmp_path: Path) -> None:
    (first, *others) = found.items
    assert isinstance(first, Code)
    words = {item.code: f"Number {number}." for number, item in enumerate(found.items) if isinstance(item, Code)}
    dedented = first.dedented(first.code)
    with chatting(
        ChatSpeech(reply=replying(words, {"Number 0.": dedented, "Number 1.": "result = 'wrong'"}, otherwise="raise KeyError"))
    ) as at:
        run = ask(asked := Asked(tmp_path / "run", choice=ModelChoice(at), set="regions", forward=1), asked_model(asked.choice), found)
    cells = {cell["id"]: cell for cell in json.loads((run.folder / "report" / "figures.json").read_text())["figures"]}
    assert cells["T2/tests_pass/all/rtc"]["value"] == pytest.approx(1 / len(found.items))
    assert cells["T2/tests_pass/all/baseline"]["value"] == 0
    assert cells["F2/shop/lift"]["value"] == pytest.approx(1 / len(found.items))
    assert {label["tests_pass"] for label in run.records(LABELS).read()} == {False}
    assert (run.folder / "report" / "rtc-groups.svg").is_file()
    assert others

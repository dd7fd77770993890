"""The calibrators of a server that runs: they change while it does."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from synthetic_samples import made_for, world

from assay.calibration.calibrator import Calibrator, save
from assay.calibration.fitting.fit import fit
from assay.inference.completion.settings import Settings
from assay.inference.completion.task import task_of
from assay.inference.opening import open_model

from ..client import Client, place, started

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fitting(answering_ids: tuple[str, str]) -> Calibrator:
    """A calibrator for what the model answers to "a?", with a map of its own for each of the projects p0 to p11."""
    made = fit(world(600, between=1.0)[0], "exact_match", kind="platt", levels=("project",), resamples=50).calibrator
    return made_for(made, *answering_ids, task_of("a?", "", "line"))


def for_first_choices_and_for_all(model_file: Path) -> tuple[Calibrator, Calibrator]:
    """Two calibrators for the rest of a line, one of them for each of four alternatives."""
    with open_model(model_file) as model:
        ids = model.fingerprint.id, Settings().fingerprint(model.layout, model.context_length)
    samples = world(600)[0]
    several = [
        structs.replace(one, rank=1 + number % 4, alternatives=4, measures={**one.measures, "agreement": -0.01 - number % 11})
        for number, one in enumerate(samples)
    ]
    first = fit(samples, "exact_match", kind="platt", resamples=50).calibrator
    all_of_them = fit(several, "exact_match", ("total_logprob", "agreement"), kind="platt", resamples=50).calibrator
    return made_for(first, *ids, "line_rest"), made_for(all_of_them, *ids, "line_rest")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".assay" / "calibrators"


def newer(calibrator: Calibrator) -> Calibrator:
    return replace(calibrator, fitted_on=replace(calibrator.fitted_on, date="2099-11-09T10:00:00+00:00"))


async def confidence_at(client: Client, uri: str) -> dict[str, Any]:
    (item,) = await client.complete(uri, 0, 2)
    said: dict[str, Any] = item["command"]["arguments"][0]["confidence"]
    return said


async def status_when(client: Client, what: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first status of which this is true."""
    deadline = time.monotonic() + 20
    while not what(status := await client.request("assay/status")):
        assert time.monotonic() < deadline, status
        await asyncio.sleep(0.02)
    return dict(status)


@pytest.mark.parametrize(
    ("context", "said_of_it"),
    [
        ({"prefixTokens": 8}, "assay.context.prefixTokens is 8, and calibrators are fitted with 560"),
        ({"size": "small"}, "assay.context.size is small, and calibrators are fitted with normal"),
        ({"size": "small", "prefixTokens": 8}, "assay.context.prefixTokens is 8, and calibrators are fitted with 560; "
         "assay.context.suffixTokens is 160, and calibrators are fitted with 240"),
    ],
)  # fmt: skip
async def test_that_no_calibrator_is_for_the_prompt_is_said_by_the_setting_that_made_it_another(
    answering_gguf: Path, tmp_path: Path, folder: Path, fitting: Calibrator, context: dict[str, Any], said_of_it: str
) -> None:
    save(fitting, folder / "mine.json")
    uri = (tmp_path / "a.py").as_uri()
    async with started(answering_gguf, "a?", uri=uri, root=tmp_path, trusted=True, options={"context": context}) as client:
        (item,) = await client.complete(uri, 0, 2)
        said = item["command"]["arguments"][0]
        assert said["confidence"]["status"] == "borrowed"
        assert said["confidence"]["reason"].endswith(f"; the model's own are not for what it is shown here: {said_of_it}")
        assert (await client.request("assay/explain", {"id": said["id"]}))["chosen_because"].endswith(said_of_it)
        shown = await client.request("assay/context", place(uri, 0, 2))
        assert shown["size"] == (None if "prefixTokens" in context else context["size"])
    save(replace(fitting, fitted_on=replace(fitting.fitted_on, prompt="0" * 16)), folder / "mine.json")
    async with started(answering_gguf, "a?", uri=uri, root=tmp_path, trusted=True, options={"showAbove": 0}) as client:
        reason = (await confidence_at(client, uri))["reason"]
        assert "the model's context, 512 tokens, is too short" in reason
        assert "assay.modelOptions.context" in reason


async def test_suggestions_asked_for_have_the_calibrator_of_alternatives(tiny_gguf: Path, tmp_path: Path, folder: Path) -> None:
    first, several = for_first_choices_and_for_all(tiny_gguf)
    save(first, folder / "first.json")
    save(several, folder / "all.json")
    uri = (tmp_path / "a.py").as_uri()
    async with started(tiny_gguf, root=tmp_path, trusted=True, options={"alternatives": 4, "speculate": False, "showAbove": 0}) as client:
        client.open(uri, "def f(x):\n    return?v")  # behind a mistake nothing that a random model writes is hidden
        asked = [item["command"]["arguments"][0] for item in await client.complete(uri, 1, 12, invoked=True)]
        (alone,) = [item["command"]["arguments"][0] for item in await client.complete(uri, 1, 12)]
        told = await client.request("assay/explain", {"id": asked[-1]["id"]})
        client.notify("workspace/didChangeConfiguration", {"settings": {"assay": {"alternatives": 3, "remember": False}}})
        fewer = [item["command"]["arguments"][0] for item in await client.complete(uri, 1, 12, invoked=True)]
    assert len(asked) > 1
    assert {one["confidence"]["calibrator"] for one in asked} == {several.id} == {told["calibrator"]["id"]}
    assert sum(math.exp(one["measures"]["agreement"]) for one in asked) < 1 + 1e-9
    probabilities = [one["confidence"]["probability"] for one in asked]
    assert probabilities == sorted(probabilities, reverse=True)
    assert alone["confidence"]["calibrator"] == first.id
    assert "agreement" not in alone["measures"]
    assert [one["confidence"]["calibrator"] for one in fewer] == [first.id, *[None] * (len(fewer) - 1)]
    assert all("is for one of 4 alternatives, and here 3 were drawn" in one["confidence"]["reason"] for one in fewer[1:])


async def test_a_calibrator_that_comes_changes_breaks_and_goes_is_followed_while_the_server_runs(
    answering_gguf: Path, tmp_path: Path, folder: Path, fitting: Calibrator
) -> None:
    uri = (tmp_path / "a.py").as_uri()
    async with started(answering_gguf, "a?", uri=uri, root=tmp_path, trusted=True, options={"showAbove": 0}) as client:
        before = await confidence_at(client, uri)
        assert (before["status"], before["reason"].partition(";")[0]) == ("borrowed", "from 5 models")

        save(fitting, folder / "mine.json")
        await status_when(client, lambda status: fitting.id in status["calibrators"])
        said = await confidence_at(client, uri)
        assert (said["status"], said["calibrator"], said["reason"]) == ("informative", fitting.id, "")
        assert 0 < said["low"] <= said["probability"] <= said["high"] < 1

        changed = newer(fitting)
        save(changed, folder / "mine.json")
        await status_when(client, lambda status: changed.id in status["calibrators"])
        assert (await confidence_at(client, uri))["calibrator"] == changed.id

        (folder / "mine.json").write_text("{")
        damaged = await status_when(client, lambda status: any("mine.json" in reason for reason in status["skipped_calibrators"]))
        assert changed.id in damaged["calibrators"]
        assert (await confidence_at(client, uri))["calibrator"] == changed.id

        (folder / "mine.json").unlink()
        await status_when(client, lambda status: changed.id not in status["calibrators"])
        assert (await confidence_at(client, uri))["status"] == "borrowed"
        assert await client.leave() == 0


async def test_a_projects_calibrator_is_not_for_a_file_elsewhere_but_for_a_text_that_is_in_no_file_yet(
    answering_gguf: Path, tmp_path: Path, folder: Path, fitting: Calibrator
) -> None:
    save(fitting, folder / "mine.json")
    elsewhere, unsaved = (tmp_path.parent / "elsewhere.py").as_uri(), "untitled:Untitled-1"
    async with started(answering_gguf, root=tmp_path, trusted=True, options={"showAbove": 0}) as client:
        for uri in (elsewhere, unsaved):
            client.open(uri, "a?")
        assert (await confidence_at(client, elsewhere))["status"] == "borrowed"
        assert (await confidence_at(client, unsaved))["calibrator"] == fitting.id


async def test_the_map_of_the_project_of_the_opened_folder_is_used(answering_gguf: Path, tmp_path: Path, fitting: Calibrator) -> None:
    low = replace(fitting, children=tuple(replace(child, intercept=-100.0) for child in fitting.children))
    probabilities = {}
    for name in ("p3", "other"):
        save(low, tmp_path / name / ".assay" / "calibrators" / "mine.json")
        uri = (tmp_path / name / "a.py").as_uri()
        async with started(answering_gguf, "a?", uri=uri, root=tmp_path / name, trusted=True, options={"showAbove": 0}) as client:
            probabilities[name] = (await confidence_at(client, uri))["probability"]
    assert probabilities["p3"] < 0.01 < 0.5 < probabilities["other"]

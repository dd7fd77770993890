"""The study of line completion with a real model: what it records, and how it is resumed."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_type_hints

import pytest
from source_distribution import make_sdist
from tiny_gguf import TinyModel, write_tiny_gguf

from assay.calibration.samples import Sample, read_samples
from assay.inference.opening import ModelChoice
from assay.offline_eval.answers import Answer, Generated
from assay.offline_eval.asked_line import ANSWERS, Asking, Gaps, answer_at
from assay.offline_eval.calibration.study import Options, run_study
from assay.offline_eval.errors import UsageError
from assay.offline_eval.model import model_of
from assay.offline_eval.run import TIMINGS, Run
from assay.offline_eval.sets.code import code_of
from assay.offline_eval.sets.lines import TASKS, Place, places_of

from ...inference.completion_server import Speech, serving

pytestmark = pytest.mark.slow


def asked(folder: Path, model: Path, functions: int = 6, **options: object) -> Options:
    """A study of one project with so many functions, asked for at each of them."""
    projects = [make_sdist(folder / "cache", functions=functions)]
    default = Options(
        folder / "run",
        choice=ModelChoice(str(model)),
        projects=projects,
        per_project=functions,
        tasks=("line", "line_rest"),
        cache=folder / "cache",
    )
    return replace(default, **options)  # type: ignore[arg-type]


def generations(run: Run) -> list[Generated]:
    return [one for answer in run.records(ANSWERS).read() for one in answer["generations"]]


@pytest.fixture
def roomy_gguf(tmp_path: Path) -> Path:
    """A tiny model whose context holds a question behind the prompt."""
    return write_tiny_gguf(tmp_path / "roomy.gguf", TinyModel(context_length=2048))


def test_what_the_model_says_of_its_own_is_in_the_samples_and_the_fields_are_those_that_are_documented(
    tmp_path: Path, roomy_gguf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_study(asked(tmp_path, roomy_gguf, 3, reflective=True))
    answers = run.records(ANSWERS).read()
    assert {field for answer in answers for field in answer} <= get_type_hints(Answer).keys()
    assert {field for answer in answers for one in answer["generations"] for field in one} <= get_type_hints(Generated).keys()
    timings = json.loads((run.folder / TIMINGS).read_text().splitlines()[0])
    assert timings.keys() == {"step", "id", "model_ms", "total_ms"}
    questions = dict(question.split() for question in run.question()["questions"])
    assert questions.keys() == {"ask_true", "ask_true_normalised", "verbalised"}
    found = read_samples(sorted((run.folder / "samples").iterdir()))
    assert f"ask_true: {len(found)} of {len(found)} samples have it\n" in capsys.readouterr().err
    for sample in found:
        assert sample.asked == questions
        assert sample.measures.keys() >= questions.keys()
        assert sample.fallbacks == (("verbalised",) if sample.measures["verbalised"] == 0.5 else ())


def test_what_is_recorded_of_a_place_depends_on_no_place_before_it(tmp_path: Path) -> None:
    project = make_sdist(tmp_path, functions=40)
    drawing = Asking(model_of(ModelChoice(), TASKS), Gaps(), answer_at, code_of([project], tmp_path))
    places = places_of(project, tmp_path, 12, 0)

    def recorded(places: Sequence[Place]) -> dict[str, object]:
        drawer = drawing()
        try:
            return {place.id: drawer(place)["generations"] for place in places}
        finally:
            drawer.close()  # type: ignore[attr-defined]

    assert recorded(places) == recorded(places[::-1])


def test_alternatives_are_recorded_with_their_rank_and_their_agreement(tmp_path: Path, tiny_gguf: Path) -> None:
    given = asked(tmp_path, tiny_gguf)
    plain, several = (run_study(replace(given, out=tmp_path / f"run{count}", alternatives=count)) for count in (1, 4))
    assert (plain.question().get("alternatives"), several.question()["alternatives"]) == (None, 4)
    first = {made["id"]: made["text"] for made in generations(plain)}
    every = generations(several)
    assert {made["id"]: made["text"] for made in every if made["rank"] == 1} == first
    found = read_samples(sorted((several.folder / "samples").iterdir()))
    assert {sample.alternatives for sample in found} == {4}
    by_gap: dict[str, list[Sample]] = {}
    for sample in found:
        by_gap.setdefault(sample.id if sample.rank == 1 else sample.id.removesuffix(f":{sample.rank}"), []).append(sample)
    # A gap whose first choice has no text is one where nothing is shown.
    assert by_gap.keys() <= {name for name, text in first.items() if text.strip()}
    assert max(map(len, by_gap.values())) > 1
    hidden = {made["id"] for made in every if made["inserted"] is None}
    for gap, samples in by_gap.items():
        assert len({sample.text_sha256 for sample in samples}) == len(samples)
        shares = math.fsum(math.exp(sample.measures["agreement"]) for sample in samples if "agreement" in sample.measures)
        assert shares <= 1 + 1e-9
        if len(samples) == len([made for made in every if made["id"].startswith(gap)]) and not any(name.startswith(gap) for name in hidden):
            assert all(sample.measures["agreement"] <= 0 for sample in samples)


def test_a_model_that_can_not_be_asked_is_said_to_be_one(tmp_path: Path) -> None:
    with serving(Speech(kind="openai")) as address, pytest.raises(UsageError, match="leave --reflective out"):
        run_study(replace(asked(tmp_path, tmp_path), choice=ModelChoice(address), reflective=True))
    assert not (tmp_path / "run").exists()

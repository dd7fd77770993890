"""Rewrites of lines of a project whose own tests judge: real code, real tests, in a real jail, with the embedded model."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from source_distribution import make_sdist
from study_runs import files_of
from sums_project import write_project

from assay.analysis.sandbox.isolation.best_level import best_level
from assay.calibration.samples import read_samples
from assay.cli.main import main
from assay.inference.opening import ModelChoice
from assay.offline_eval.catcode.lines.asking import ANSWERS, REGENERATED, REWRITES, SCORES
from assay.offline_eval.catcode.lines.study import Options, ask, run_lines
from assay.offline_eval.errors import UsageError
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.run import Run
from assay.offline_eval.sets.suites import Finding, Suite, watched

from ....inference.completion_server import Speech, serving

pytestmark = pytest.mark.usefixtures("isolated")


def run_in(folder: Path) -> Run:
    """The study about the places of the shop."""
    project = replace(make_sdist(folder / "archives", functions=1), name="shop")
    options = Options(folder / "run", pool=Pool(1), cache=folder / "archives", memory="file")
    suite = Suite("shop", write_project(folder / "shop"), Path(sys.executable), best_level(), folder / "cache")
    items = watched([suite], options.pool, Finding(3, 0), ("line",))
    return ask(replace(options, projects=[project]), options.model(), items)


@pytest.mark.slow
def test_each_line_that_passes_is_rewritten_scored_and_suggested_again(tmp_path: Path) -> None:
    whole = run_in(tmp_path)
    rewritten, scored = whole.records(REWRITES).read(), whole.records(SCORES).read()
    with_variants = [record for record in rewritten if record["variants"]]
    assert {record["id"] for record in with_variants} == {record["id"] for record in scored}
    assert {variant["arm"] for record in rewritten for variant in record["variants"]} >= {"context", "wrong"}
    scores = {record["id"]: record for record in scored}
    for record in with_variants:
        assert len(scores[record["id"]]["variants"]) == len(record["variants"])
        measures = [scores[record["id"]]["plain"], scores[record["id"]]["identity"], *scores[record["id"]]["variants"]]
        assert all({"mean_entropy", "mean_margin", "total_logprob"} <= each.keys() for each in measures)
    assert {record["id"] for record in whole.records(REGENERATED).read()} <= {record["id"] for record in whole.records(ANSWERS).read()}
    # no sample is of rewritten code
    answers = {one["generations"][0]["id"]: one["generations"][0] for one in whole.records(ANSWERS).read()}
    assert [path.name for path in (whole.folder / "samples").iterdir()] == ["line.jsonl"]
    for sample in read_samples(whole.folder / "samples" / "line.jsonl"):
        assert sample.measures == answers[sample.id]["measures"]
    before = files_of(whole.folder)
    assert main(["eval", "report", str(whole.folder)]) == 0
    assert files_of(whole.folder) == before


def test_a_model_that_scores_no_given_text_is_refused_before_anything_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with serving(Speech(kind="openai")) as address, pytest.raises(UsageError, match="does not say how likely a given text is"):
        run_lines(Options(tmp_path / "run", choice=ModelChoice(address), cache=tmp_path / "archives"))
    assert not (tmp_path / "run").exists()

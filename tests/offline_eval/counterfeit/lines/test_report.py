"""The page of a run: made from the run's files alone, with what the calibrators of this machine say."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.calibration.calibrator import save
from assay.calibration.fitting.fit import fit
from assay.calibration.held_out import folds_path, save_folds
from assay.calibration.samples import read_samples
from assay.offline_eval.counterfeit.lines.draw import DRAWS, JUDGEMENTS
from assay.offline_eval.counterfeit.lines.label import LABELS, REPAIRS
from assay.offline_eval.counterfeit.lines.study import STUDY
from assay.offline_eval.run import SCHEMA, Run
from assay.offline_eval.study import finish

pytestmark = pytest.mark.slow

MODEL, PROMPT, SAMPLED = "0" * 16, "1" * 16, "2" * 16
_DRAWS, _PLACES, _PROJECTS = 4, 12, 8


def written(folder: Path) -> Run:
    """A run on 96 places of 8 projects: right texts are surer, half of the wrong ones keep tests, and a third of repairs pass."""
    question: dict[str, Any] = {
        "schema": SCHEMA, "study": "counterfeit", "model": MODEL, "model_name": "tiny", "prompt": PROMPT, "memory": "off",
        "prompt_sampled": SAMPLED, "set": "lines", "seed": 0, "draws": _DRAWS, "temperature": "0.6", "per_project": _PLACES,
        "tasks": ["line"], "projects": [f"p{n} 1" for n in range(_PROJECTS)], "mends": "yes", "questions": ["ask_true_normalised f"],
        "items": hashlib.sha256(b"").hexdigest(),
    }  # fmt: skip
    run, rng = Run.begin(folder, question), np.random.default_rng(0)
    for number in range(_PROJECTS * _PLACES):
        _write_place(run, f"p{number % _PROJECTS}:a.py:{number}", rng)
    return run


def _write_place(run: Run, place: str, rng: np.random.Generator) -> None:
    made, said, wrong = [], [], []
    for draw in range(1 + _DRAWS):
        right, stream = rng.random() < 0.4, {"stream": "t0.6"} if draw else {}
        text, total = f"{'right' if right else 'wrong'}_{draw}", -rng.exponential(0.3 if right else 3.0) - 1e-3
        name = f"{place}:{text}"
        measures = {"total_logprob": total, "length": 7.0}
        made.append(
            {"id": f"{place}:line" + (f":t0.6:{draw}" if draw else ""), "task": "line", "text": text, "inserted": text, "truth": "truth",
             "head": "", "text_id": name, "measures": measures, "labels": {"exact_match": False, "tests_pass": None},
             "stopped_by": "line", **stream}
        )  # fmt: skip
        odds = float(rng.normal() + 2 * right)
        said.append({"task": "line", "text": text, "measures": {"ask_true": -1.0, "ask_true_normalised": odds}, "asked": {}})
        kept = 4 if right else int(rng.integers(0, 4))
        changed = [{"test": f"test_{n}", "error": "wrong", "why": "failed, was passed"} for n in range(4 - kept)]
        run.records(LABELS).add(
            {"id": name, "tests_pass": bool(right), "error": "passed" if right else "wrong", "kept": kept, "known": 4, "left_out": 0,
             "changed": changed, "why": "", "way": "warm"}
        )  # fmt: skip
        if not right and kept:
            wrong.append(text)
    of = {"project": place.partition(":")[0], "file": "a.py", "function": "f", "line": 1}
    run.records(DRAWS).add({"id": place, **of, "generations": made})
    run.records(JUDGEMENTS).add({"id": place, "said": said})
    lines = [{"line": "truth", "text_id": "truth", "exact": True}, None, None]
    if wrong:
        run.records(REPAIRS).add({"id": place, "repairs": [{"task": "line", "text": text, "lines": lines} for text in wrong]})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Reported on once, and then with a calibrator of the user's that was fitted to what is shown, which has folds."""
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_DATA_HOME", str(folder / "data"))
        run = written(folder / "run")
        finish(STUDY, run, as_json=False)
        found = fit(read_samples(run.folder / "samples" / "line.jsonl"), "tests_pass", ("total_logprob",), resamples=20)
        path = folder / "data" / "calibrators" / "line.json"
        save(found.calibrator, path)
        save_folds(found.kept_folds(), folds_path(found.calibrator, path))
        finish(STUDY, run, as_json=False)
        yield run


def test_the_page_has_what_the_run_says_of_the_model_and_of_the_calibrator(run: Run) -> None:
    numbers = {each["id"]: each for each in json.loads((run.folder / "report" / "figures.json").read_text())["figures"]}
    rates = [numbers[f"C/line/draws/{kind}"]["value"] for kind in ("right", "counterfeit", "other")]
    assert sum(rates) == pytest.approx(1)
    assert numbers["R/line/repairs"]["value"] == pytest.approx(1 / 3)
    assert {f"J/{judge}/youden" for judge in ("own", "own_fitted", "asked", "asked_fitted", "agreement_fitted")} <= numbers.keys()
    assert numbers["J/asked/balanced_accuracy"]["low"] > 0.6
    figures = {name.split(": ")[1].split(",")[0]: each for name, each in numbers.items() if name.startswith("line, passes tests: ")}
    assert (figures["F3.counterfeit"]["reading"], figures["F4"]["reading"]) == ("holds", "holds")
    assert figures["F2"]["reading"] == "holds"
    assert "of the calibrator itself" in figures["F2"]["note"]
    assert figures["F9"]["n"] == sum("repair_rate" in fact and fact["repair_rate"] is not None for fact in facts_of(run))


def facts_of(run: Run) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run.folder / "facts.jsonl").read_text().splitlines()]


def test_claims_of_the_paper_are_read_from_the_cells_and_those_of_other_models_are_not_run(run: Run) -> None:
    claims = {each["id"]: each for each in json.loads((run.folder / "report" / "report.json").read_text())["claims"]}
    assert {name: claims[name]["verdict"] for name in ("b", "e", "f", "g")} == dict.fromkeys("befg", "not run")
    assert claims["a"]["verdict"] == "refuted"
    assert all(claims[name]["verdict"] != "not run" for name in ("a.bias", "c", "d.judge", "h"))


def test_each_example_tells_the_line_the_tests_that_fail_and_what_the_badge_said(run: Run) -> None:
    page = (run.folder / "report" / "report.md").read_text().partition("## Examples")[2]
    assert page.count("| badge |") == 8
    assert "passes tests |" in page
    assert "| − | truth |" in page
    assert "| fails | test_0: failed, was passed |" in page

"""The page of a run: made from the run's files alone, with what the calibrators of this machine say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from study_runs import claims_of

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


def test_the_page_has_what_the_run_says_of_the_model_and_of_the_users_calibrator_which_has_folds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "data"))
    run = written(tmp_path / "run")
    finish(STUDY, run, as_json=False)
    found = fit(read_samples(run.folder / "samples" / "line.jsonl"), "tests_pass", ("total_logprob",), resamples=20)
    path = tmp_path / "data" / "calibrators" / "line.json"
    save(found.calibrator, path)
    save_folds(found.kept_folds(), folds_path(found.calibrator, path))
    finish(STUDY, run, as_json=False)
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
    facts = [json.loads(line) for line in (run.folder / "facts.jsonl").read_text().splitlines()]
    assert figures["F9"]["n"] == sum(fact.get("repair_rate") is not None for fact in facts)
    verdicts = claims_of(run.folder)
    # those of other models are not run
    assert {name: verdicts[name] for name in ("a", *"befg")} == {"a": "refuted"} | dict.fromkeys("befg", "not run")
    assert all(verdicts[name] != "not run" for name in ("a.bias", "c", "d.judge", "h"))
    page = (run.folder / "report" / "report.md").read_text().partition("## Examples")[2]
    assert page.count("| badge |") == 8
    assert all(row in page for row in ("passes tests |", "| − | truth |", "| fails | test_0: failed, was passed |"))

"""The page of the line twin: what it says where meaning is noticed, and where it is not; and what is in no number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace as changed
from synthetic_samples import sample

from assay.calibration.calibrator import load, save
from assay.calibration.fitting.fit import fit
from assay.calibration.report.study_report import StudyContent, write_study_report
from assay.calibration.samples import Sample, write_samples
from assay.calibration.validation import table
from assay.calibration.validation.catcode_facts import PlaceFact
from assay.cli.main import main
from assay.offline_eval.asked_line import label_id
from assay.offline_eval.catcode.lines.asking import facts_of, lines_at
from assay.offline_eval.catcode.lines.page import content_of, figures_of
from assay.offline_eval.catcode.lines.tables import BALANCED, falls_of, regenerated_table, thresholds, told_apart, youden
from assay.offline_eval.run import SCHEMA


def raw_world(meaning: float, places: int = 200, projects: int = 10, seed: int = 0) -> tuple[list[Any], list[Sample]]:
    """Places whose line falls by about 2 where it is rewritten, by `meaning` more where tests then fail, and hardly in rewritten code."""
    rng = np.random.default_rng(seed)
    facts, samples = [], []
    for number in range(places):
        plain = -float(rng.exponential(3)) - 0.1
        right = bool(rng.random() < np.exp(plain / 3))

        def variant(arm: str, fall: float, steps: int = 1, kind: str = "right", start: float = plain) -> dict[str, Any]:
            rule = {"context": "unused_statement", "equivalent": "rename_variable", "wrong": "wrong_name"}[arm]
            measures = {"total_logprob": min(-0.01, start - fall)}
            return {"arm": arm, "rules": [rule] * steps, "line": "x = 2", "kind": kind, "diff": ["-x = 1", "+x = 2"], "measures": measures}

        variants = [
            *(variant("context", float(rng.normal(0, 0.1)), steps) for steps in (1, 2, 3)),
            variant("equivalent", 2 + float(rng.normal(0, 1))),
            variant("wrong", 2 + meaning + float(rng.normal(0, 1)), kind="counterfeit" if number % 2 else "other"),
        ]
        tried = [
            {"arm": "context", "rule": "unused_statement", "outcome": "made", "why": ""},
            {"arm": "context", "rule": "rename_variable", "outcome": "contradicted" if number == 0 else "refused", "why": "it may"},
        ]
        made = sample(number, label=right, project=f"p{number % projects}", total_logprob=plain)
        samples.append(changed(made, labels={"exact_match": right, "tests_pass": right, "kept": None}))
        own = {"total_logprob": plain}
        line = {"code": "truth", "text": "x = 1", "exact": True, "plain": own, "identity": own, "variants": variants, "tried": tried}
        again = {"rules": ["unused_statement"] * 3, "text": "x = 1", "measures": own, "exact": right, "passes": right}
        facts.append({"id": made.id, "project": f"p{number % projects}", "file": "f.py", "lines": [line], "regenerated": again})
    return facts, samples


def typed(facts: list[Any]) -> list[PlaceFact]:
    return msgspec.convert(facts, list[PlaceFact])


def world(meaning: float, places: int = 200, projects: int = 10, seed: int = 0) -> tuple[list[PlaceFact], list[Sample]]:
    facts, samples = raw_world(meaning, places, projects, seed)
    return typed(facts), samples


def test_a_threshold_is_taken_from_other_projects_alone() -> None:
    fall = np.array([0.0, 10.0, 5.0, 6.0, 100.0])
    arm = np.array(["equivalent", "wrong", "equivalent", "wrong", "context"])
    projects = np.array([0, 0, 1, 1, 1])
    assert thresholds(fall, arm, projects).tolist() == [5.5, 5.5, 5.0, 5.0, 5.0]


@pytest.mark.parametrize(("meaning", "apart"), [(0.0, False), (3.0, True)])
def test_meaning_is_found_where_there_is_some(meaning: float, apart: bool) -> None:
    falls = falls_of(world(meaning)[0])
    j, area = youden(falls), told_apart(falls)
    assert j is not None
    assert area is not None
    assert (j.low > 0.5) == apart
    assert (area.low > 0.9) == apart
    if apart:
        assert falls.found[falls.arm == "context"].mean() > 0.95
    else:
        assert j.low < 0 < j.high or abs(j.value) < 0.1


FACTS, SAMPLES = world(3.0)
QUESTION = {"model": "0" * 16, "prompt": "0" * 16}


def test_without_a_calibrator_of_the_model_the_figures_are_of_one_that_is_fitted_to_the_samples() -> None:
    found = list(figures_of(QUESTION, SAMPLES, FACTS))
    few = [sample for sample in SAMPLES if sample.project in ("p0", "p1")]
    assert list(figures_of(QUESTION, few, FACTS)) == [], "of fewer than five projects there is none"
    named = {each.id.split(",")[1].strip(): each for each in found}
    assert named["passes tests: M3"].reading == "holds"
    assert named["exact match: M3"].reading == "reported"
    assert all("of a calibrator that is fitted to this run's suggestions" in each.note for each in found if each.reading != "not run")


PLACE, TRUTH = "shop:shop/sums.py:9", "return total + tax"
BOTH = ("truth", "suggestion")


def answer(inserted: str | None) -> dict[str, Any]:
    made = {"id": f"{PLACE}:line", "task": "line", "inserted": inserted, "truth": TRUTH, "labels": {"exact_match": inserted == TRUTH}}
    return {"id": PLACE, "project": "shop", "file": "shop/sums.py", "function": "f", "line": 9, "generations": [made]}


def variant(arm: str, *rules: str) -> dict[str, Any]:
    steps = [{"rule": rule, "start": 0, "end": 0, "text": ""} for rule in rules]
    return {"arm": arm, "steps": steps, "line": TRUTH, "kind": "right", "diff": []}


def known(text: str, variants: list[dict[str, Any]], scores: list[Any] | None, regenerated: dict[str, Any] | None = None) -> Any:
    name, plain = label_id(PLACE, "line", text), {"total_logprob": -1.0}
    return {
        "rewrites": {name: {"id": name, "place": PLACE, "variants": variants, "tried": []}},
        "scores": {} if scores is None else {name: {"id": name, "plain": plain, "identity": plain, "variants": scores}},
        "regenerated": {} if regenerated is None else {PLACE: {"id": PLACE, "line": name, "variant": 1, **regenerated}},
        "said": {},
    }


def test_a_run_brings_its_figures_to_the_validation_table_and_damaged_facts_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    question = {"schema": SCHEMA, "study": "catcode", "model": "m", "model_name": "m", "prompt": "p", "seed": 0}
    path, run = tmp_path / "c.json", tmp_path / "run"
    save(fit(SAMPLES, "tests_pass", ("total_logprob",), resamples=2).calibrator, path)
    write_samples(run / "samples" / "line.jsonl", SAMPLES)
    (run / "run.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in question.items()))
    (run / "facts.jsonl").write_text("".join(f"{json.dumps(msgspec.to_builtins(fact))}\n" for fact in FACTS))
    assert main(["calibrate", "validate", str(path), str(run)]) == 0
    rows = {row.id: row for row in table.load(table.path_of(load(path), path)).figures}
    assert {row.study for row in rows.values()} == {"catcode"}
    assert (rows["M1"].reading, rows["M3"].reading) == ("holds", "holds")
    (run / "facts.jsonl").write_text('{"id": "a", "project": 3}\n')
    assert main(["calibrate", "validate", str(path), str(run)]) == 2
    said = capsys.readouterr().err
    assert f"{run / 'facts.jsonl'}:1: not the facts of a" in said
    assert "assay eval report" in said


def test_a_suggestion_that_is_the_projects_own_line_is_one_line() -> None:
    assert lines_at(answer(TRUTH), BOTH) == {"truth": TRUTH}
    assert lines_at(answer(TRUTH), ("suggestion",)) == {"suggestion": TRUTH}
    assert lines_at(answer("return 1"), BOTH) == {"truth": TRUTH, "suggestion": "return 1"}
    assert lines_at(answer(None), BOTH) == {"truth": TRUTH}


def test_each_rewrite_has_its_own_score_and_what_was_not_scored_has_none() -> None:
    variants = [variant("context", "unused_statement"), variant("wrong", "wrong_name")]
    (place,) = facts_of([answer(None)], known(TRUTH, variants, [{"total_logprob": -2.0}, None]), BOTH)
    (line,) = place.lines
    assert (line.code, line.exact) == ("truth", True)
    assert [one.measures for one in line.variants] == [{"total_logprob": -2.0}, None]
    (bare,) = facts_of([answer(None)], known(TRUTH, variants, None), BOTH)[0].lines
    assert bare.plain is None
    assert [one.measures for one in bare.variants] == [None, None]


def test_a_suggestion_in_rewritten_code_that_is_the_line_passes_and_another_is_as_the_tests_say() -> None:
    variants = [variant("context", "unused_statement"), variant("context", "unused_statement", "rename_variable")]
    again = {"text": TRUTH, "inserted": TRUTH, "measures": {"total_logprob": -1.0}, "equal": True}
    (place,) = facts_of([answer(None)], known(TRUTH, variants, None, again), BOTH)
    assert place.regenerated is not None
    assert (place.regenerated.passes, place.regenerated.exact) == (True, True)
    assert place.regenerated.rules == ("unused_statement", "rename_variable")
    other = known(TRUTH, variants, None, {**again, "inserted": "return 1", "equal": False})
    for said in (False, None):
        other["said"] = {f"{PLACE}:rewritten": said}
        (place,) = facts_of([answer(None)], other, BOTH)
        assert place.regenerated is not None
        assert (place.regenerated.passes, place.regenerated.exact) == (said, False)
    hidden = known(TRUTH, variants, None, {**again, "inserted": None, "equal": False})
    assert facts_of([answer(None)], hidden, BOTH)[0].regenerated is None


def page(facts: list[Any], samples: list[Sample], **about: Any) -> StudyContent:
    question = {"model_name": "tiny", "model": "m", "prompt": "p", "of": ["truth", "suggestion"]}
    return content_of(question, facts, samples, "assay eval report run", **about)


def cells(content: StudyContent) -> dict[str, Any]:
    return {cell.id: cell for table in content.tables() for cell in table.cells()}


def test_where_meaning_is_noticed_the_first_sentences_say_how_well() -> None:
    content = page(*world(3.0))
    assert content.summary[0].startswith("At 200 places of 10 projects the model scored 200 lines that pass the tests")
    assert "a balanced accuracy of 9" in content.summary[1]
    assert content.summary[2] == "Of the number that is shown with a suggestion this run says nothing."
    assert cells(content)[BALANCED].low > 0.8
    assert cells(content)["identification/context_3/recall"].value > 0.9
    assert cells(content)["rule/wrong/wrong_name/fall"].value == pytest.approx(5, abs=0.3)
    others = dict.fromkeys(("a2", "b", "c", "translation", "reproduction"), "not run")
    assert {claim.id: claim.verdict for claim in content.claims} == {"a1": "confirmed"} | others
    assert {claim.id: claim.verdict for claim in page(*world(0.0)).claims} == {"a1": "refuted"} | others


def test_what_is_left_out_and_what_tests_contradict_is_told(tmp_path: Path) -> None:
    facts, samples = raw_world(1.0)
    facts[0]["lines"][0]["variants"] = []
    facts[1]["lines"][0]["variants"][0]["measures"] = None
    facts[2]["lines"][0]["plain"] = None
    facts[0]["regenerated"] = None
    facts[1]["regenerated"]["passes"] = None
    assert len(falls_of(typed(facts)).fall) == 5 * 200 - 5 - 1 - 5, "what was not scored is in no number"
    passing, exact = regenerated_table(typed(facts), samples).rows
    assert (passing.cells[0].n, exact.cells[0].n, passing.cells[2].value) == (198, 199, 0)
    content = page(typed(facts), samples, lost=2)
    told = "\n".join(content.left_out)
    assert "2 items without an answer" in told
    assert "suggestion: 200 places without this line" in told
    assert "1 line without any rewrite" in told
    assert "1 rewrite without a score" in told
    written = write_study_report(tmp_path, content)
    page_text = next(path for path in written if path.name == "report.md").read_text()
    assert "tests contradict (1; at most 10 are shown)" in page_text
    assert "Wrong rewrites that the model minds least" in page_text

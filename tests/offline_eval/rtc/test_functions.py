"""HumanEval as round trips: every body can go around, and an answer that defines the function anew is judged, too."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from needs import DATA, needs_data

from assay.analysis.sandbox.isolation.best_level import NoIsolation
from assay.offline_eval.rtc.asking import Code
from assay.offline_eval.rtc.labelling import ByProgram, Found, functions
from assay.offline_eval.sets.problems import problems

FILE = "humaneval/HumanEval.jsonl.gz"


def functions_of(path: Path, limit: int | None = None) -> Found:
    try:
        return functions(path, limit)
    except NoIsolation as error:
        pytest.skip(str(error))


@needs_data(FILE)
def test_every_body_written_at_the_margin_comes_back_and_no_docstring_of_it_is_shown() -> None:
    found = functions_of(DATA / FILE)
    assert len(found.items) == 164
    published = {problem.id: problem for problem in problems("humaneval", DATA / FILE)}
    for item in found.items:
        assert isinstance(item, Code)
        dedented = textwrap.dedent(item.indentation + item.code)
        assert item.is_exact(str(item.rebuilt(f"[CODE]\n{dedented}\n[/CODE]"))), item.id
        assert item.documented.startswith(published[item.id].prompt.rstrip())
        shown = item.before.partition(f"def {published[item.id].entry_point}(")[2]
        assert not any(quotes in shown for quotes in ('"""', "'''")), item.id


@needs_data(FILE)
def test_a_body_and_a_whole_function_are_judged_by_the_tests() -> None:
    found = functions_of(DATA / FILE, 1)
    (item,) = found.items
    assert isinstance(found.labels, ByProgram)
    problem = found.labels.problems[item.id]
    whole = f"def {problem.entry_point}(numbers, threshold):\n{problem.truth}"
    texts = {
        "body": f"[CODE]\n{problem.truth}    # as it was\n[/CODE]",
        "whole": f"[CODE]\n{whole}[/CODE]",
        "wrong": "[CODE]\npass\n[/CODE]",
    }
    label = found.labels()
    said = {name: label(found.labels.unit(name, item, str(item.rebuilt(text))))["tests_pass"] for name, text in texts.items()}
    label.close()  # type: ignore[attr-defined]
    assert said == {"body": True, "whole": True, "wrong": False}

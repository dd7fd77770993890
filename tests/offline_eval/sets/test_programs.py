from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from needs import DATA, needs_data
from study_runs import isolation_here

from assay.analysis.corpora.mxeval import id_of_task
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.offline_eval.sets.problem import SetError
from assay.offline_eval.sets.programs import read_programs

SETS = {
    ("humaneval-x/humaneval_java.jsonl.gz",): ("humaneval", "java", 164),
    ("humaneval/HumanEval.jsonl.gz",): ("humaneval", "python", 164),
    ("mbpp/mbpp.jsonl.gz",): ("mbpp", "python", 974),
    ("mbxp/mbjp_release_v1.2.jsonl.gz",): ("mbxp", "java", 874),
    ("mathqa-x/mathqa-test-java_v1.jsonl.gz", "mathqa-x/java_samples.jsonl.gz"): ("mathqa", "java", 1883),
}


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def task(number: int, solution: str | None) -> dict[str, Any]:
    return {
        "task_id": f"MathQA/{number}",
        "language": "java",
        "prompt": "class Problem {\n    /** What is asked. */\n    static double problem() {\n",
        "entry_point": "problem",
        "description": "what is asked",
        "test": "class Main { }",
        "canonical_solution": solution,
    }


def test_completions_are_the_solutions_that_the_tasks_lack(tmp_path: Path) -> None:
    tasks = lines(tmp_path / "tasks.jsonl", task(1, "        return 1;\n    }\n}"), task(2, None), task(3, None))
    samples = [{"task_id": f"MathQA/{n}", "completion": "        return 2;\n    }\n}", "language": "java"} for n in (1, 2)]
    found = read_programs([tasks, lines(tmp_path / "samples.jsonl", *samples)])
    assert [program.id for program in found] == ["mathqa-java/1", "mathqa-java/2"]
    assert found[0].source == "class Problem {\n    static double problem() {\n        return 1;\n    }\n}\n"
    assert "return 2;" in found[1].source
    with pytest.raises(SetError, match="mathqa-java/1 is there twice"):
        read_programs([tasks, tasks])
    with pytest.raises(SetError, match="name the file of completions"):
        read_programs([lines(tmp_path / "unsolved.jsonl", task(2, None))])


def test_tasks_without_solutions_can_be_asked_for_and_completions_are_named_as_their_programs(tmp_path: Path) -> None:
    path = lines(tmp_path / "tasks.jsonl", task(1, None), task(2, "x"))
    found = {program.id: program for program in read_programs([path], unsolved_too=True)}
    assert len(found) == 2
    (unsolved,) = (program for program in found.values() if not program.published)
    record = task(1, None)
    assert unsolved.id == id_of_task(record["task_id"], record["language"])
    assert unsolved.prompt == record["prompt"]
    assert len(read_programs([path])) == 1


def test_a_folder_has_the_programs_that_have_a_test_beside_them(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "twice.py").write_text("def twice(x):\n    return 2 * x\n")
    (tmp_path / "test_twice.py").write_text("from twice import twice\n\ndef test_two():\n    assert twice(2) == 4\n")
    (tmp_path / "alone.py").write_text("x = 1\n")
    (tmp_path / "inner" / "Half.java").write_text("class Half { }\n")
    (tmp_path / "inner" / "HalfTest.java").write_text("class Main { }\n")
    java, python = read_programs([tmp_path])
    assert (java.language, python.language) == ("java", "python")
    assert java.id.endswith("/inner/Half.java")
    with PythonSandbox(Jail(isolation_here())) as sandbox:
        assert sandbox.check(python.source, python.test).label is True
        assert sandbox.check(python.source.replace("2", "3"), python.test).label is False


@pytest.mark.parametrize("text", ["", "no JSON\n", '{"a": 1}\n'])
def test_another_file_is_refused_with_what_can_be_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(text)
    with pytest.raises(SetError, match=r"other\.jsonl.*--data names files of HumanEval"):
        read_programs([path])


@needs_data(*(name for names in SETS for name in names))
@pytest.mark.parametrize("names", SETS)
def test_the_published_sets_are_read_whole(names: tuple[str, ...]) -> None:
    kind, language, count = SETS[names]
    found = read_programs([DATA / name for name in names])
    assert {(program.set, program.language) for program in found} == {(kind, language)}
    assert len({program.id for program in found}) == len(found) == count

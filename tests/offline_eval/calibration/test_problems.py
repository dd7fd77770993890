"""The calibration study on sets of problems, with real models and the real sandbox."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from needs import DATA, needs_data
from study_runs import isolation_here
from tiny_gguf import END, TinyModel, scripted, write_tiny_gguf

from assay.calibration.samples import Sample, read_samples
from assay.inference.completion.settings import Settings
from assay.inference.opening import ModelChoice
from assay.offline_eval.calibration.problems import ANSWERS, LABELS, Options, gap_of, indentation_of, run_problems
from assay.offline_eval.calibration.shots import SHOTS
from assay.offline_eval.errors import StudyError
from assay.offline_eval.run import Run
from assay.offline_eval.sets.problems import problems

pytestmark = pytest.mark.slow

HUMANEVAL, MBPP, MBPP_PLUS = "humaneval/HumanEval.jsonl.gz", "mbpp/mbpp.jsonl.gz", "mbppplus/MbppPlus.jsonl.gz"
QUIXBUGS, DEFECTS4J = "quixbugs", "defects4j-patches/framework.tar.xz"
BODIES = (("return x // 2", 3), ("return x >> 1", 3), ("return -x", -7))
DOCSTRING = '"""Half of it, rounded down, as an integer."""'
PATCH = """\
--- a/Half.java
+++ b/Half.java
@@ -1,3 +1,3 @@
 int half(int x) {
-    return x / 2;
+    return x / 3;
 }
"""


def record(number: int, body: str, of_7: int) -> dict[str, object]:
    """A problem of HumanEval whose right body is this one, and gives this of 7."""
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": f"def f{number}(x: int) -> int:\n    {DOCSTRING}\n",
        "entry_point": f"f{number}",
        "canonical_solution": f"    {body}\n",
        "test": f"def check(candidate):\n    assert candidate(7) == {of_7}\n",
    }


@pytest.fixture(scope="module")
def halves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose function is `return x // 2`, and whose line is, too."""
    model = scripted(b"return x // 2", END.encode(), prompt=b"\n    ", context_length=2048)
    return write_tiny_gguf(tmp_path_factory.mktemp("halves") / "halves.gguf", model)


@pytest.fixture
def options(tmp_path: Path, halves: Path) -> Options:
    isolation_here()
    data = tmp_path / "HumanEval.jsonl"
    data.write_text("".join(json.dumps(record(n, *body)) + "\n" for n, body in enumerate(BODIES)))
    return Options(tmp_path / "run", set="humaneval", data=data, choice=ModelChoice(str(halves)), memory="off")


def samples_of(run: Run) -> list[Sample]:
    return read_samples(sorted((run.folder / "samples").iterdir()))


def test_functions_are_completed_and_judged_by_their_tests(options: Options, capsys: pytest.CaptureFixture[str]) -> None:
    run = run_problems(options)
    assert {sample.id: sample.labels["tests_pass"] for sample in samples_of(run)} == {
        "HumanEval/0:humaneval": True,
        "HumanEval/1:humaneval": True,
        "HumanEval/2:humaneval": False,
    }
    for sample in samples_of(run):
        assert (sample.task, sample.project, sample.labels["exact_match"]) == ("humaneval", sample.id.partition(":")[0], None)
        assert sample.measures.keys() >= {"total_logprob", "mean_probability", "length"}
    assert (run.folder / "report" / "report.md").is_file()
    assert "3 labelled suggestions of 3 projects, passes tests 66.7%" in capsys.readouterr().err
    assert {item["id"] for item in run.items(dict)} == {f"HumanEval/{n}" for n in range(3)}


def test_an_answer_without_text_is_one_that_fails(options: Options, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    silent = write_tiny_gguf(tmp_path / "silent.gguf", scripted(END.encode(), prompt=b"\n    ", context_length=2048))
    run = run_problems(replace(options, choice=ModelChoice(str(silent))))
    assert [sample.labels["tests_pass"] for sample in samples_of(run)] == [False] * 3
    assert "3 labelled suggestions of 3 projects, passes tests 0.0%" in capsys.readouterr().err


def test_the_model_is_asked_about_its_answers_and_alternatives_have_their_rank(options: Options, tmp_path: Path) -> None:
    roomy = write_tiny_gguf(tmp_path / "roomy.gguf", TinyModel(context_length=2048))
    run = run_problems(replace(options, choice=ModelChoice(str(roomy)), reflective=True, alternatives=3, limit=1))
    found = samples_of(run)
    assert found
    for sample in found:
        assert sample.measures.keys() >= {"ask_true", "ask_true_normalised", "verbalised"}
        assert sample.alternatives == 3
    assert len(run.question()["questions"]) == 3


def test_a_repair_without_tests_is_judged_by_exact_match_alone(options: Options, tmp_path: Path) -> None:
    patches = tmp_path / "defects4j" / "framework" / "projects" / "Half" / "patches"
    patches.mkdir(parents=True)
    (patches / "1.src.patch").write_text(PATCH)
    (patches / "2.src.patch").write_text(PATCH.replace("x / 2;", "x // 2"))
    run = run_problems(replace(options, set="defects4j", data=tmp_path / "defects4j"))
    assert {sample.id: sample.labels["exact_match"] for sample in samples_of(run)} == {
        "defects4j/Half/1:defects4j": False,
        "defects4j/Half/2:defects4j": True,
    }
    assert {(sample.language, sample.project, sample.labels["tests_pass"]) for sample in samples_of(run)} == {("java", "Half", None)}
    assert not run.records(LABELS).path.exists()
    assert [answer["function"] for answer in run.records(ANSWERS).read()] == ["", ""]


@pytest.mark.filterwarnings("ignore:invalid escape")
@needs_data(HUMANEVAL, MBPP, MBPP_PLUS, QUIXBUGS, DEFECTS4J)
@pytest.mark.parametrize(
    ("name", "file"),
    [("humaneval", HUMANEVAL), ("mbpp", MBPP), ("mbpp", MBPP_PLUS), ("quixbugs", QUIXBUGS), ("defects4j", DEFECTS4J)],
)
def test_a_right_text_at_the_cursor_gives_the_right_program(name: str, file: str) -> None:
    for problem in problems(name, DATA / file):
        shown = gap_of(problem, "function" if problem.kind == "function" else "line", Settings())
        before = shown.text[: shown.gap.start]
        assert before == problem.prompt + indentation_of(problem)
        assert problem.truth not in before[len(problem.prompt) - 1 :]
        whole = problem.program(indentation_of(problem) + shown.truth)
        assert [line.rstrip() for line in whole.splitlines()] == [line.rstrip() for line in problem.program(problem.truth).splitlines()]


def test_a_model_is_asked_about_its_answers_in_words_and_the_run_goes_on(options: Options) -> None:
    run = run_problems(options)
    assert not run.records(SHOTS).read()
    run = run_problems(replace(options, shots=2))
    records = {record["id"]: record for record in run.records(SHOTS).read()}
    assert {name: sorted(record["shots"]) for name, record in records.items()} == {
        f"HumanEval/{n}:humaneval": sorted(f"HumanEval/{other}:humaneval" for other in range(3) if other != n) for n in range(3)
    }
    for sample in samples_of(run):
        assert sample.measures.keys() >= {"ask_chat", "ask_shots"}
    assert "ask_shots" in (run.folder / "report" / "report.md").read_text()


def test_examples_wait_for_the_tests_of_all_answers(options: Options) -> None:
    with pytest.raises(StudyError, match="3 texts wait for the tests"):
        run_problems(replace(options, shots=2, steps=("answers", "shots")))

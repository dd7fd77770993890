"""Published sets of recorded answers. A new one is a record like its neighbours, a function that reads it, and a line in `PUBLISHED`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec.structs import fields

from ...analysis.corpora.benchmarks import Language
from ...analysis.corpora.mxeval import id_of_task
from .answers import Fact, Recorded, RecordedAnswer, RecordedError, Step
from .others import OTHERS, generations
from .records import document, recorded_of, typed

Answers = Iterator[tuple[int | None, RecordedAnswer]]
_CODET_PROBLEMS = 164


class Counterfeit(msgspec.Struct):
    """A program of Code Llama 34B for HumanEval, docstring included: github.com/counterfeit-code/counterfeit-code.github.io, test.jsonl.

    Gu et al. 2024 (arXiv 2402.19475): 85 problems with 10 programs each, half of them counterfeits.
    """

    solution: str
    task_id: str
    sample_id: str
    verdict: bool
    pass_rate_base: float
    pass_rate_plus: float
    problem_pass_rate: float


def _counterfeits(path: Path) -> Recorded:
    def answers() -> Answers:
        for number, row in typed(path, Counterfeit):
            of, _, index = row.sample_id.rpartition("_")
            if of != row.task_id or not index.isdecimal():
                raise RecordedError(path, number, f"sample_id is {row.sample_id!r}, which is no number of a sample of {row.task_id}")
            facts: dict[str, Fact] = {name: getattr(row, name) for name in ("pass_rate_base", "pass_rate_plus", "problem_pass_rate")}
            yield number, RecordedAnswer(of, "draw", int(index), row.solution, labels={"tests_pass": row.verdict}, facts=facts)

    return recorded_of(path, "counterfeit-cl34b-humaneval", "CodeLlama-34B", answers())


class RoundTrip(msgspec.Struct):
    """A round trip of GPT-3.5 on HumanEval: github.com/marcusm117/IdentityChain, data/experiments/IDChain_*.jsonl.gz.

    Min et al. 2023 (arXiv 2310.14053). A program is written from a description, described, and written again from the new description.
    """

    task_id: str
    PL_0: str
    PL_0_results: list[Any]
    NL_1: str
    PL_1: str
    PL_1_results: list[Any]


def _round_trips(path: Path) -> Recorded:
    def program(item: str, step: Step, text: str, results: list[Any], **facts: Fact) -> RecordedAnswer:
        passed = results.count("Passed")
        told: dict[str, Fact] = {"passed": passed, "tests": len(results), **facts}
        return RecordedAnswer(item, step, 0, text, labels={"tests_pass": passed == len(results) if results else None}, facts=told)

    def answers() -> Answers:
        for number, row in typed(path, RoundTrip):
            yield number, program(row.task_id, "draw", row.PL_0, row.PL_0_results)
            yield number, RecordedAnswer(row.task_id, "describe", 0, row.NL_1)
            # that both gave the same for every input, wrong values included
            same = row.PL_0_results == row.PL_1_results
            yield number, program(row.task_id, "rebuild", row.PL_1, row.PL_1_results, same_outcomes=same)

    model = _model_in(path, r"IDChain_(.+?)_tmp")
    return recorded_of(path, f"identitychain-{model}" if model else "identitychain", model, answers())


class Cruxeval(msgspec.Struct):
    """Answers to CRUXEval, what a function gives for an input: github.com/crux-eval/crux-eval.github.io, evaluation_results/*_output.json.

    Gu et al. 2024 (arXiv 2401.03065). One JSON document: for each of 800 functions several answers, and for each whether it passes.
    """

    raw_generations: dict[str, list[str]]
    raw_scored_generations: dict[str, list[bool]]


def _cruxeval(path: Path) -> Recorded:
    found = document(path, Cruxeval)

    def answers() -> Answers:
        for item, drawn in found.raw_generations.items():
            passed = found.raw_scored_generations.get(item, [])
            if len(drawn) != len(passed):
                raise RecordedError(path, None, f"{item} has not one label for each of its answers")
            for index, (text, passes) in enumerate(zip(drawn, passed, strict=True)):
                yield None, RecordedAnswer(item, "execute", index, text, labels={"tests_pass": passes})

    name = path.name.removesuffix(".gz").removesuffix("_output.json")
    return recorded_of(path, name, name.partition("_temp")[0], answers())


class CodeT(msgspec.Struct):
    """100 answers of CodeGen-16B to a problem of HumanEval, programs or tests: github.com/microsoft/CodeT, CodeT/data/generated_data/.

    Chen et al. 2022 (arXiv 2207.10397). Its prompts are those of HumanEval without the examples in their docstrings, in the order of the
    task numbers as texts (0, 1, 10, 100, …). They are bodies of the function, or texts with assertions, whose prompt ends in `assert `.
    """

    prompt: str
    samples: list[str]


def _codet(path: Path) -> Recorded:
    def answers() -> Answers:
        tasks = sorted(range(_CODET_PROBLEMS), key=str)
        row = 0
        for number, each in typed(path, CodeT):
            if row == _CODET_PROBLEMS:
                raise RecordedError(path, number, f"more than the {_CODET_PROBLEMS} problems of HumanEval")
            step: Step = "test" if each.prompt.endswith("assert ") else "draw"
            for index, text in enumerate(each.samples):
                yield number, RecordedAnswer(f"HumanEval/{tasks[row]}", step, index, text)
            row += 1
        if row != _CODET_PROBLEMS:
            raise RecordedError(
                path, None, f"{row} problems of HumanEval's {_CODET_PROBLEMS}: which ones they are is told by their place alone"
            )

    model = _model_in(path, r"HumanEval_([^_]+)_temp[\d.]+")
    return recorded_of(path, f"codet-{model}" if model else "codet", model, answers())


class Mxeval(msgspec.Struct):
    """One completion of a model to a task of mxeval: github.com/amazon-science/mxeval, data/*/examples/*_samples.jsonl.

    Athiwaratkun et al. 2022 (arXiv 2210.14868). Nothing tells the model. A text continues the task's prompt, and has no label. Items are
    the ids of the tasks' programs, such as mbxp-java/2.
    """

    task_id: str
    completion: str
    language: str


def _mxeval(path: Path) -> Recorded:
    def answers() -> Answers:
        for number, row in typed(path, Mxeval):
            if row.language not in get_args(Language):
                known = ", ".join(get_args(Language))
                raise RecordedError(path, number, f"the language {row.language!r}: only {known} can be tested here")
            try:
                item = id_of_task(row.task_id, row.language)  # type: ignore[arg-type]
            except ValueError as error:
                raise RecordedError(path, number, str(error)) from None
            yield number, RecordedAnswer(item, "draw", 0, row.completion)

    return recorded_of(path, f"mxeval-{path.name.partition('.')[0]}", "", answers())


# By the fields that the first record of a file has: the first kind of which none is missing.
PUBLISHED: dict[type[msgspec.Struct], Callable[[Path], Recorded]] = {
    Counterfeit: _counterfeits,
    RoundTrip: _round_trips,
    Cruxeval: _cruxeval,
    CodeT: _codet,
    Mxeval: _mxeval,
    **OTHERS,
}


def reader_of(first: Any) -> Callable[[Path], Recorded] | None:
    """What reads a file with this first record, or this document; None for no known one."""
    if isinstance(first, list):
        return generations
    return next(
        (read for kind, read in PUBLISHED.items() if first.keys() >= {each.encode_name for each in fields(kind) if each.required}), None
    )


def _model_in(path: Path, pattern: str) -> str:
    """The model that a file's name tells."""
    told = re.match(pattern, path.name)
    return told[1] if told else ""

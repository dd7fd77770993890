"""What the user wants; a run's question; and the steps that ask a model: one question an item, several answers to it.

Recorded answers take the place of a model's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

from ....inference.asking.asker import Asker, Message, Said, alternatives_behind
from ...asked_model import AskedModel, Asking, ChatOptions, Evaluator, fingerprint_of, prompt_beside, question_in_words
from ...errors import UsageError
from ...progress import counted
from ...recorded.answers import RecordedAnswer
from ...recorded.answers import Step as RecordedStep
from ...recorded.formats import recorded
from ...run import Run, Step
from ...sets.problem import Problem
from ...sets.problems import countable_problems
from ...study import Work, all_of

Reasoning = Literal["with", "without"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ChatOptions):
    """What the user wants.

    set: humaneval, mbpp, odex or cruxeval, or the file of a set of counterfeits. data: the benchmark's file; None where only the texts of a
    set are asked about. limit: the first so many problems. draws, temperature: of drawing. votes: answers to each question. repairs: of
    each counterfeit. reasoning: judge in this way alone.
    """

    set: str | Path
    data: Path | None = None
    draws: int = 50
    temperature: float = 0.6
    votes: int = 10
    repairs: int = 10
    reasoning: Reasoning | None = None

    def problems(self, benchmark: str) -> list[Problem]:
        """The problems of the benchmark's file, each with tests that can be counted. Raises SetError and UsageError."""
        if self.data is None:
            raise UsageError(f"the tests of {benchmark} are needed: name its file with --data")
        return countable_problems(benchmark, self.data, self.limit if isinstance(self.set, str) else None)


PROMPTS = ("draw", "judge", "judge_reasoning", "execute", "repair")
prompt = partial(prompt_beside, __file__)
# As many as servers tell.
_TOP = 20


class Given(TypedDict):
    """An answer as it came. logprob: of all its tokens, in nats; null where it is not told."""

    text: str
    stopped_by: str
    logprob: float | None


class Answered(TypedDict):
    """The answers to an item. top: the likeliest tokens (text, log p) at the answer's first word, where they are asked for and told."""

    id: str
    given: list[Given]
    top: NotRequired[list[tuple[str, float]]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about an item. slots: of the prompt."""

    id: str
    slots: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Manner:
    """How a step asks. prompt: its name. top: whether the first word's likeliest tokens are asked for, at temperature 0."""

    prompt: str
    n: int
    temperature: float
    max_tokens: int
    stop: tuple[str, ...]
    top: bool = False

    @property
    def answers(self) -> int:
        """To each question."""
        return self.n + self.top


def answered(how: Manner, seed: int, asker: Asker, question: Question) -> dict[str, Any]:
    """The record of a question. Raises what `Asker.say` raises."""
    return record_of(question.id, prompt(how.prompt).render(**question.slots), how, seed, asker)


def record_of(name: str, messages: Sequence[Message], how: Manner, seed: int, asker: Asker) -> dict[str, Any]:
    """The record of what is asked in these messages. name: the question's. Raises what `Asker.say` raises."""
    record: dict[str, Any] = {"id": name}
    if how.top:
        (first,) = asker.say(messages, max_tokens=how.max_tokens, stop=how.stop, top_logprobs=_TOP)
        if top := alternatives_behind(first, how.stop[0].replace("/", "")):
            record["top"] = [(each.text, each.logprob) for each in top]
    said = asker.say(messages, n=how.n, temperature=how.temperature, max_tokens=how.max_tokens, stop=how.stop, seed=seed)
    return {**record, "given": [_given(each) for each in said]}


def _given(answer: Said | RecordedAnswer) -> Given:
    return {
        "text": answer.text,
        "stopped_by": answer.stopped_by,
        "logprob": None if answer.logprobs is None else sum(answer.logprobs),
    }


def from_files(paths: Sequence[Path], step: RecordedStep) -> Callable[[Question], dict[str, Any]]:
    """A worker's function that gives what was recorded."""
    found = [recorded(path) for path in paths]

    def record(question: Question) -> dict[str, Any]:
        answers = next(answers for each in found if (answers := each.of(question.id, step)))
        return {"id": question.id, "given": [_given(each) for each in answers]}

    return record


def asking(
    options: ChatOptions,
    evaluator: Evaluator,
    step: Step,
    questions: Sequence[Question],
    recorded_as: RecordedStep,
    ask: Callable[[Asker, Any], dict[str, Any]],
) -> Work[Any]:
    """The work of asking. recorded_as: the step of recorded answers that take its place."""
    if evaluator.files:
        there = [each for each in questions if any(file.answers.of(each.id, recorded_as) for file in evaluator.files)]
        return all_of(step, there, partial(from_files, options.recorded, recorded_as), options.pool)
    model = AskedModel(options.choice, evaluator.id, evaluator.name, evaluator.form)
    return all_of(step, questions, Asking(model, ask), options.pool, waits=options.waits)


def question_of(study: str, options: Options, evaluator: Evaluator, name: str) -> dict[str, Any]:
    """A run's question, but for its items. name: of the set."""
    question = question_in_words(study, options, evaluator, name, fingerprint_of(map(prompt, PROMPTS)))
    if not evaluator.files:
        question |= {"votes": options.votes, "repairs": options.repairs}
    return question | options.limited | ({"reasoning": options.reasoning} if options.reasoning else {})


def lost_in(run: Run, steps: Sequence[Step]) -> list[str]:
    """What has no record, for people."""
    lost = ((step, len(run.lost(step))) for step in steps)
    return [f"{counted(n, step.unit)} without an answer: the server or the machine failed." for step, n in lost if n]


def without_p(run: Run, step: Step, word: str = "Correct") -> list[str]:
    """Of how many questions p(word) is not known, for people."""
    records = run.records(step).read()
    missing = sum("top" not in record for record in records)
    if not missing or "recorded" in run.question():
        return []
    why = "the model tells no log-probabilities, or its answer has no word between the tags"
    return [f"p({word}) of {missing:,} of {counted(len(records), step.unit)}: {why}."]

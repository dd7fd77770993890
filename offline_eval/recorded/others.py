"""What other tools keep of a model's answers, as recorded answers. A new tool is a struct, a function and a line in `OTHERS`.

    EvalPlus                 samples.jsonl, and the results that it makes of them
    lm-evaluation-harness    samples_*.jsonl of --log_samples, of tasks that write code
    inspect_ai               a log in JSON
    OpenAI, vLLM             the output of a batch, of chats or completions
    bigcode's harness        generations.json

A text is the program that the tool tested. Of a chat that is the first fenced block of Python, else the first one, else all; of a
completion what comes before a fence. Log-probabilities are those of its tokens alone. One whose tokens do not spell its text has none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from .answers import Fact, Form, Recorded, RecordedAnswer, RecordedError
from .records import document, recorded_of, stem, typed

Answers = Iterator[tuple[int | None, RecordedAnswer]]
_FENCES = [
    re.compile(rf"^[ \t]*(```+|~~~+){language}[^\n`]*\n(.*?)(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
    for language in (r"[ \t]*\{?(?:python|py)3?\b", "")
]
# What a reasoning model thinks is no part of its answer.
_THOUGHT = "</think>"
# Lists of programs in other languages have as many problems.
_PYTHON = re.compile(r"(humaneval\w*|multiple)-(?!py)")
# A float32 may be so far above 0.
_ROUNDING, _LOWEST = 1e-6, -1e9
# The problems of MBPP that bigcode's harness asks about.
_MBPP = range(11, 511)


class Solution(msgspec.Struct):
    """A whole program: github.com/evalplus/evalplus."""

    task_id: str
    solution: str
    passed: bool | None = None


class Completion(msgspec.Struct):
    """What goes on from the problem's prompt: the same, and github.com/openai/human-eval."""

    task_id: str
    completion: str
    passed: bool | None = None


def _samples(path: Path, kind: type[Solution] | type[Completion]) -> Recorded:
    def answers() -> Answers:
        of = Counter[str]()
        for number, row in typed(path, kind):
            text, form = (row.solution, "program") if isinstance(row, Solution) else (row.completion, "completion")
            labels = {} if row.passed is None else {"tests_pass": row.passed}
            yield number, _draw(_item(path, number, row.task_id), of[row.task_id], text, form, labels)  # type: ignore[arg-type]
            of[row.task_id] += 1

    return recorded_of(path, stem(path), _model_of_evalplus(path), answers())


class _Evaluated(msgspec.Struct):
    solution: str
    base_status: str
    plus_status: str | None = None


class Results(msgspec.Struct):
    """What EvalPlus found of samples, one JSON document."""

    hash: str
    date: str
    eval: dict[str, list[_Evaluated]]


def _results(path: Path) -> Recorded:
    def answers() -> Answers:
        for item, rows in document(path, Results).eval.items():
            for index, row in enumerate(rows):
                passes = row.base_status == "pass" and row.plus_status in ("pass", None)
                yield None, _draw(_item(path, None, item), index, row.solution, "program", {"tests_pass": passes})

    return recorded_of(path, stem(path), _model_of_evalplus(path), answers())


class Logged(msgspec.Struct):
    """A document of a task with all responses to it: github.com/EleutherAI/lm-evaluation-harness."""

    doc_id: int
    doc: dict[str, Any]
    resps: list[Any]
    filtered_resps: list[Any]
    filter: str = ""
    humaneval: float | None = msgspec.field(default=None, name="pass@1")
    mbpp: float | None = msgspec.field(default=None, name="pass_at_1")


def _log_samples(path: Path) -> Recorded:
    def answers() -> Answers:
        rows, seen = list(typed(path, Logged)), set[int]()
        # of several filters the one that was scored
        scored = next((row.filter for _, row in rows if row.humaneval is not None or row.mbpp is not None), rows[0][1].filter)
        for number, row in rows:
            if row.filter != scored:
                continue
            if row.doc_id in seen:
                raise RecordedError(path, number, f"doc_id {row.doc_id} is there already: name one file of one evaluation")
            seen.add(row.doc_id)
            if not isinstance(task := row.doc.get("task_id"), str | int):
                raise RecordedError(path, number, "its doc has no task_id: of this harness, the tasks of HumanEval and MBPP are read")
            texts = [text for each in row.filtered_resps for text in (each if isinstance(each, list) else [each])]
            if not all(isinstance(text, str) for text in texts):
                raise RecordedError(path, number, "its responses are no texts: of this harness, tasks that generate code are read")
            score = row.humaneval if row.mbpp is None else row.mbpp
            passes = bool(score) if len(texts) == 1 and score in (0, 1) else None
            for index, text in enumerate(texts):
                yield number, _draw(f"Mbpp/{task}" if isinstance(task, int) else task, index, text, "program", {"tests_pass": passes})

    folder = path.resolve().parent.name
    return recorded_of(path, stem(path), folder.replace("__", "/") if "__" in folder else "", answers())


class _Token(msgspec.Struct):
    token: str
    logprob: float
    bytes: list[int] | None = None


class _Content(msgspec.Struct):
    """content: of a chat. tokens, token_logprobs: of a completion."""

    content: list[_Token] | None = None
    tokens: list[str] | None = None
    token_logprobs: list[float | None] | None = None


class _Message(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    text: str | None = None
    logprobs: _Content | None = None
    finish_reason: str | None = None
    stop_reason: str | int | None = None


class _Scored(msgspec.Struct):
    value: Any = None


class _Output(msgspec.Struct):
    choices: list[_Choice] = []


class _Sample(msgspec.Struct):
    id: int | str
    epoch: int
    output: _Output
    scores: dict[str, _Scored] | None = None
    error: Any = None


class Log(msgspec.Struct):
    """A log of github.com/UKGovernmentBEIS/inspect_ai, one JSON document. Of several scores the first one that is right or wrong counts."""

    version: int
    status: str
    eval: dict[str, Any]
    samples: list[_Sample] | None = None


_RIGHT: dict[str | bool, bool] = {"C": True, "I": False, True: True, False: False}


def _log(path: Path) -> Recorded:
    log = document(path, Log)
    task, of, samples = str(log.eval.get("task", stem(path))), Counter[str](), log.samples or []
    if not samples:
        raise RecordedError(path, None, "a log without samples: log them, or name the whole log")

    def answers() -> Answers:
        for sample in samples:
            item = f"Mbpp/{sample.id}" if isinstance(sample.id, int) and "mbpp" in task else str(sample.id)
            values = [score.value for score in (sample.scores or {}).values()]
            right = next((_RIGHT[value] for value in values if isinstance(value, str | bool) and value in _RIGHT), None)
            for index, choice in enumerate(sample.output.choices if sample.error is None else ()):
                yield None, _answer(item, of[item], choice, right if index == 0 else None)
                of[item] += 1

    failed = sum(sample.error is not None for sample in samples)
    return _checked(path, recorded_of(path, task, str(log.eval.get("model", "")), answers()), failed)


class _Body(msgspec.Struct):
    model: str = ""
    choices: list[_Choice] = []


class _Response(msgspec.Struct):
    body: _Body | None = None
    status_code: int = 200


class Batch(msgspec.Struct):
    """The response to a request of a batch of OpenAI's or vLLM's.

    custom_id: the problem's name; of several requests about one problem with #1, #2 and so on.
    """

    custom_id: str
    response: _Response | None

    @property
    def body(self) -> _Body:
        """What came; nothing of a request that failed."""
        if self.response is None or self.response.body is None or self.response.status_code != 200:
            return _Body()
        return self.response.body


def _batch(path: Path) -> Recorded:
    rows = list(typed(path, Batch))

    def answers() -> Answers:
        seen, of = set[str](), Counter[str]()
        for number, row in rows:
            if row.custom_id in seen:
                raise RecordedError(path, number, f"the custom_id {row.custom_id!r} is there already")
            seen.add(row.custom_id)
            item = _item(path, number, row.custom_id.partition("#")[0])
            for choice in row.body.choices:
                yield number, _answer(item, of[item], choice)
                of[item] += 1

    # llama-server calls a model by its file, whose folder is nobody's business
    names = [row.body.model for _, row in rows]
    models = dict.fromkeys(Path(name).name if name.startswith("/") else name for name in names if name)
    failed = sum(not row.body.choices for _, row in rows)
    return _checked(path, recorded_of(path, stem(path), ", ".join(models), answers()), failed)


# The fact of an answer whose log-probabilities can't be used: why.
_UNUSABLE = "logprobs"


def _checked(path: Path, recorded: Recorded, failed: int) -> Recorded:
    """The answers, counted. Raises RecordedError where those that have log-probabilities have none that can be used."""
    answers = recorded.answers.values()
    why = [f"{answer.item}: {answer.facts[_UNUSABLE]}" for answer in answers if _UNUSABLE in answer.facts]
    if why and not any(answer.logprobs for answer in answers):
        raise RecordedError(path, None, why[0])
    return replace(recorded, failed=failed, unusable=len(why))


def _answer(item: str, index: int, choice: _Choice, right: bool | None = None) -> RecordedAnswer:
    """The answer of a choice: its program, and the log-probabilities of that."""
    text = choice.text if choice.message is None else choice.message.content
    if isinstance(text, list):
        text = "".join(str(part.get("text") or "") for part in text if part.get("type") == "text")
    text = text or ""
    start, end = _program(text, chat=choice.message is not None)
    facts: dict[str, Fact] = {}
    try:
        logprobs = _logprobs(text, start, end, choice.logprobs) if text[start:end].strip() else None
    except ValueError as error:
        logprobs, facts = None, {_UNUSABLE: str(error)}
    stopped = choice.stop_reason if choice.finish_reason is None else choice.finish_reason
    labels: dict[Any, bool | None] = {} if right is None else {"tests_pass": right}
    return RecordedAnswer(item, "draw", index, text[start:end], logprobs, str(stopped or ""), labels=labels, facts=facts)


def _program(text: str, *, chat: bool) -> tuple[int, int]:
    """Where the program begins and ends."""
    start = _behind_thought(text)
    if chat or text.lstrip().startswith("```"):
        return next((found.span(2) for fence in _FENCES if (found := fence.search(text, start))), (start, len(text)))
    end = text.find("```", start)
    return start, len(text) if end < 0 else end


def _behind_thought(text: str) -> int:
    return text.rfind(_THOUGHT) + len(_THOUGHT) if _THOUGHT in text else 0


def _logprobs(answer: str, start: int, end: int, content: _Content | None) -> tuple[float, ...] | None:
    """Those of the tokens of answer[start:end]; at the end of the answer, with the one that ended it. Raises ValueError."""
    tokens = list(_tokens(content)) if content else []
    if not tokens:
        return None
    joined, whole = b"".join(text for text, _ in tokens), answer.encode(errors="surrogatepass")
    # a server may part the thought from the answer, and not from the tokens
    thought = 0 if _THOUGHT in answer else _behind_thought(joined.decode("latin-1"))
    at = joined.find(whole.strip(), thought)
    if at < 0 or joined[thought:at].strip():
        raise ValueError(f"its log-probabilities are of another text: {_short(joined)}, and the text is {_short(whole)}")
    before = len(whole) - len(whole.lstrip())
    first = at - before + len(answer[:start].encode(errors="surrogatepass"))
    last = len(joined) if end == len(answer) else at - before + len(answer[:end].encode(errors="surrogatepass"))
    logprobs, place = [], 0
    for text, logprob in tokens:
        if (place < last or last == len(joined)) and place + max(len(text), 1) > first:
            logprobs.append(logprob)
        place += len(text)
    if not all(_LOWEST <= logprob <= _ROUNDING for logprob in logprobs):
        raise ValueError(f"a log-probability is no number from {_LOWEST:g} to 0")
    return tuple(min(logprob, 0.0) for logprob in logprobs)


def _tokens(content: _Content) -> Iterator[tuple[bytes, float]]:
    """Each token's text, and its log-probability."""
    for each in content.content or ():
        try:
            yield each.token.encode(errors="surrogatepass") if each.bytes is None else bytes(each.bytes), each.logprob
        except ValueError:
            raise ValueError(f"the bytes of a token are {each.bytes}") from None
    tokens, found = content.tokens or [], content.token_logprobs or []
    if len(tokens) != len(found):
        raise ValueError(f"it has {len(tokens)} tokens and {len(found)} log-probabilities")
    for token, logprob in zip(tokens, found, strict=True):
        if logprob is None:
            raise ValueError("a token has no log-probability: leave echo out, so that the prompt is not among the tokens")
        yield token.encode(errors="surrogatepass"), logprob


def _short(text: bytes) -> str:
    shown = text.decode(errors="replace")
    return repr(shown if len(shown) <= 40 else f"{shown[:40]}…")


def generations(path: Path) -> Recorded:
    """github.com/bigcode-project/bigcode-evaluation-harness: a list of programs for each problem, which its place alone names."""
    found = document(path, list)
    if _PYTHON.search(path.name):
        raise RecordedError(path, None, "programs in another language than Python, by its name: they can't be run here")
    names = {164: [f"HumanEval/{n}" for n in range(164)], len(_MBPP): [f"Mbpp/{n}" for n in _MBPP]}
    if len(found) not in names:
        raise RecordedError(path, None, f"lists of programs for {len(found)} problems: HumanEval has 164 and MBPP {len(_MBPP)}")
    if not all(isinstance(texts, list) and all(isinstance(text, str) for text in texts) for texts in found):
        raise RecordedError(path, None, "not a list of programs for each problem")

    def answers() -> Answers:
        for item, texts in zip(names[len(found)], found, strict=True):
            yield from ((None, _draw(item, index, text, "program")) for index, text in enumerate(texts))

    return recorded_of(path, stem(path), "", answers())


# By the fields that the first record of a file has.
OTHERS: dict[type[msgspec.Struct], Callable[[Path], Recorded]] = {
    Solution: lambda path: _samples(path, Solution),
    Completion: lambda path: _samples(path, Completion),
    Results: _results,
    Logged: _log_samples,
    Log: _log,
    Batch: _batch,
}


def _model_of_evalplus(path: Path) -> str:
    """Its files are named by the model, the backend and the temperature."""
    found = re.match(r"(.+)_[a-z]+_temp_", path.name)
    return found[1].replace("--", "/") if found else ""


def _draw(item: str, index: int, text: str, form: Form, labels: Mapping[Any, bool | None] | None = None) -> RecordedAnswer:
    return RecordedAnswer(item, "draw", index, text, labels=dict(labels or {}), form=form)


def _item(path: Path, number: int | None, name: str) -> str:
    if not name:
        raise RecordedError(path, number, "the name of the problem is empty")
    return name

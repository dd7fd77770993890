"""The step "shots": the model is asked in words whether its own answers are right, first alone, then behind examples.

The examples are the run's own answers to the nearest other code, by BM25+ (Lv and Zhai 2011), each with what came of it. None is of the
same project (of functions: of the same problem). So no answer is asked about behind labels of its own project; the maps that judge it are
fitted to answers that were, as in the paper. Nothing of what follows the answer is shown.

Reference: Spiess et al. (arXiv 2402.02047), whose later versions report a skill of .15 on lines behind examples by BM25.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice
from typing import Any, TypedDict

import numpy as np

from ...calibration.arrays import Floats
from ...calibration.measures.reflective import FALLBACK
from ...calibration.samples import Event
from ...inference.asking.asker import Asker, Message, alternatives_behind
from ...inference.errors import ContextTooLong, RequestRefused, ServerFailed
from ...inference.opening import EMBEDDED, ModelChoice
from ..answers import Answer, Generated
from ..asked_model import AskedModel, Asking, asked_model, p_of_first, prompt_beside
from ..errors import StudyError, UsageError
from ..pool.pool import Pool
from ..progress import counted
from ..run import Run, Step
from ..sets.lines import PLAIN
from ..study import Work, all_of

ALONE, BEHIND = "ask_chat", "ask_shots"
ADDABLE = ("shots", "shots_asked")
# What is shown of the code before an answer: its last lines, of at most so many characters together.
_MAX_LINES, _MAX_CHARACTERS = 40, 1600
_ANSWER_TOKENS, _TOP = 8, 20
_K1, _B, _DELTA = 1.5, 0.75, 1.0


class SelfJudgement(TypedDict):
    """What the model said of an answer: P(True) over P(True) + P(False).

    It is null where the model said neither, the context had no room, or no other project has an example.

    id: the answer's. shots: the ids of the examples.
    """

    id: str
    ask_chat: float | None
    ask_shots: float | None
    shots: list[str]


SHOTS = Step("shots", "answer", SelfJudgement)


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer as it is shown. group: its project, or problem. right: what came of it; None where that is not known."""

    id: str
    group: str
    code: str
    completion: str
    right: bool | None


@dataclass(frozen=True, slots=True)
class FewShotQuestion:
    """An answer that is asked about, behind its examples, the nearest last."""

    shown: Shown
    examples: Sequence[Shown]

    @property
    def id(self) -> str:
        """The answer's."""
        return self.shown.id


@dataclass(frozen=True, slots=True)
class Shots:
    """How a run asks. count: examples before each question."""

    model: AskedModel
    count: int

    @property
    def question(self) -> dict[str, Any]:
        """What of a run's question tells it."""
        return {"shots": self.count, "shots_asked": f"{self.model.form} {self.model.id} {_prompt().fingerprint[:16]}"}

    def plan(self, answers: int) -> dict[str, str]:
        """What a dry run says of the questions about so many answers, which take longer than these."""
        behind = f"half of them behind {counted(self.count, 'example')}, which is most of what is read"
        return {"questions_in_words": f"at most {2 * answers:,}, {behind}: their time is not counted"}

    def work(self, shown: Sequence[Shown], pool: Pool, *, waits: bool) -> Work[Any]:
        """The work of asking about answers."""
        return all_of(SHOTS, nearest(shown, self.count), Asking(self.model, said_of), pool, waits=waits)


def check_shots(choice: ModelChoice) -> None:
    """Raises UsageError for the embedded model, and StudyError without scikit-learn."""
    if choice.where is None or choice.located == EMBEDDED:
        raise UsageError("the embedded model answers no questions, so it can't be asked about what it wrote: leave --shots out")
    if find_spec("sklearn") is None:
        raise StudyError("scikit-learn, which finds examples, is not installed: pip install 'assay[studies]'")


def shots_of(choice: ModelChoice, count: int | None) -> Shots | None:
    """How a run with so many examples asks; None for none. Raises what `asked_model` raises."""
    return None if count is None else Shots(asked_model(choice), count)


def check_labelled(run: Run, labels: Step, units: Iterable[Any]) -> None:
    """Raises StudyError where texts wait for their tests: examples of those alone that need none would all be right."""
    done = run.by_id(labels, "tests_pass").keys() | run.lost(labels)
    if missing := sum(unit.id not in done for unit in units):
        raise StudyError(f"{counted(missing, 'text')} {'waits' if missing == 1 else 'wait'} for the tests: do the step labels before shots")


def shown_answers(answers: Iterable[Answer], code_before: Callable[[Answer, Generated], str], event: Event) -> Iterator[Shown]:
    """The answers of a run that are asked about: first choices, in files as they are. code_before: what stands before the cursor."""
    for answer in answers:
        for one in answer["generations"]:
            if one["inserted"] is not None and one.get("rank", 1) == 1 and one.get("arm", PLAIN) == PLAIN:
                code = _end_of(code_before(answer, one))
                yield Shown(one["id"], answer["project"], code, one["inserted"], one["labels"].get(event))


def _end_of(text: str) -> str:
    """The last whole lines of a text, and of a longer line its end."""
    lines = text[-_MAX_CHARACTERS:].splitlines(keepends=True)
    if len(text) > _MAX_CHARACTERS and len(lines) > 1:
        lines = lines[1:]
    return "".join(lines[-_MAX_LINES:])


def nearest(shown: Sequence[Shown], count: int) -> list[FewShotQuestion]:
    """Each with its `count` nearest of other groups whose label is known, by BM25+ over the words of code and answer; the nearest last."""
    known = [each for each in shown if each.right is not None]
    found = []
    for each, scores in zip(shown, _bm25(known, shown), strict=True):
        others = (known[row] for row in np.argsort(-scores, kind="stable").tolist() if known[row].group != each.group)
        found.append(FewShotQuestion(each, [*islice(others, count)][::-1]))
    return found


def _bm25(known: Sequence[Shown], asked: Sequence[Shown]) -> Iterator[Floats]:
    """For each that is asked about the score of each known one, (known,)."""
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import CountVectorizer

    def text(shown: Shown) -> str:
        return f"{shown.code}{shown.completion}"

    words = CountVectorizer(token_pattern=r"[A-Za-z_]\w*")
    # A word of its own, because there is no vocabulary without one.
    counts = csr_array(words.fit_transform([*map(text, known), "no_word"])[:-1], dtype=np.float64)
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    holding = np.bincount(counts.indices, minlength=counts.shape[1])
    rows = np.repeat(np.arange(len(known)), np.diff(counts.indptr))
    norm = 1 - _B + _B * lengths / max(lengths.mean(), 1.0) if len(known) else lengths
    counts.data = np.log((len(known) + 1) / holding[counts.indices]) * (_DELTA + (_K1 + 1) * counts.data / (counts.data + _K1 * norm[rows]))
    for each in asked:
        query = words.transform([text(each)])
        query.data[:] = 1
        yield (counts @ query.T).toarray().ravel()


def said_of(asker: Asker, asked: FewShotQuestion) -> dict[str, Any]:
    """The record of an answer. Raises what `Asker.say` raises."""
    alone = _p_true(asker, asked.shown, ())
    try:
        behind = _p_true(asker, asked.shown, asked.examples) if asked.examples else None
    except RequestRefused as error:  # what a server says of a question that its context has no room for
        if isinstance(error, ServerFailed):
            raise
        behind = None
    return {"id": asked.id, ALONE: alone, BEHIND: behind, "shots": [each.id for each in asked.examples]}


def messages_of(shown: Shown, examples: Sequence[Shown]) -> list[Message]:
    """The question about an answer, behind examples with theirs."""
    messages = list[Message]()
    for each in examples:
        messages += [*_rendered(each), Message("assistant", str(each.right))]
    return [*messages, *_rendered(shown)]


def _p_true(asker: Asker, shown: Shown, examples: Sequence[Shown]) -> float | None:
    with suppress(ContextTooLong):
        (said,) = asker.say(messages_of(shown, examples), max_tokens=_ANSWER_TOKENS, top_logprobs=_TOP)
        if top := alternatives_behind(said, ""):
            return p_of_first([(each.text, each.logprob) for each in top], ("true", "false"))
    return None


def _rendered(shown: Shown) -> tuple[Message, ...]:
    return _prompt().render(code=shown.code, completion=shown.completion)


_prompt = partial(prompt_beside, __file__, "right")


def with_shots(run: Run, answers: list[Any]) -> list[Any]:
    """The answers of a run with what the model said of them, among their measures. Raises RunError."""
    question = run.question()
    if "shots" not in question:
        return answers
    said = {record["id"]: record for record in run.records(SHOTS).read()}
    asked = {ALONE: _fingerprint(question["shots_asked"], 0), BEHIND: _fingerprint(question["shots_asked"], question["shots"])}
    for answer in answers:
        for one in answer["generations"]:
            if one.get("arm", PLAIN) != PLAIN or (record := said.get(one["id"])) is None:
                continue
            values = {name: record[name] for name in asked}
            one["measures"] |= {name: FALLBACK if p is None else p for name, p in values.items()}
            one["asked"] = {**one.get("asked", {}), **asked}
            one["fallbacks"] = [*one.get("fallbacks", []), *(name for name, p in values.items() if p is None)]
    return answers


def _fingerprint(asked: str, count: int) -> str:
    return hashlib.sha256(json.dumps([asked, count]).encode()).hexdigest()[:16]

"""How long a run would take: one question of each kind is asked before it begins, as a worker asks it, and timed.

It takes seconds, on a slow machine a minute. The time of tests is not in it: they take less than a model in all studies that ask one.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..inference.asking.asker import Asker, Form, Message, Said
from ..inference.completion.prompt import new_tokens
from ..inference.completion.task import kind_of
from ..inference.errors import ModelError
from ..inference.model import Fingerprint, Model
from ..inference.opening import ModelChoice
from ..suggestion.complete import complete
from .asked_model import asked_model
from .model import begin_anew, opened_on_one_thread
from .pool.pool import WAITING, Pool
from .progress import counted, to_stderr
from .sets.lines import FileWithGap
from .study import StudyOptions

_TIMED = 5
# Of code and plain words, for models of today.
_CHARACTERS_A_TOKEN = 3.5


@dataclass(frozen=True, slots=True)
class Probe:
    """A kind of question: its name, how many a run asks at most, and what asks one."""

    name: str
    count: int
    ask: Callable[[Asker], object]


def spoken(hours: float) -> str:
    """Hours or minutes, for people."""
    return f"{hours:.1f} hours" if hours >= 1.5 else counted(max(1, round(60 * hours)), "minute")


def workers_of(pool: Pool, choice: ModelChoice) -> int:
    """How many ask at once; of a cluster, whose machines are not known yet, as here."""
    return pool.workers or (WAITING if choice.servers else 1)


def estimated(choice: ModelChoice, form: Form | None, pool: Pool, probes: Sequence[Probe]) -> dict[str, Any]:
    """The part of a plan that says how long it takes; a model that can't be asked is told there, too."""
    try:
        asker, model = asked_model(choice, form).open()
    except ModelError as error:
        return {"time": f"not known: {error}"}
    to_stderr(f"asking the model {counted(len(probes), 'question')}, to know how long a run takes …")
    seconds, read, written = dict[str, float](), 0.0, 0.0
    try:
        for probe in probes:
            if model is not None:
                begin_anew(model)
            counting = _Counting(asker)
            begun = time.perf_counter()
            probe.ask(counting)
            seconds[probe.name] = round(time.perf_counter() - begun, 2)
            read, written = read + probe.count * counting.read, written + probe.count * counting.written
    except ModelError as error:
        return {"time": f"not known: {error}"}
    finally:
        asker.close()
    read, written = (round(characters / _CHARACTERS_A_TOKEN) for characters in (read, written))
    alone_s = sum(probe.count * seconds[probe.name] for probe in probes)
    return {**_time(alone_s, pool, choice), "seconds_each": seconds, "tokens_read": read, "tokens_written": written}


def _time(alone_s: float, pool: Pool, choice: ModelChoice) -> dict[str, Any]:
    """How long it takes by all workers what takes so many seconds by one."""
    workers = workers_of(pool, choice)
    hours = alone_s / workers / 3600
    alone = ", each as fast as one alone" if workers > 1 else ""
    return {"hours": round(hours, 2), "time": f"about {spoken(hours)} of the model, by {counted(workers, 'worker')}{alone}"}


def at_gaps(options: StudyOptions, gaps: Sequence[FileWithGap], alternatives: int, questions: int) -> dict[str, Any]:
    """The part of a plan about completions at gaps, each with so many questions about it; some are made now, to know how long that takes.

    Raises what `ModelChoice.open` and `Model.generate` raise.
    """
    if not (gaps and options.wants("answers")):
        return {"gaps": len(gaps)}
    drawn, generations = random.Random(options.seed).sample(gaps, min(_TIMED, len(gaps))), len(gaps) * alternatives
    with opened_on_one_thread(options.choice) as model:
        prompts = [gap.prompt(model) for gap in drawn]
        each = statistics.median(_seconds(model, partial(list, gap.suggestions(model, alternatives))) for gap in drawn)
        longest = max(new_tokens(model, gap.settings, kind_of(gap.task)) for gap in gaps)
        example = model.prompt_text(prompts[0]) or ""
    return {
        "gaps": len(gaps),
        "most_generations": generations,
        "most_questions": generations * questions,
        "most_new_tokens": generations * longest,
        "tokens_read": round(statistics.mean(len(prompt.tokens) for prompt in prompts) * len(gaps)) or None,
        **_time(len(gaps) * each * (1 + QUESTION * questions), options.pool, options.choice),
        "seconds_each": {"gap": round(each, 2)},
        "example": example,
    }


def _seconds(model: Model, ask: Callable[[], object]) -> float:
    """How long it takes a model that has read nothing before."""
    begin_anew(model)
    begun = time.perf_counter()
    ask()
    return time.perf_counter() - begun


# A question about a text takes so much of the time of a generation: its answer is one token, and most of its prompt was read before.
QUESTION = 0.5


def generation_seconds(choice: ModelChoice) -> float:
    """The median over lines of this file, which it completes as in the editor. Raises what `ModelChoice.open` raises."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines(keepends=True)
    took = []
    with opened_on_one_thread(choice) as model:
        for number in range(len(lines) - _TIMED, len(lines)):
            before, after = "".join(lines[:number]) + lines[number][:4], "".join(lines[number + 1 :])
            took.append(_seconds(model, partial(complete, model, before, after, settings=choice.settings_for(model))))
    return statistics.median(took)


class _Counting(Asker):
    """An asker that counts characters."""

    def __init__(self, asker: Asker) -> None:
        self._asker, self.read, self.written = asker, 0, 0

    @property
    def form(self) -> Form:
        """As of the asker."""
        return self._asker.form

    @property
    def fingerprint(self) -> Fingerprint:
        """As of the asker."""
        return self._asker.fingerprint

    def say(self, messages: Sequence[Message], **how: Any) -> list[Said]:
        """The asker's answers."""
        said = self._asker.say(messages, **how)
        self.read += sum(len(message.text) for message in messages)
        self.written += sum(len(one.text) - one.given for one in said)
        return said

    def close(self) -> None:
        """Leave the asker open."""

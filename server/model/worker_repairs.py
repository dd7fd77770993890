"""Repairs in the model's process: made as the laboratory makes them, and out of the way of completions.

A repair asks the model many times. Between two of these, and at the next token of the one that runs, what else the process is asked goes
first; what the model was writing for the repair is then asked for again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillWaiting
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar, cast

import msgspec

from ...inference.asking.asker import Asker, Message, Said
from ...inference.asking.template import ChatTemplate
from ...inference.asking.text import TextAsker
from ...inference.errors import ModelError, NoChat
from ...inference.model import Cancel, Generation, Model, Prompt, StopReason
from ...inference.opening import ModelChoice, open_asker, template_of
from ...inference.stopping.cancel_or_timeout import make_stop_check
from ...suggestion.repair.asking import Asking, never
from ...suggestion.repair.propose import MAX_SUSPECTS, proposals
from ...suggestion.repair.request import Failure, Repairs, request_for
from ...suggestion.repair.surprise import surprise_at, with_alternatives

Written = TypeVar("Written")

# How long what is asked meanwhile may wait for a look while a server is waited for.
_LOOK_S = 0.002


@dataclass(frozen=True, slots=True)
class Others:
    """What else the process is asked. wait: whether there is any; answer: answers it."""

    wait: Callable[[], bool] = never
    answer: Callable[[], None] = lambda: None


class PatientModel:
    """A `Model` that lets others go first. What it was writing is written again then.

    What it says of a given text (`replay`) is not interrupted: that takes a fraction of the time of a completion.
    """

    def __init__(self, model: Model, others: Others) -> None:
        self._model = model
        self._others = others

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def generate(self, prompt: Prompt, *, cancel: Cancel | None = None, **how: Any) -> Generation:
        """As `Model.generate`."""
        return _patiently(lambda is_over: self._model.generate(prompt, cancel=is_over, **how), self._others, cancel)

    def alternatives(self, prompt: Prompt, count: int, *, cancel: Cancel | None = None, **how: Any) -> list[Generation]:
        """As `Model.alternatives`."""
        return _patiently(lambda is_over: self._model.alternatives(prompt, count, cancel=is_over, **how), self._others, cancel)

    def replay(self, prompt: Prompt, text: str, **how: Any) -> Generation:
        """As `Model.replay`."""
        self._others.answer()
        return self._model.replay(prompt, text, **how)


def _patiently(write: Callable[[Cancel], Written], others: Others, cancel: Cancel | None) -> Written:
    """What is written when no other came in between."""
    while True:
        others.answer()
        gave_way = False

        def is_over() -> bool:
            nonlocal gave_way
            gave_way = gave_way or others.wait()
            return gave_way or (cancel is not None and cancel())

        written = write(is_over)
        if not gave_way:
            return written


class Instructed:
    """The instruct model that the settings name, and the template of the editor's own, opened when first asked. For one thread.

    model: the editor's own. template_trouble: why its template can't be used.
    """

    def __init__(self) -> None:
        self.model = ModelChoice()
        self._template: tuple[ChatTemplate | None] | None = None
        self.template_trouble = ""
        self._where = ""
        self._asker: Asker | None = None
        self._thread = ThreadPoolExecutor(1, "instruct")

    def at(self, where: str) -> Asker | None:
        """The model at an address; None where that is empty. Raises ModelError."""
        if where != self._where:
            self.close()
        if where and self._asker is None:
            self._asker, self._where = open_asker(self.model.beside(where)), where
        return self._asker

    def template(self, model: Model) -> ChatTemplate | None:
        """That of the editor's own model, which is open; None where it is not asked in chat. Raises NoChat."""
        if self._template is None:
            try:
                self._template = (template_of(model, self.model.where or "the model"),)
            except NoChat as error:
                self.template_trouble = str(error)
                raise
        return self._template[0]

    def submit(self, asked: Callable[[], Written]) -> Future[Written]:
        """Ask in a thread of its own, one question after the other."""
        return self._thread.submit(asked)

    def close(self) -> None:
        """Close the connection and the template, if there are any."""
        for each in (self._asker, *(self._template or ())):
            if each is not None:
                each.close()
        self._asker, self._where, self._template = None, "", None


class PatientAsker:
    """Asks an instruct model, and lets others go first while it answers. trouble: why it did not."""

    def __init__(self, asker: Asker, instructed: Instructed, others: Others, is_over: Cancel) -> None:
        self.trouble = ""
        self._asker = asker
        self._instructed = instructed
        self._others = others
        self._is_over = is_over

    def say(self, messages: Sequence[Message], *, n: int = 1, seed: int = 0, **how: Any) -> list[Said]:
        """As `Asker.say`, asked one by one, so that those which come in time are kept; an empty answer for none."""
        said = list[Said]()
        for number in range(n):
            answer = None
            try:
                if not self.trouble and not self._is_over():
                    asking = self._instructed.submit(partial(self._asker.say, messages, seed=seed + number, **how))
                    answer = _awaited(asking, self._others, self._is_over)
            except ModelError as error:
                self.trouble = str(error)
            said += [_NOTHING] if answer is None else answer
        return said


class OwnAsker:
    """Asks the editor's own model in chat, and lets others go first: what it was writing is written again then. trouble: why it did not."""

    def __init__(self, model: Model, instructed: Instructed, others: Others, is_over: Cancel) -> None:
        self.trouble = instructed.template_trouble
        self._model = model
        self._instructed = instructed
        self._others = others
        self._is_over = is_over

    def say(self, messages: Sequence[Message], **how: Any) -> list[Said]:
        """As `Asker.say`; an empty answer where there is none."""
        if self.trouble:
            return [_NOTHING]
        try:
            template = self._instructed.template(self._model)
            if template is None:
                return [_NOTHING]
            asker = partial(TextAsker, self._model, template)
            return _patiently(lambda is_over: asker(is_over).say(messages, **how), self._others, self._is_over)
        except ModelError as error:
            self.trouble = str(error)
            return [_NOTHING]


_NOTHING = Said("", StopReason.CANCELLED)


def _awaited(answer: Future[Written], others: Others, is_over: Cancel) -> Written | None:
    """What a server answers; None where that is not wanted any more. It may be long in answering: others go first meanwhile."""
    while not is_over():
        others.answer()
        with suppress(StillWaiting):
            return answer.result(_LOOK_S)
    return None


def patient(asking: Asking, others: Others) -> Asking:
    """The same, and others go first."""
    return replace(asking, model=cast("Model", PatientModel(asking.model, others)))


def repairs_of(
    asked: dict[str, Any], asking: Asking, others: Others, instructed: Instructed, tell: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """The repairs that are asked for (`RepairRequest`), as JSON: the last of `proposals`. tell: told those that were found so far."""
    check = make_stop_check(asking.is_over, asked["max_ms"], time.perf_counter())
    asker, trouble = _asker(asked["instruct"], asking.model, instructed, others, lambda: check() is not None)
    request = request_for(
        patient(asking, others),
        asked["text"],
        asked["first"],
        asked["end"],
        language=asked["language"],
        asker=cast("Asker | None", asker),
        failure=Failure(message=asked["message"]) if asked["message"] else None,
    )
    found = Repairs((), (), {}, None)
    for found in proposals(request, most=asked["most"], encoding=asked["encoding"], max_ms=asked["max_ms"], cancel=asking.is_over):
        tell(msgspec.to_builtins(replace(found, suspects=())))
    trouble = trouble or ("" if asker is None else asker.trouble)
    found = replace(found, suspects=(), not_asked=found.not_asked | ({"instruct": trouble} if trouble else {}))
    answer: dict[str, Any] = msgspec.to_builtins(found)
    return answer


def surprises_of(asked: dict[str, Any], asking: Asking, others: Others) -> dict[str, Any]:
    """How much lines surprise, as JSON of `LineSurprise`, and what the model would write in the place of the most surprising ones."""
    check = make_stop_check(asking.is_over, asked["max_ms"], time.perf_counter())
    asking = replace(patient(asking, others), is_over=lambda: check() is not None)
    lines = request_for(asking, asked["text"], asked["first"], asked["end"]).lines
    told = (surprise_at(asking, lines, number) for number in range(asked["first"], asked["end"]) if not asking.is_over())
    found = sorted(filter(None, told), key=lambda line: -line.surprise)
    most = [with_alternatives(asking, lines, line) for line in found[:MAX_SUSPECTS]]
    stopped_by = check()
    return {
        "lines": [line.as_json() for line in (*most, *found[MAX_SUSPECTS:])],
        "stopped_by": None if stopped_by is None else stopped_by.value,
    }


def _asker(where: str, model: Model, instructed: Instructed, others: Others, is_over: Cancel) -> tuple[PatientAsker | OwnAsker | None, str]:
    """The instruct model, by default the model itself in chat; or why there is none."""
    if not where:
        return (None if model.chat_format is None else OwnAsker(model, instructed, others, is_over)), ""
    try:
        asker = _awaited(instructed.submit(partial(instructed.at, where)), others, is_over)
    except ModelError as error:
        return None, str(error)
    return (None, f"{where} did not answer in time") if asker is None else (PatientAsker(asker, instructed, others, is_over), "")

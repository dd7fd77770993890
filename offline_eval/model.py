"""The model that a run is about: checked and fingerprinted by the driver, opened again by each worker.

Several servers of one model share the work: where one fails, the others go on.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from .. import __version__
from ..calibration.measures.reflective import Question, questions_for
from ..inference.backends import TRANSFORMERS
from ..inference.completion.mending import can_mend
from ..inference.completion.settings import GREEDY, Sampling, Settings
from ..inference.completion.task import Task, kind_of
from ..inference.errors import SERVER_FAILURES, ModelError, OtherModelServed
from ..inference.model import Fingerprint, Model
from ..inference.opening import ModelChoice
from ..suggestion.memory.memories import memory_fingerprint, own_weights
from ..suggestion.memory.scope import DEFAULT_SCOPE, Scope
from .errors import StudyError, UsageError
from .progress import to_stderr
from .run import SCHEMA


class Changed(StudyError):
    """Project, model or Assay are not those that the run began with; the message says what to do."""


@dataclass(frozen=True, slots=True)
class StudyModel:
    """A model as the driver found it; travels to the workers.

    id, name, kin: of its fingerprint. prompts: the fingerprint of what it is asked, by task. questions: what it is asked about each of its
    generations, by reflective measure. memory: what is read beside it. weights: the fingerprint of that memory. version: the driver's
    Assay. sampled: as prompts, where texts are drawn at a temperature. mends: whether it was trained to mend lines. replays:
    whether it says how likely a given text is. chats: whether it has a chat template.
    """

    choice: ModelChoice
    settings: Settings
    id: str
    name: str
    prompts: Mapping[Task, str]
    questions: Mapping[str, Question]
    memory: Scope = DEFAULT_SCOPE
    weights: str = ""
    version: str = __version__
    sampled: Mapping[Task, str] = field(default_factory=dict)
    mends: bool = False
    replays: bool = False
    chats: bool = False
    kin: str = ""

    def question(self, study: str, task: Task = "line") -> dict[str, str | int | Sequence[str]]:
        """The first part of a run's question: schema, study, model, prompt (that of a task) and memory."""
        asked = {"schema": SCHEMA, "study": study, "model": self.id, "model_name": self.name, "prompt": self.prompts[task]}
        return {**asked, **({"kin": self.kin} if self.kin else {}), "memory": self.memory}

    @property
    def reflecting(self) -> dict[str, list[str]]:
        """What of a run's question tells what the model is asked about its generations."""
        asked = [f"{measure} {one.fingerprint}" for measure, one in self.questions.items()]
        return {"questions": asked} if asked else {}

    def open_in_worker(self) -> Model:
        """The same model, in a worker. Raises Changed where it is not the same, and what `ModelChoice.open` raises."""
        if self.version != __version__:
            raise Changed(f"the worker has Assay {__version__}, the driver {self.version}: install the same on both")
        model = opened_on_one_thread(self.choice)
        if model.fingerprint.id != self.id:
            model.close()
            raise Changed(
                f"{self.choice.where or 'the embedded model'} is the model {model.fingerprint.id} for the worker, and was {self.id} "
                "when the run began: have the same one in its place, everywhere"
            )
        if memory_fingerprint(model, self.memory) != self.weights:
            model.close()
            raise Changed(
                "the weights of the project memory are others for the worker than when the run began: have the same file in each data "
                f"folder ({own_weights(self.id)}), or none in any"
            )
        return model


def model_of(
    choice: ModelChoice,
    tasks: Sequence[Task],
    *,
    reflective: bool | None = False,
    memory: Scope = DEFAULT_SCOPE,
    sampling: Sampling = GREEDY,
) -> StudyModel:
    """Open a model to see what it is.

    reflective: whether it is asked about what it wrote; None: if it can be, and the embedded model can't. memory: what is read beside it,
    if it can be mixed with anything. sampling: how further texts are drawn.

    Raises UsageError where no calibrator can be fitted to it, and what `ModelChoice.open` raises.
    """
    with choice.open() as model:
        settings = choice.settings_for(model)
        if not model.capabilities.logprobs:
            raise UsageError(f"{choice.where} gives no log-probabilities, so there is nothing to calibrate with")
        memory = memory if model.capabilities.memory else "off"
        heals, mixed = model.capabilities.heals, memory_fingerprint(model, memory)
        prompts, sampled = (
            {
                task: settings.fingerprint(model.layout, model.context_length, kind_of(task), heals=heals, memory=mixed, sampling=how)
                for task in tasks
            }
            for how in (GREEDY, sampling)
        )
        questions = questions_for(model) if reflective is not False and choice.where is not None else {}
        found = StudyModel(
            choice,
            settings,
            model.fingerprint.id,
            model.fingerprint.name,
            prompts,
            questions,
            memory,
            mixed,
            sampled=sampled,
            mends=can_mend(model),
            replays=model.capabilities.replay,
            chats=model.chat_format is not None,
            kin=model.fingerprint.kin,
        )
        require_one_model(choice, model.fingerprint)
    if reflective and not found.questions:
        why = f"{choice.where} takes texts instead of tokens" if choice.where else "the embedded model answers no questions"
        raise UsageError(f"{why}, so it can't be asked about what it wrote: leave --reflective out")
    return found


def require_one_model(choice: ModelChoice, expected: Fingerprint) -> None:
    """Refuse servers of which one serves another model than expected. One that does not answer may do so later, and is told.

    Raises OtherModelServed, and what else is wrong with a server that answers.
    """
    for server in choice.servers if len(choice.servers) > 1 else ():
        try:
            with choice.at(server).open() as model:
                found = model.fingerprint
        except SERVER_FAILURES as error:
            to_stderr(f"note: {error} Until it answers the others do its share.")
            continue
        if found.id != expected.id:
            raise OtherModelServed(server, f"{found.name} ({found.id})", "another of them", f"{expected.name} ({expected.id})")


@runtime_checkable
class Forgets(Protocol):
    """A model of this process, which keeps what it has read."""

    def forget(self) -> None:
        """Read the next prompt from its beginning."""
        ...


def begin_anew(model: Model) -> None:
    """Have an item's log-probabilities depend on none before it, which are others in a resumed run and for each worker.

    A prefix that was read before, in other batches, changes their last digits; with a quantised cache more. A server's cache is its own.
    """
    if isinstance(model, Forgets):
        model.forget()


def opened_on_one_thread(choice: ModelChoice) -> Model:
    """The model, run by one thread of this process, which shares the machine with other workers; a server's has its own threads.

    Raises what `ModelChoice.open` raises.
    """
    if choice.backend is TRANSFORMERS:
        with suppress(ImportError):  # opening says what to install
            import torch

            torch.set_num_threads(1)
    return choice.on_one_thread().open()


# Makes the work function with the model of a choice.
StartAt = Callable[[ModelChoice], Callable[[Any], Any]]

# A server that failed is asked again after so long, or where no other is left.
_REST_S = 60.0
# Of a server that is started anew with another model, or asks for another key, the others do the share.
_NOT_OPENED = (ModelError, Changed)


@dataclass(frozen=True, slots=True)
class OnServers:
    """Makes work functions that take turns at the servers of a choice. A choice that names one model is that alone."""

    choice: ModelChoice
    start: StartAt

    def __call__(self) -> Callable[[Any], Any]:
        """The work function. Raises what opening the model raises, the last server's where none can be opened."""
        servers = self.choice.servers
        if len(servers) < 2:
            return self.start(self.choice)
        return _TakingTurns([self.choice.at(server) for server in servers], self.start)


class _TakingTurns:
    """A work function that does each item at the next server, and what a server fails at by the others."""

    def __init__(self, choices: list[ModelChoice], start: StartAt) -> None:
        self._choices, self._start = choices, start
        # several of these begin at different servers
        self._turn = random.randrange(len(choices))
        self._open: dict[int, Callable[[Any], Any]] = {}
        self._rests_until = [0.0] * len(choices)
        self._told: set[int] = set()
        self._first_open()

    def __call__(self, item: Any) -> Any:
        """The answer of an item. Raises the last server's failure where each fails."""
        failure: Exception | None = None
        for number in self._order():
            try:
                work = self._at(number)
            except _NOT_OPENED as error:
                failure = self._rested(number, error)
                continue
            try:
                return work(item)
            except SERVER_FAILURES as error:
                failure = self._rested(number, error)
        assert failure is not None, "there are servers, and each failed"
        raise failure

    def close(self) -> None:
        """Put the models away."""
        for number in list(self._open):
            self._put_away(number)

    def _first_open(self) -> None:
        """Open the model at one server, so that what is wrong with all of them is known at the start."""
        failure: Exception | None = None
        for number in self._order():
            try:
                self._at(number)
                return
            except _NOT_OPENED as error:
                failure = self._rested(number, error)
        assert failure is not None, "there are servers, and each failed"
        raise failure

    def _order(self) -> list[int]:
        """All servers, from the next on; those that rest come last."""
        count, now = len(self._choices), time.monotonic()
        self._turn += 1
        return sorted(((self._turn + more) % count for more in range(count)), key=lambda number: self._rests_until[number] > now)

    def _at(self, number: int) -> Callable[[Any], Any]:
        if number not in self._open:
            self._open[number] = self._start(self._choices[number])
        return self._open[number]

    def _rested(self, number: int, failure: Exception) -> Exception:
        """The failure of a server, which is told once and rests."""
        if number not in self._told:
            self._told.add(number)
            to_stderr(f"note: {failure} The other servers do its share.", after_bar=True)
        self._rests_until[number] = time.monotonic() + _REST_S
        self._put_away(number)
        return failure

    def _put_away(self, number: int) -> None:
        close = getattr(self._open.pop(number, None), "close", None)
        if close is not None:
            with suppress(*SERVER_FAILURES):
                close()

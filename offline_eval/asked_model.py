"""Who is asked in words: a model, found by the driver and opened again by each worker, or files of recorded answers in its place."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from .. import __version__
from ..inference.asking.asker import Asker, Form, Message
from ..inference.asking.prompts import PromptFile, load_prompt
from ..inference.errors import SERVER_FAILURES, ModelError
from ..inference.model import Model
from ..inference.opening import ModelChoice, local_asker, open_asker, require_same_model
from .model import Changed, OnServers, begin_anew, opened_on_one_thread
from .progress import to_stderr
from .recorded.source import AnswerFile, read
from .run import SCHEMA
from .study import StudyOptions

IN_FORM: Mapping[str, str] = {"chat": "in chat", "text": "in plain text"}


@cache
def prompt_beside(module: str, name: str) -> PromptFile:
    """A prompt of a study: a file in the folder prompts beside one of its modules."""
    return load_prompt(Path(module).parent / "prompts" / f"{name}.txt")


def how_asked(question: Mapping[str, Any]) -> str:
    """How a run's model was asked and which it is, for reports; the form first, because it makes another model of it."""
    who = f"model {question['model_name']} (fingerprint {question['model']})"
    return f"asked {IN_FORM[question['form']]}: {who}, prompts {question['prompt']}"


def names_in_forms(questions: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of several runs' models; where models of one name were asked in both forms, each with its own."""
    told = [(str(question["model_name"]), IN_FORM.get(str(question.get("form")), "as recorded")) for question in questions]
    names = [name for name, _ in set(told)]
    return [f"{name} {form}" if names.count(name) > 1 else name for name, form in told]


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model that is asked in words, as the driver found it; travels to the workers. version: of the driver's Assay."""

    choice: ModelChoice
    id: str
    name: str
    form: Form
    version: str = __version__

    def open(self) -> tuple[Asker, Model | None]:
        """The asker at its server, or with the model of this process beside it.

        Raises Changed where it is another, and what `open_asker` raises.
        """
        if self.version != __version__:
            raise Changed(f"the worker has Assay {__version__}, the driver {self.version}: install the same on both")
        model = None if self.choice.servers else opened_on_one_thread(self.choice)
        asker = open_asker(self.choice, self.form) if model is None else local_asker(self.choice, model, self.form)
        if (asker.fingerprint.id, asker.form) != (self.id, self.form):
            asker.close()
            raise Changed(
                f"{self.choice.where or 'the embedded model'} is the model {asker.fingerprint.id} ({asker.form}) for the worker, and was "
                f"{self.id} ({self.form}) when the run began: have the same one in its place, everywhere"
            )
        return asker, model


def asked_model(choice: ModelChoice, form: Form | None = None, *, dry_run: bool = False) -> AskedModel:
    """Open a model to see what it is. form: as of `open_asker`. dry_run: one that can't be opened now has no id.

    Raises what `open_asker` raises, and OtherModelServed where its servers differ.
    """
    try:
        return _opened(choice, form)
    except ModelError:
        if not dry_run:
            raise
        return AskedModel(choice, "", choice.where or "the embedded model", form or "chat")


def _opened(choice: ModelChoice, form: Form | None) -> AskedModel:
    with open_asker(choice, form) as asker:
        for server in choice.servers if len(choice.servers) > 1 else ():
            try:
                other = open_asker(choice.at(server), form)
            except SERVER_FAILURES as error:
                to_stderr(f"note: {error} Until it answers the others do its share.")
                continue
            with other:
                require_same_model(other, server, asker, "another of them")
        return AskedModel(choice, asker.fingerprint.id, asker.name, asker.form)


@dataclass(frozen=True, slots=True)
class Asking:
    """Makes the worker's function that asks; travels to the worker. ask: gives the record of an item, as the asker answers."""

    model: AskedModel
    ask: Callable[[Asker, Any], dict[str, Any]]

    def __call__(self) -> Callable[[Any], dict[str, Any]]:
        """The function, with the model open. Raises Changed, and what opening raises."""
        return OnServers(self.model.choice, self.at)()

    def at(self, choice: ModelChoice) -> AsksItems:
        """The function, with the model of a choice. Raises as above."""
        return AsksItems(self.ask, *replace(self.model, choice=choice).open())


@dataclass(frozen=True, slots=True)
class AsksItems:
    """Asks about items; holds a model. model: one of this process."""

    ask: Callable[[Asker, Any], dict[str, Any]]
    asker: Asker
    model: Model | None

    def __call__(self, item: Any) -> dict[str, Any]:
        """The record of an item. Raises what `Asker.say` raises."""
        begun = time.perf_counter()
        if self.model is not None:
            begin_anew(self.model)
        return {**self.ask(self.asker, item), "timings": {"total_ms": (time.perf_counter() - begun) * 1e3}}

    def close(self) -> None:
        """Put the model away."""
        self.asker.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions(StudyOptions):
    """What the user wants of a study that asks in words. recorded: files of answers, instead of a model. form: as of `open_asker`."""

    recorded: Sequence[Path] = ()
    form: Form | None = None


def p_of_first(top: Sequence[tuple[str, float]], words: tuple[str, str]) -> float | None:
    """The probability of the first of two words against the other, from the likeliest first tokens (text, log p), whole or beginnings.

    A word that is not among them counts as the least likely of these, so that no probability is 0 or 1.
    """
    mass = dict.fromkeys(words, 0.0)
    for text, logprob in top:
        begun = text.strip().casefold()
        word = next((word for word in words if begun and (word.startswith(begun) or begun.startswith(word))), None)
        if word is not None:
            mass[word] += math.exp(logprob)
    if not any(mass.values()):
        return None
    least = math.exp(min(logprob for _, logprob in top))
    first, other = (mass[word] or min(least, max(mass.values())) for word in words)
    return first / (first + other)


def text_of(messages: Sequence[Message]) -> str:
    """A prompt, for people."""
    return "\n\n".join(message.text for message in messages)


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Who answers. id, name: of the model, or of the files of answers. files: of recorded answers; none where a model is asked."""

    id: str
    name: str
    form: Form
    files: Sequence[AnswerFile] = ()


NOBODY = Evaluator("none", "none", "text")


def question_in_words(study: str, options: ChatOptions, evaluator: Evaluator, name: str, prompts: str) -> dict[str, Any]:
    """The first part of a run's question. name: of the set. prompts: the fingerprint of all of them."""
    who = {"schema": SCHEMA, "study": study, "model": evaluator.id, "model_name": evaluator.name, "form": evaluator.form}
    return {**who, "prompt": "recorded" if evaluator.files else prompts, "seed": options.seed, "set": name}


def fingerprint_of(prompts: Iterable[PromptFile]) -> str:
    """Of all prompts: one that changes makes another question."""
    return hashlib.sha256("".join(prompt.fingerprint for prompt in prompts).encode()).hexdigest()[:16]


def evaluator_of(options: ChatOptions) -> Evaluator:
    """Open the model, or the files, to see what they are. Raises RecordedError, and what `asked_model` raises."""
    if options.recorded:
        files = read(options.recorded)
        digest = hashlib.sha256("".join(file.sha256 for file in files).encode()).hexdigest()[:16]
        names = ", ".join(dict.fromkeys(file.answers.model or file.answers.name for file in files))
        return Evaluator(digest, names, "text", files)
    model = asked_model(options.choice, options.form, dry_run=options.dry_run)
    return Evaluator(model.id, model.name, model.form)

"""The steps that need a model: describe what goes around, and rebuild it from each description, and from none."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from .... import __version__
from ....inference.asking.asker import Asker, Form, Said
from ....inference.asking.text import TextAsker
from ....inference.errors import SERVER_FAILURES, OtherModelServed
from ....inference.model import Model, StopReason
from ....inference.opening import ModelChoice, open_asker, require_same_model
from ...model import Changed, begin_anew, opened_on_one_thread
from ...progress import to_stderr
from ...run import SCHEMA
from ...servers import OnServers
from ...study import Step
from .items import (
    BY_DOCSTRING,
    MAX_DESCRIPTION,
    NO_CODE_WORDS,
    NO_EDIT_WORDS,
    Arm,
    Item,
    Kind,
    description_of,
    prompts,
)

DESCRIBE_AT, REBUILD_AT = 0.8, 0.1
# Of edits the paper draws at the model's own temperature, and rebuilds greedily; several greedy ones would be one text.
EDIT_DESCRIBE_AT, EDIT_REBUILD_AT = 1.0, 0.0
DESCRIBE_TOKENS, REBUILD_TOKENS = 128, 512
# One draw without a description is noisy.
BASELINES = 3


class Description(TypedDict):
    """text: in one line; None where none could be read. said: the whole answer."""

    text: str | None
    said: str
    stopped_by: str


class Described(TypedDict):
    """The descriptions of an item."""

    id: str
    descriptions: list[Description]


class Rebuilding(TypedDict):
    """arm: what was told of the code. of: which description, from 0. text: the code; None where none could be read."""

    arm: Arm
    of: int
    text: str | None
    said: str
    stopped_by: str
    exact: bool


class Rebuilt(TypedDict):
    """What an item was rebuilt to."""

    id: str
    rebuilt: list[Rebuilding]


DESCRIPTIONS = Step("descriptions", "item", Described)
REBUILT = Step("rebuilt", "rebuilt item", Rebuilt)


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model that is asked in words, as the driver found it; travels to the workers. version: of the driver's Assay."""

    choice: ModelChoice
    id: str
    name: str
    form: Form
    version: str = __version__

    def question(self, study: str, kind: Kind) -> dict[str, Any]:
        """The first part of a run's question."""
        files = prompts(kind)
        numbers = (DESCRIBE_AT, REBUILD_AT, EDIT_DESCRIBE_AT, EDIT_REBUILD_AT, DESCRIBE_TOKENS, REBUILD_TOKENS, BASELINES, MAX_DESCRIPTION)
        words = (NO_CODE_WORDS, NO_EDIT_WORDS, BY_DOCSTRING)
        told = [self.form, *map(str, numbers), *words, *(files[step].fingerprint for step in ("describe", "rebuild"))]
        asked = {"prompt": hashlib.sha256("\0".join(told).encode()).hexdigest()[:16], "form": self.form}
        return {"schema": SCHEMA, "study": study, "model": self.id, "model_name": self.name, **asked}

    def open(self, choice: ModelChoice) -> tuple[Asker, Model | None]:
        """The asker at one of its servers, or with the model of this process beside it.

        Raises Changed where it is another, and what `open_asker` raises.
        """
        if self.version != __version__:
            raise Changed(f"the worker has Assay {__version__}, the driver {self.version}: install the same on both")
        model = None if choice.servers else opened_on_one_thread(choice)
        asker = open_asker(choice, self.form) if model is None else TextAsker(model)
        if (asker.fingerprint.id, asker.form) != (self.id, self.form):
            asker.close()
            raise Changed(
                f"{choice.where or 'the embedded model'} is the model {asker.fingerprint.id} ({asker.form}) for the worker, and was "
                f"{self.id} ({self.form}) when the run began: have the same one in its place, everywhere"
            )
        return asker, model


def asked_model(choice: ModelChoice) -> AskedModel:
    """Open a model to see what it is. Raises what `open_asker` raises, and OtherModelServed where its servers differ."""
    with open_asker(choice) as asker:
        found = AskedModel(choice, asker.fingerprint.id, asker.name, asker.form)
        for server in choice.servers if len(choice.servers) > 1 else ():
            try:
                with open_asker(choice.at(server)) as other:
                    require_same_model(other, server, asker, choice.where or "")
            except OtherModelServed:
                raise
            except SERVER_FAILURES as error:
                to_stderr(f"note: {error} Until it answers the others do its share.")
    return found


@dataclass(frozen=True, slots=True)
class Plan:
    """How often is asked. forward: descriptions of an item. backward: what is rebuilt from each of them."""

    forward: int = 3
    backward: int = 1
    seed: int = 0

    def rebuilding(self, kind: Kind) -> float:
        """The temperature of rebuilds."""
        return EDIT_REBUILD_AT if kind == "edit" and self.backward == 1 else REBUILD_AT

    def baselines(self, kind: Kind) -> int:
        """Rebuilds from words that say nothing."""
        return max(BASELINES, self.backward) if self.rebuilding(kind) > 0 else 1

    def calls(self, kind: Kind, *, direct: bool = False) -> int:
        """How often an item is rebuilt, at most. direct: whether also from its docstring."""
        return self.forward * self.backward + self.baselines(kind) + self.backward * direct

    def describe(self, asker: Asker, item: Item) -> dict[str, Any]:
        """The record of the step. Raises as `Asker.say`."""
        drawn = asker.say(
            item.to_describe(),
            n=self.forward,
            temperature=EDIT_DESCRIBE_AT if item.kind == "edit" else DESCRIBE_AT,
            max_tokens=DESCRIBE_TOKENS,
            stop=("[/DESCRIPTION]",),
            seed=self.seed,
        )
        return {"id": item.id, "descriptions": [_description(said) for said in drawn]}

    def rebuild(self, asker: Asker, item: Item, descriptions: Sequence[Description]) -> dict[str, Any]:
        """The record of the step. Raises as `Asker.say`."""
        return {"id": item.id, "rebuilt": list(self._rebuilt(asker, item, descriptions))}

    def _rebuilt(self, asker: Asker, item: Item, descriptions: Sequence[Description]) -> Iterator[Rebuilding]:
        at = self.rebuilding(item.kind)
        told: dict[Arm, list[tuple[str | None, int]]] = {
            "description": [(each["text"], self.backward) for each in descriptions],
            "baseline": [("", self.baselines(item.kind))],
            "direct": [("", self.backward)],
        }
        for arm in item.arms:
            for of, (words, n) in enumerate(told[arm]):
                if words is None:
                    continue
                messages = item.to_rebuild(arm, words)
                stop = ("[/NEW]" if item.kind == "edit" else "[/CODE]",)
                for said in asker.say(messages, n=n, temperature=at, max_tokens=REBUILD_TOKENS, stop=stop, seed=self.seed):
                    text = item.rebuilt(said.text)
                    exact = text is not None and item.is_exact(text)
                    yield Rebuilding(arm=arm, of=of, text=text, said=said.text, stopped_by=said.stopped_by, exact=exact)


def _description(said: Said) -> Description:
    text = description_of(said.text, cut_off=said.stopped_by is StopReason.TOKENS)
    return Description(text=text, said=said.text, stopped_by=said.stopped_by)


@dataclass(frozen=True, slots=True)
class Asking:
    """Makes the worker's function that asks. descriptions: by item, those to rebuild from; None: describe."""

    model: AskedModel
    plan: Plan
    descriptions: Mapping[str, Sequence[Description]] | None = field(default=None)

    def __call__(self) -> Callable[[Item], dict[str, Any]]:
        """The function, with the model open. Raises Changed, and what opening raises."""
        return OnServers(self.model.choice, self.at)()

    def at(self, choice: ModelChoice) -> AsksItems:
        """The function, with the model of a choice. Raises as above."""
        return AsksItems(self, *replace(self.model, choice=choice).open(choice))


@dataclass(frozen=True, slots=True)
class AsksItems:
    """Asks about items; holds a model."""

    asked: Asking
    asker: Asker
    model: Model | None

    def __call__(self, item: Item) -> dict[str, Any]:
        """The record of an item. Raises what `Asker.say` raises."""
        begun = time.perf_counter()
        if self.model is not None:
            begin_anew(self.model)
        plan, told = self.asked.plan, self.asked.descriptions
        record = plan.describe(self.asker, item) if told is None else plan.rebuild(self.asker, item, told[item.id])
        return {**record, "timings": {"total_ms": (time.perf_counter() - begun) * 1e3}}

    def close(self) -> None:
        """Put the model away."""
        self.asker.close()

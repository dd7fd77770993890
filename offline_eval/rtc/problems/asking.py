"""The steps that need a model: describe what goes around, and rebuild it from each description, and from none."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from ....inference.asking.asker import Asker, Said
from ....inference.model import StopReason
from ...asked_model import AskedModel
from ...run import SCHEMA
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


def question_of(model: AskedModel, study: str, kind: Kind) -> dict[str, Any]:
    """The first part of a run's question."""
    files = prompts(kind)
    numbers = (DESCRIBE_AT, REBUILD_AT, EDIT_DESCRIBE_AT, EDIT_REBUILD_AT, DESCRIBE_TOKENS, REBUILD_TOKENS, BASELINES, MAX_DESCRIPTION)
    words = (NO_CODE_WORDS, NO_EDIT_WORDS, BY_DOCSTRING)
    told = [model.form, *map(str, numbers), *words, *(files[step].fingerprint for step in ("describe", "rebuild"))]
    asked = {"prompt": hashlib.sha256("\0".join(told).encode()).hexdigest()[:16], "form": model.form}
    return {"schema": SCHEMA, "study": study, "model": model.id, "model_name": model.name, **asked}


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

    def rebuild(self, descriptions: Mapping[str, Sequence[Description]], asker: Asker, item: Item) -> dict[str, Any]:
        """The record of the step. descriptions: by item. Raises as `Asker.say`."""
        return {"id": item.id, "rebuilt": list(self._rebuilt(asker, item, descriptions[item.id]))}

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

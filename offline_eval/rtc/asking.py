"""What goes around, code or an edit: how it is described, rebuilt from each description and from none, and what answers mean."""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal, TypedDict

from ...inference.asking.asker import Asker, Message, Said, last_block
from ...inference.asking.prompts import PromptFile, load_prompt
from ...inference.model import StopReason
from ..asked_model import AskedModel
from ..run import SCHEMA, Step

Arm = Literal["description", "baseline", "direct"]
Kind = Literal["code", "edit"]
MAX_DESCRIPTION = 128
NO_CODE_WORDS, NO_EDIT_WORDS, BY_DOCSTRING = "Implement.", "Edit", "Do what the docstring says."

_FENCED = re.compile(r"\s*```[^\n]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Code:
    """Code in its surroundings. group: the project, or the problem.

    before: whole lines, and the indentation of the code's first line. code: from there to the end of its last line. after: what follows.
    documented: `before` with the docstring that it lacks; "" where there is none.
    """

    id: str
    group: str
    before: str
    code: str
    after: str
    documented: str = ""
    kind: ClassVar[Kind] = "code"

    @property
    def arms(self) -> tuple[Arm, ...]:
        """How its code is asked for."""
        return ("description", "baseline", "direct") if self.documented else ("description", "baseline")

    @property
    def described(self) -> str:
        """What a description may not recite."""
        return self.code

    @property
    def indentation(self) -> str:
        """Of the first line."""
        return self.before[self.before.rfind("\n") + 1 :]

    def to_describe(self) -> tuple[Message, ...]:
        """The question for a description."""
        start, end = (f"{self.indentation}# <<<region {which}>>>" for which in ("start", "end"))
        above = self.before.removesuffix(self.indentation)
        return prompts("code")["describe"].render(code=f"{above}{start}\n{self.indentation}{self.code}\n{end}{self.after}".strip("\n"))

    def to_rebuild(self, arm: Arm, description: str) -> tuple[Message, ...]:
        """The question for the code."""
        words = {"description": description, "baseline": NO_CODE_WORDS, "direct": BY_DOCSTRING}[arm]
        before = self.documented if arm == "direct" else self.before
        return prompts("code")["rebuild"].render(code=f"{before}# TODO(LLM): {words}{self.after}".strip("\n"))

    def rebuilt(self, answer: str) -> str | None:
        """The code that an answer holds, to be put where the code stood; None where none can be read."""
        text = textwrap.dedent(_in_block(answer, "CODE")).strip("\n").rstrip()
        return textwrap.indent(text, self.indentation)[len(self.indentation) :] if text.strip() else None

    def dedented(self, text: str) -> str:
        """A rebuilt text at the left margin, as the model wrote it."""
        return textwrap.dedent(self.indentation + text)

    def is_exact(self, text: str) -> bool:
        """Whether it is the code itself, white space at the ends of lines aside."""
        return trimmed(text) == trimmed(self.code)


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit of a few lines. old, new: whole lines with some around. changed: the new lines alone."""

    id: str
    group: str
    old: str
    new: str
    changed: str
    kind: ClassVar[Kind] = "edit"
    arms: ClassVar[tuple[Arm, ...]] = ("description", "baseline")

    @property
    def described(self) -> str:
        """What a description may not recite."""
        return self.changed

    def to_describe(self) -> tuple[Message, ...]:
        """The question for a description."""
        return prompts("edit")["describe"].render(old=self.old.strip("\n"), new=self.new.strip("\n"))

    def to_rebuild(self, arm: Arm, description: str) -> tuple[Message, ...]:
        """The question for the new code."""
        words = description if arm == "description" else NO_EDIT_WORDS
        return prompts("edit")["rebuild"].render(old=self.old.strip("\n"), description=words)

    def rebuilt(self, answer: str) -> str | None:
        """The new code that an answer holds; None where none can be read."""
        text = _in_block(answer, "NEW").strip("\n").rstrip()
        return text if text.strip() else None

    def is_exact(self, text: str) -> bool:
        """Whether it is the new code, white space at the ends of lines aside."""
        return trimmed(text) == trimmed(self.new)


Item = Code | Edit


def _in_block(answer: str, tag: str) -> str:
    """What stands in the last block of an answer, without Markdown's fence; "" where there is none."""
    block = last_block(answer, tag, strip=False) or ""
    fenced = _FENCED.fullmatch(block)
    return fenced[1] if fenced else block


def trimmed(text: str) -> str:
    """Without white space at the ends of lines, and without empty lines around."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def description_of(answer: str, *, cut_off: bool) -> str | None:
    """The description that an answer holds, in one line of at most `MAX_DESCRIPTION` characters; None where none can be read.

    cut_off: the answer ended at its limit, which lies beyond that many characters: what is there of the block is enough.
    """
    block = last_block(f"{answer}[/DESCRIPTION]" if cut_off else answer, "DESCRIPTION")
    words = " ".join((block or "").split())
    return words[:MAX_DESCRIPTION].rstrip() or None


@cache
def prompts(kind: Kind) -> Mapping[str, PromptFile]:
    """The prompts that describe and rebuild."""
    folder, ending = Path(__file__).parent / "prompts", "" if kind == "code" else "_edit"
    return {step: load_prompt(folder / f"{step}{ending}.txt") for step in ("describe", "rebuild")}


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

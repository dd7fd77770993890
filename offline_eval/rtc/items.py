"""What goes around, code or an edit: how it is described, rebuilt from each description and from none, and what answers mean."""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from ...inference.asking.asker import Message, last_block
from ...inference.asking.prompts import PromptFile, load_prompt
from ..answers import text_id
from ..asked_model import AskedModel
from ..chains.chain import Question, Texts
from ..chains.copies import is_copy
from ..chains.scores import EXACT
from ..run import SCHEMA

Arm = Literal["description", "baseline", "direct"]
Kind = Literal["code", "edit"]
MAX_DESCRIPTION = 128
NO_CODE_WORDS, NO_EDIT_WORDS, BY_DOCSTRING = "Implement.", "Edit", "Do what the docstring says."
SIMS = ("tests_pass", EXACT, "bleu", "rouge")

_FENCED = re.compile(r"\s*```[^\n]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Whole:
    """What is the same of all that goes around: it is judged by its text, and needs no label where that is as it was."""

    id: str
    group: str

    # The fields with what is to come back, and with what a description may not recite.
    back: ClassVar[str]
    recited: ClassVar[str]

    @property
    def original(self) -> str:
        """What is to come back."""
        return str(getattr(self, self.back))

    @property
    def described(self) -> str:
        """What a description may not recite."""
        return str(getattr(self, self.recited))

    def is_exact(self, text: str) -> bool:
        """Whether it is the original, white space at the ends of lines aside."""
        return trimmed(text) == trimmed(self.original)

    def is_recited_by(self, arm: str, description: str) -> bool:  # noqa: ARG002
        """Whether a description is the code over again."""
        return is_copy(description, self.described)

    def label_id(self, arm: str, text: str) -> str | None:  # noqa: ARG002
        """The id of the label of a text; None of the original."""
        return None if self.is_exact(text) else text_id(self.id, text)

    def scores(self, text: str | None, label: Mapping[str, Any]) -> dict[str, float]:
        """By name, how much came back, from 0 to 1."""
        if text is None or self.is_exact(text):
            return dict.fromkeys(SIMS, float(text is not None))
        return {EXACT: 0.0, **{sim: float(label[sim]) for sim in SIMS if label.get(sim) is not None}}


@dataclass(frozen=True, slots=True)
class Code(Whole):
    """Code in its surroundings. group: the project, or the problem.

    before: whole lines, and the indentation of the code's first line. code: from there to the end of its last line. after: what follows.
    documented: `before` with the docstring that it lacks; "" where there is none.
    """

    before: str
    code: str
    after: str
    documented: str = ""
    kind: ClassVar[Kind] = "code"
    back: ClassVar[str] = "code"
    recited: ClassVar[str] = "code"

    @property
    def arms(self) -> tuple[Arm, ...]:
        """How its code is asked for."""
        return ("description", "baseline", "direct") if self.documented else ("description", "baseline")

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

    def code_in(self, answer: str) -> str | None:
        """The code that an answer holds, to be put where the code stood; None where none can be read."""
        text = textwrap.dedent(_in_block(answer, "CODE")).strip("\n").rstrip()
        return textwrap.indent(text, self.indentation)[len(self.indentation) :] if text.strip() else None

    def dedented(self, text: str) -> str:
        """A rebuilt text at the left margin, as the model wrote it."""
        return textwrap.dedent(self.indentation + text)


@dataclass(frozen=True, slots=True)
class Edit(Whole):
    """An edit of a few lines. old, new: whole lines with some around. changed: the new lines alone."""

    old: str
    new: str
    changed: str
    kind: ClassVar[Kind] = "edit"
    back: ClassVar[str] = "new"
    recited: ClassVar[str] = "changed"
    arms: ClassVar[tuple[Arm, ...]] = ("description", "baseline")

    def to_describe(self) -> tuple[Message, ...]:
        """The question for a description."""
        return prompts("edit")["describe"].render(old=self.old.strip("\n"), new=self.new.strip("\n"))

    def to_rebuild(self, arm: Arm, description: str) -> tuple[Message, ...]:
        """The question for the new code."""
        words = description if arm == "description" else NO_EDIT_WORDS
        return prompts("edit")["rebuild"].render(old=self.old.strip("\n"), description=words)

    def code_in(self, answer: str) -> str | None:
        """The new code that an answer holds; None where none can be read."""
        text = _in_block(answer, "NEW").strip("\n").rstrip()
        return text if text.strip() else None


Item = Code | Edit


def _in_block(answer: str, tag: str) -> str:
    """What stands in the last block of an answer, without Markdown's fence; "" where there is none."""
    block = last_block(answer, tag, strip=False) or ""
    fenced = _FENCED.fullmatch(block)
    return fenced[1] if fenced else block


def trimmed(text: str) -> str:
    """Without white space at the ends of lines, and without empty lines around."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


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
    max_description: ClassVar[int] = MAX_DESCRIPTION

    def rebuilding(self, kind: Kind) -> float:
        """The temperature of rebuilds."""
        return EDIT_REBUILD_AT if kind == "edit" and self.backward == 1 else REBUILD_AT

    def baselines(self, kind: Kind) -> int:
        """Rebuilds from words that say nothing."""
        return max(BASELINES, self.backward) if self.rebuilding(kind) > 0 else 1

    def calls(self, kind: Kind, *, direct: bool = False) -> int:
        """How often an item is rebuilt, at most. direct: whether also from its docstring."""
        return self.forward * self.backward + self.baselines(kind) + self.backward * direct

    def to_describe(self, item: Item) -> Iterator[Question]:
        """The question for descriptions."""
        at = EDIT_DESCRIBE_AT if item.kind == "edit" else DESCRIBE_AT
        yield Question("description", item.to_describe(), "[/DESCRIPTION]", DESCRIBE_TOKENS, self.forward, at, self.seed)

    def to_write(self, item: Item, texts: Texts) -> Iterator[Question]:
        """The questions for code."""
        told: dict[Arm, list[tuple[str | None, int]]] = {
            "description": [(text, self.backward) for text in texts.get("description", ())],
            "baseline": [("", self.baselines(item.kind))],
            "direct": [("", self.backward)],
        }
        stop, at = "[/NEW]" if item.kind == "edit" else "[/CODE]", self.rebuilding(item.kind)
        for arm in item.arms:
            for of, (words, n) in enumerate(told[arm]):
                if words is not None:
                    yield Question(arm, item.to_rebuild(arm, words), stop, REBUILD_TOKENS, n, at, self.seed, of)

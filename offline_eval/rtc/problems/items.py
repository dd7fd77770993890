"""What goes around: code in its surroundings, or an edit; how either is put to a model, and what its answers mean."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from ....inference.asking.asker import Message, last_block
from ....inference.asking.prompts import PromptFile, load_prompt

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

    @property
    def kind(self) -> Kind:
        """Which prompts it has."""
        return "code"

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
        block = last_block(answer, "CODE", strip=False)
        if block is None:
            return None
        fenced = _FENCED.fullmatch(block)
        text = textwrap.dedent(fenced[1] if fenced else block).strip("\n").rstrip()
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

    @property
    def kind(self) -> Kind:
        """Which prompts it has."""
        return "edit"

    @property
    def arms(self) -> tuple[Arm, ...]:
        """How its new code is asked for."""
        return "description", "baseline"

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
        block = last_block(answer, "NEW", strip=False)
        if block is None:
            return None
        fenced = _FENCED.fullmatch(block)
        text = (fenced[1] if fenced else block).strip("\n").rstrip()
        return text if text.strip() else None

    def is_exact(self, text: str) -> bool:
        """Whether it is the new code, white space at the ends of lines aside."""
        return trimmed(text) == trimmed(self.new)


Item = Code | Edit


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

"""What is asked about: a program and the header below which it is to be written; how that is put to a model, and what its answers mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from ....analysis.corpora.benchmarks import Language
from ....inference.asking.asker import Message
from ....inference.asking.reading import last_block
from ...asked_model import prompt_beside
from .placing.header import NEUTRAL, Header, renamed
from .placing.registry import LANGUAGES, NAMES
from .worked_example import EXAMPLES, UNNAMED

# translate: code becomes code of another language. explain: code becomes words, and these code of the same language. complete: a recorded
# completion of a published prompt.
Kind = Literal["translate", "explain", "complete"]
# How code is asked for. named: from a description with names and types, as the paper does, and without a header. unnamed: from one
# without, below a header whose function has a neutral name. header: from the header alone.
Arm = Literal["translation", "named", "unnamed", "header", "completion"]
Told = Literal["named", "unnamed"]
ARMS: Mapping[Kind, tuple[Arm, ...]] = {
    "translate": ("translation",),
    "explain": ("named", "unnamed", "header"),
    "complete": ("completion",),
}
PROMPTS = ("translate", "describe_named", "describe_unnamed", "rebuild_named", "rebuild_header")
prompt = partial(prompt_beside, __file__)
NO_WORDS = "Implement this function."

_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Item:
    """One program of one problem. problem: one name for all languages. source: the language of the code; of a completion there is none.

    code: without comments. header: of what is to be written, in the language target. tests: the hash of its test.
    """

    id: str
    kind: Kind
    set: str
    problem: str
    source: Language | None
    target: Language
    code: str
    header: Header
    tests: str

    @property
    def group(self) -> str:
        """What is independent."""
        return f"{self.set}:{self.problem}"

    def to_translate(self) -> tuple[Message, ...]:
        """The question for a translation."""
        assert self.source is not None, "what is translated has a language"
        return prompt("translate").render(
            source=NAMES[self.source],
            target=NAMES[self.target],
            example_code=EXAMPLES[self.source].code.strip("\n"),
            example_header=EXAMPLES[self.target].header(self.target).text.strip("\n"),
            example_answer=EXAMPLES[self.target].code.strip("\n"),
            code=self.code.strip("\n"),
            header=self.header.text.strip("\n"),
        )

    def to_describe(self, told: Told) -> tuple[Message, ...]:
        """The question for a description."""
        example = EXAMPLES[self.target]
        name = example.header(self.target).name
        neutral = LANGUAGES[self.target].anonymous
        return prompt(f"describe_{told}").render(
            language=NAMES[self.target],
            example_code=(example.code if told == "named" else neutral(example.code, name)).strip("\n"),
            example_description=example.named if told == "named" else UNNAMED,
            code=self.described(told).strip("\n"),
        )

    def described(self, told: Told) -> str:
        """The code that is described."""
        return self.code if told == "named" else LANGUAGES[self.target].anonymous(self.code, self.header.name)

    def described_body(self, told: Told) -> str:
        """The same without its header, which any description may repeat."""
        header = self.header.text if told == "named" else neutral_header(self.header, self.target)
        return self.described(told).removeprefix(header)

    def to_rebuild(self, arm: Arm, description: str) -> tuple[Message, ...]:
        """The question for the code, from a description; of the arm "header" that is ignored."""
        example, language = EXAMPLES[self.target], NAMES[self.target]
        if arm == "named":
            return prompt("rebuild_named").render(
                language=language,
                example_description=example.named,
                example_answer=example.code.strip("\n"),
                description=description,
            )
        given, shown = example.header(self.target), self.header.text
        header, answer = given.text, example.code
        if arm == "unnamed":
            neutral = LANGUAGES[self.target].anonymous
            header, answer, shown = (
                neutral_header(given, self.target),
                neutral(answer, given.name),
                neutral_header(self.header, self.target),
            )
        return prompt("rebuild_header").render(
            language=language,
            example_description=UNNAMED,
            example_header=header.strip("\n"),
            example_answer=answer.strip("\n"),
            description=NO_WORDS if arm == "header" else description,
            header=shown.strip("\n"),
        )

    def program(self, arm: Arm, code: str) -> str:
        """The whole program that an answer's code makes."""
        own = renamed(code, NEUTRAL, self.header.name) if arm == "unnamed" else code
        return LANGUAGES[self.target].placed(self.header, own)


def neutral_header(header: Header, language: Language) -> str:
    """A header under the neutral name, and without types where the language can do without."""
    text = header.text
    if language == "python":
        return LANGUAGES[language].anonymous(f"{text}    pass\n", header.name).removesuffix("    pass\n")
    return LANGUAGES[language].anonymous(text, header.name)


def code_of(answer: str) -> str | None:
    """The code in an answer: its last [CODE] block, or the last fenced block in that, or the last fenced block. None: there is none."""
    block = last_block(answer, "CODE", strip=False)
    fenced = _FENCED.findall(answer if block is None else block)
    code = str(fenced[-1] if fenced else block or "").strip("\n").rstrip()
    return code if code.strip() else None


def recorded_code(answer: str) -> str | None:
    """The code in an answer that others asked for: as `code_of`, or else all of it."""
    return code_of(answer) or (answer.strip("\n").rstrip() if answer.strip() else None)


def description_of(answer: str, *, cut_off: bool) -> str | None:
    """The description in an answer; None where there is none. cut_off: the answer ended at its limit, and what is there is enough."""
    return last_block(f"{answer}[/DESCRIPTION]" if cut_off else answer, "DESCRIPTION") or None


def told_of(kind: Kind) -> tuple[Told, ...]:
    """The descriptions that are asked for."""
    return get_args(Told) if kind == "explain" else ()

"""What is asked about: a program and the header below which it is to be written; how a model is asked, and what its answers mean."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from ....analysis.corpora.benchmarks import Language
from ....inference.asking.asker import Form, Message, last_block
from ...answers import text_id
from ...asked_model import prompt_beside
from ...chains.chain import DESCRIPTIONS, Answer, Description, Question, Texts
from ...chains.copies import JAVA, PYTHON, is_copy
from ...recorded.answers import RecordedAnswer
from ...recorded.answers import Step as RecordedStep
from ...recorded.formats import recorded
from ...run import Step
from .placing.header import NEUTRAL, Header, renamed
from .placing.registry import LANGUAGES, NAMES


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """The function in one language. prompt: to where its body begins. code: all of it. named: its description with names and types."""

    prompt: str
    code: str
    named: str

    def header(self, language: Language) -> Header:
        """What the prompt gives."""
        return LANGUAGES[language].header_of(self.prompt, None)


# Without names and types, in any language.
UNNAMED = (
    "Begin a count at zero. Go through the first argument, a sequence, and add one to the count for each element that is greater than the "
    "second argument. The result is the count."
)
_NAMED = (
    "The function {name} takes two arguments, {values} and {limit}, and returns {result}. It begins a count at zero, goes through values, "
    "and adds one to the count for each element that is greater than limit. It returns the count."
)
_PYTHON = "def count_above(values, limit):\n"
_JAVA = "import java.util.*;\n\nclass Solution {\n    public int countAbove(List<Integer> values, int limit) {\n"
_JAVASCRIPT = "const countAbove = (values, limit) => {\n"

EXAMPLES: Mapping[Language, WorkedExample] = {
    "python": WorkedExample(
        _PYTHON,
        f"{_PYTHON}    count = 0\n    for value in values:\n        if value > limit:\n            count += 1\n    return count\n",
        _NAMED.format(name="count_above", values="values (a list of numbers)", limit="limit (a number)", result="an int"),
    ),
    "java": WorkedExample(
        _JAVA,
        f"{_JAVA}        int count = 0;\n        for (int value : values) {{\n            if (value > limit) {{\n                count++;\n"
        "            }\n        }\n        return count;\n    }\n}\n",
        _NAMED.format(
            name="countAbove, a public method of the class Solution,", values="List<Integer> values", limit="int limit", result="an int"
        ),
    ),
    "javascript": WorkedExample(
        _JAVASCRIPT,
        f"{_JAVASCRIPT}  let count = 0;\n  for (const value of values) {{\n    if (value > limit) {{\n      count++;\n    }}\n  }}\n"
        "  return count;\n};\n",
        _NAMED.format(name="countAbove", values="values (an array of numbers)", limit="limit (a number)", result="a number"),
    ),
}


# translate: code becomes code of another language. explain: code becomes words, and these code of the same language. complete: a recorded
# completion of a published prompt.
Kind = Literal["translate", "explain", "complete"]
# How code is asked for. named: from a description with names and types, as the paper does, and without a header. unnamed: from one
# without, below a header whose function has a neutral name. header: from the header alone.
Arm = Literal["translation", "named", "unnamed", "header", "completion"]
Told = Literal["named", "unnamed"]
# Of each kind, first the one that its summary tells of, and that recorded answers are of.
ARMS: Mapping[Kind, tuple[Arm, ...]] = {
    "translate": ("translation",),
    "explain": ("named", "unnamed", "header"),
    "complete": ("completion",),
}
# unreadable: no code is in the answer, and nothing is run.
Ending = Literal["passes", "wrong", "crash", "time", "does_not_compile", "unreadable"]
ENDINGS: tuple[Ending, ...] = get_args(Ending)
TOLD: tuple[Told, ...] = get_args(Told)
# Words of a program that are no names, for what is a copy of it.
KEYWORDS: Mapping[Language, frozenset[str]] = {"python": PYTHON, "java": JAVA}
PROMPTS = ("translate", "describe_named", "describe_unnamed", "rebuild_named", "rebuild_header")
prompt = partial(prompt_beside, __file__)
NO_WORDS = "Implement this function."

_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
# Of the languages that are translated to.
_LABEL = re.compile(rf"\A(?:py|js|{'|'.join(LANGUAGES)})[ \t]*\n", re.IGNORECASE)


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

    def is_recited_by(self, arm: str, description: str) -> bool:
        """Whether a description is the code over again."""
        return is_copy(description, self.described_body("named" if arm == "named" else "unnamed"), KEYWORDS.get(self.target, JAVA))

    def code_in(self, answer: str) -> str | None:
        """The code in an answer."""
        return code_of(answer)

    def label_id(self, arm: str, text: str) -> str | None:
        """The id of the label of the program that a text makes, for the item's test: equal programs have one."""
        return text_id(f"{self.set}-{self.target}/{self.problem.partition('/')[2]}:{self.tests}", self.program(arm, text))

    def scores(self, text: str | None, label: Mapping[str, Any]) -> dict[str, float]:
        """By each ending, whether it is that."""
        ending = "unreadable" if text is None else label.get("ending")
        return {} if ending is None else {each: float(each == ending) for each in ENDINGS}

    @property
    def place(self) -> str:
        """Its set and its languages, as in the id of a cell."""
        return f"{self.set}/{self.target}" if self.source in (None, self.target) else f"{self.set}/{self.source}-{self.target}"

    def program(self, arm: str, code: str) -> str:
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
    """The code in an answer: its last [CODE] block, or the last fenced block in that, or the last fenced block. None: there is none.

    A first line that only names a language is the label of a fence that the model left out.
    """
    block = last_block(answer, "CODE", strip=False)
    fenced = _FENCED.findall(answer if block is None else block)
    code = _LABEL.sub("", str(fenced[-1] if fenced else block or "").strip("\n").rstrip())
    return code if code.strip() else None


def recorded_code(answer: str) -> str | None:
    """The code in an answer that others asked for: as `code_of`, or else all of it."""
    return code_of(answer) or (answer.strip("\n").rstrip() if answer.strip() else None)


# One answer is greedy, as the paper's code is where it says how it asks: so that the run can be made again. Several are drawn.
DRAWN_AT = 0.2
# As the paper cuts a description. Its answers are cut there, too, which ends long programs of Java.
DESCRIBE_TOKENS, CODE_TOKENS = 500, 1024
STEP_OF: Mapping[Kind, RecordedStep] = {"translate": "translate", "explain": "rebuild", "complete": "draw"}


def prompts_of(form: Form) -> str:
    """The fingerprint of all that is the same in each question of a form."""
    examples = [text for example in EXAMPLES.values() for text in (example.prompt, example.code, example.named)]
    numbers = map(str, (DRAWN_AT, DESCRIBE_TOKENS, CODE_TOKENS))
    told = [form, *numbers, NO_WORDS, UNNAMED, *examples, *(prompt(name).fingerprint for name in PROMPTS)]
    return hashlib.sha256("\0".join(told).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Plan:
    """How often is asked. draws: answers to each question."""

    draws: int = 1
    seed: int = 0
    max_description: ClassVar[None] = None

    @property
    def temperature(self) -> float:
        """Of each answer."""
        return DRAWN_AT * (self.draws > 1)

    def to_describe(self, item: Item) -> Iterator[Question]:
        """The questions for descriptions, with names and without."""
        for told in TOLD:
            yield Question(told, item.to_describe(told), "[/DESCRIPTION]", DESCRIBE_TOKENS, self.draws, self.temperature, self.seed)

    def to_write(self, item: Item, texts: Texts) -> Iterator[Question]:
        """The questions for code."""
        asked: list[tuple[Arm, int, tuple[Message, ...], int]]
        if item.kind == "translate":
            asked = [("translation", 0, item.to_translate(), self.draws)]
        else:
            told = [(arm, of, text) for arm in TOLD for of, text in enumerate(texts.get(arm, ()))]
            asked = [(arm, of, item.to_rebuild(arm, text), 1) for arm, of, text in told if text is not None]
            asked.append(("header", 0, item.to_rebuild("header", ""), self.draws))
        for arm, of, messages, n in asked:
            yield Question(arm, messages, "[/CODE]", CODE_TOKENS, n, self.temperature, self.seed + of, of)


def played(paths: Sequence[Path], step: Step) -> Callable[[Item], dict[str, Any]]:
    """A worker's function that gives what was recorded of a step, in a model's place."""
    files = [recorded(path) for path in paths]

    def of(item: Item, name: RecordedStep) -> list[RecordedAnswer]:
        return next((answers for file in files if (answers := file.of(item.id, name))), [])

    def describe(item: Item) -> dict[str, Any]:
        found = [
            Description(arm="named", text=each.text.strip() or None, said=each.text, stopped_by=each.stopped_by)
            for each in of(item, "describe")
        ]
        return {"id": item.id, "descriptions": found}

    def write(item: Item) -> dict[str, Any]:
        found = [
            Answer(arm=ARMS[item.kind][0], of=number, text=recorded_code(each.text), said=each.text, stopped_by=each.stopped_by)
            for number, each in enumerate(of(item, STEP_OF[item.kind]))
        ]
        return {"id": item.id, "answers": found}

    return describe if step == DESCRIPTIONS else write

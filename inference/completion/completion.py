"""One completion at a place in a document: what the live engine shows and what the studies measure, by the same code."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import accumulate, islice
from typing import Literal, Protocol, runtime_checkable

from ..model import Cancel, Generation, Layout, Model, OnToken, Prompt, StopReason, Token
from ..stopping.statements import whole_statements
from ..stopping.stops import LINE, Stop, indentation
from .context import Shown, fit_extra, shown

Kind = Literal["line", "block", "function"]
Task = Literal["line", "line_rest", "line_middle", "block", "function"]

# Told the text so far at each token.
OnText = Callable[[str], None]

# Part of every settings' fingerprint: raised whenever what the model is shown changes, or how a text is cut that is shown. That some
# texts are not shown at all is no such change: the others keep their text and their measures.
VERSIONS: dict[Kind, int] = {"line": 1, "block": 2, "function": 1}
# So many newlines below the cursor are looked at for the next lines that are not blank.
_MOST_BLANK_LINES = 64
# BOS and the three fill-in-the-middle tokens.
_CONTROL_TOKENS = 4

_LINE_END = re.compile(r"[\r\n]")
_NEXT_LINE = re.compile(r"[\r\n]([^\r\n]*)")
_OPENS_A_BLOCK = re.compile(r":[ \t]*(#.*)?$|\{[ \t]*(//.*|/\*.*\*/[ \t]*)?$")
# What begins a function, in the languages that have a word for it.
_FUNCTION = re.compile(
    r"\s*(?:(?:async|export|default|pub(?:\([\w ]*\))?|unsafe|const|local|inline|static|public|private|protected|internal|override)\s+)*"
    r"(?:def|function|fn|func|fun|sub|proc)\b"
)
_CLOSING_LINE = re.compile(r"\s*[)\]}]")
# Ends that came in the middle of something, and those behind which there are tokens that are not of the text.
_UNFINISHED = {StopReason.TOKENS, StopReason.TIME, StopReason.REPETITION}
_OVERSHOT = _UNFINISHED | {StopReason.SUFFIX}
_OPENING = {")": "(", "]": "[", "}": "{"}


@runtime_checkable
class CountsTokens(Protocol):
    """A model that counts tokens with less ado than by giving them out: one behind a server, where each text would be a request."""

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has."""
        ...


@runtime_checkable
class SpellsPrompts(Protocol):
    """A model in this process, which can say what its tokens are."""

    def prompt_text(self, prompt: Prompt) -> str:
        """A prompt as text, its control tokens spelled."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """Token budgets: of what is shown before and after the cursor, and of what is written. Decoding is greedy.

    head_tokens: of the prefix's, kept for the file's first lines where the prefix is cut. extra_tokens: of other files, besides the
    prefix's and the suffix's. Both are 0 because the embedded model is none the better for them (docs/context.md).

    line_tokens, block_tokens, function_tokens: of what is written, by what is asked for.

    A model whose context is smaller gets all shown parts cut in proportion.
    """

    prefix_tokens: int = 560
    suffix_tokens: int = 240
    head_tokens: int = 0
    extra_tokens: int = 0
    line_tokens: int = 64
    block_tokens: int = 160
    function_tokens: int = 256

    @property
    def shown_tokens(self) -> int:
        """Of all parts that are shown together."""
        return self.prefix_tokens + self.suffix_tokens + self.extra_tokens

    def fits(self, context_length: int, kind: Kind = "line") -> bool:
        """Whether a model's context holds all that is shown and written where this kind is asked for."""
        new = max(self.line_tokens, self.block_tokens)
        if kind == "function":
            new = max(new, self.function_tokens)
        return context_length >= self.shown_tokens + new + _CONTROL_TOKENS

    def fingerprint(self, layout: Layout, context_length: int, kind: Kind = "line") -> str:
        """16 hex digits over all that decides what a model is shown and how its text is taken: a calibrator holds for one of these.

        The model's context is part of it where the budgets don't fit into it; function_tokens only where functions are asked for.
        """
        return _fingerprint(self, layout, context_length, kind)


# Asked for at each keystroke.
@lru_cache
def _fingerprint(settings: Settings, layout: Layout, context_length: int, kind: Kind) -> str:
    # What is not shown at all decides nothing: a calibrator fitted before it could be goes on holding.
    budgets = {name: tokens for name, tokens in asdict(settings).items() if tokens or name not in ("head_tokens", "extra_tokens")}
    if kind != "function":
        del budgets["function_tokens"]
    decides = {**budgets, "layout": layout, "decoding": "greedy", "version": VERSIONS[kind]}
    if not settings.fits(context_length, kind):
        decides["context_length"] = context_length
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a model can be shown besides the text around the cursor, as far as the settings have a budget for it.

    head: the beginning of the document, `context.head_characters` of it, where the prefix that is given does not reach up to it. path:
    the document's, as the model reads it. extra: path and text of pieces of other files, in an order that typing does not change.
    """

    head: str = ""
    path: str = ""
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """What a model is shown, cut to its budgets, with newlines as it reads them; left_out: paths of extra pieces that did not fit."""

    document: Shown
    path: str
    extra: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]


def task_of(prefix: str, suffix: str, kind: Kind) -> Task:
    """What is asked of the model at a place.

    "line": a whole line (only white space around the cursor on its line); "line_rest": the rest of a line; "line_middle": text stands
    behind the cursor on its line; "block", "function": any of these.
    """
    if kind != "line":
        return kind
    if rest_of_line(suffix).strip():
        return "line_middle"
    return "line_rest" if start_of_line(prefix).strip() else "line"


def kind_of(task: str) -> Kind:
    """The kind of text that a task asks for."""
    return "block" if task == "block" else "function" if task == "function" else "line"


def start_of_line(prefix: str) -> str:
    """What stands before the cursor on its line."""
    return prefix[max(prefix.rfind("\n"), prefix.rfind("\r")) + 1 :]


def rest_of_line(suffix: str) -> str:
    """What stands behind the cursor on its line."""
    return _LINE_END.split(suffix, maxsplit=1)[0]


def block_indent(prefix: str) -> int:
    """The indentation, in columns, that the block at the end of the prefix has at least.

    It is that of the cursor's line. Where the last line that is not blank ends with a colon or a brace, a block begins there and is deeper
    than that line, however far the cursor's own line is indented yet. (At column 0 and with neither a block has no end but the text's.)
    """
    own = indentation(start_of_line(prefix))
    opener = start_of_line(prefix.rstrip())
    return max(own, indentation(opener) + 1) if _OPENS_A_BLOCK.search(opener) else own


def function_indent(prefix: str) -> int:
    """The indentation, in columns, that the body of the function around the cursor has at least; where there is none, as `block_indent`.

    The function is the nearest line above, or the cursor's own, that begins one and is indented less than all between.
    """
    lines = _LINE_END.split(prefix)
    if _FUNCTION.match(lines[-1]):
        return indentation(lines[-1]) + 1
    least = block_indent(prefix)
    for line in reversed(lines[:-1]):
        if least == 0:
            break
        own = indentation(line)
        # The line that closes a signature is as deep as the one that opens it.
        if own < least and line.strip() and not _CLOSING_LINE.match(line):
            if _FUNCTION.match(line):
                return own + 1
            least = own
    return block_indent(prefix)


def next_lines(suffix: str, count: int) -> tuple[str, ...]:
    """The first lines below the cursor's that are not blank."""
    lines = (match[1].rstrip() for match in islice(_NEXT_LINE.finditer(suffix), _MOST_BLANK_LINES))
    return tuple(islice(filter(None, lines), count))


def without_overlap(text: str, rest: str) -> str:
    """The text without an end that repeats the beginning of what already stands behind the cursor on its line.

    The longest such end is left out that neither splits a word nor takes away a bracket's partner: before `)` the text `x)` becomes `x`,
    `f()` stays. Brackets in string literals count like any others.
    """
    for size in range(min(len(text), len(rest)), 0, -1):
        body, end = text[:-size], text[-size:]
        if rest.startswith(end) and not _splits_a_word(body, end) and not _splits_a_word(end, rest[size:]) and not _unclosed(body):
            return body
    return text


def complete(
    model: Model,
    prefix: str,
    suffix: str,
    *,
    kind: Kind = "line",
    settings: Settings | None = None,
    surroundings: Surroundings | None = None,
    max_ms: float | None = None,
    cancel: Cancel | None = None,
    on_text: OnText | None = None,
) -> Generation:
    r"""What the model would write between prefix and suffix (the whole document's, of any length), greedily.

    The model is shown, and writes, `\n` for every kind of newline. Left out of the generation's text (their tokens stay) are the space
    or tab that the prefix ends with and, in a line with text behind the cursor, what the model repeats of that. on_text is told the text
    as it grows, its end not yet cut by any rule. Raises what `Model.generate` raises.

    What a budget or a loop ended has no end of its own. Of a line nothing is left then, and its tokens stay; a block or a function is cut
    back to its last whole statement. A text that is cut back, or ended by the lines behind it, keeps the tokens that it is made of and
    none for its end: measures then say how sure the model was of what is written, not that it ends there. Where nothing is left, all
    tokens stay.
    """
    return complete_several(
        model,
        prefix,
        suffix,
        kind=kind,
        settings=settings,
        surroundings=surroundings,
        max_ms=max_ms,
        cancel=cancel,
        on_text=on_text,
    )[0]


def complete_several(
    model: Model,
    prefix: str,
    suffix: str,
    *,
    kind: Kind = "line",
    settings: Settings | None = None,
    surroundings: Surroundings | None = None,
    max_ms: float | None = None,
    cancel: Cancel | None = None,
    on_text: OnText | None = None,
    count: int = 1,
) -> tuple[Generation, ...]:
    """`count` generations as `complete` makes them: number i begins with the i-th most likely token. Several may have one text."""
    settings = settings or Settings()
    prompt = prompt_at(model, prefix, suffix, kind=kind, settings=settings, surroundings=surroundings)
    stop, most = _stop(prefix, suffix, kind), _new_tokens(model, settings, kind)
    tell = None if on_text is None else _told(on_text, _held_back(prefix))
    if count == 1:
        made = [model.generate(prompt, stop=stop, max_tokens=most, max_ms=max_ms, cancel=cancel, on_token=tell)]
    else:
        first = None if tell is None else lambda number, token, text: number == 0 and tell(token, text)
        made = model.alternatives(prompt, count, stop=stop, max_tokens=most, max_ms=max_ms, cancel=cancel, on_token=first)
    return tuple(_cut(each, prefix, suffix, kind) for each in made)


def _cut(generation: Generation, prefix: str, suffix: str, kind: Kind) -> Generation:
    """What of a generation `complete` gives."""
    held_back = _held_back(prefix)
    text, tokens = generation.text, generation.tokens
    if generation.stopped_by in _UNFINISHED:
        # A loop leaves a block's lines whole, a budget may end in one.
        end = "\n" if generation.stopped_by is StopReason.REPETITION else ""
        text = "" if kind == "line" else whole_statements(text + end, prefix.removesuffix(held_back))
    if kind != "line" and text and generation.stopped_by in _OVERSHOT:
        tokens = _first_tokens(tokens, len(text.encode()))
    text = text.removeprefix(held_back)
    if task_of(prefix, suffix, kind) == "line_middle":
        text = without_overlap(text, rest_of_line(suffix))
    return replace(generation, text=text, tokens=tokens)


def prompt_at(
    model: Model,
    prefix: str,
    suffix: str,
    *,
    kind: Kind = "line",
    settings: Settings | None = None,
    surroundings: Surroundings | None = None,
) -> Prompt:
    """What `complete` gives the model: `context_at`, laid out."""
    return prompt_of(model, context_at(model, prefix, suffix, kind=kind, settings=settings, surroundings=surroundings))


def prompt_of(model: Model, context: Context) -> Prompt:
    """A context as the model's prompt."""
    return model.fim(context.document.before, context.document.suffix, context.extra, context.path)


def context_at(
    model: Model,
    prefix: str,
    suffix: str,
    *,
    kind: Kind = "line",
    settings: Settings | None = None,
    surroundings: Surroundings | None = None,
) -> Context:
    """What the model is shown at a place: as much of all parts as the budgets hold, without the space that the prefix ends with."""
    surroundings = surroundings or Surroundings()
    budget = _budgets(model, settings or Settings(), kind)
    prefix = prefix.removesuffix(_held_back(prefix))
    suffix = "" if model.layout == "left_to_right" else suffix

    def count(text: str) -> int:
        return count_tokens(model, _newlines(text))

    found = shown(count, prefix, suffix, budget.prefix_tokens, budget.suffix_tokens, surroundings.head, budget.head_tokens)
    extra = fit_extra(count, surroundings.extra, surroundings.path, budget.extra_tokens)
    return Context(
        Shown(_newlines(found.head), _newlines(found.prefix), _newlines(found.suffix)),
        surroundings.path,
        tuple((path, _newlines(text)) for path, text in extra),
        tuple(path for path, _ in surroundings.extra[len(extra) :]),
    )


def prompt_text(model: Model, prompt: Prompt) -> str | None:
    """A prompt as text, control tokens spelled; None where the model is behind a server, which alone knows."""
    return model.prompt_text(prompt) if isinstance(model, SpellsPrompts) else None


def count_tokens(model: Model, text: str) -> int:
    """How many tokens a text has, by the model's shortest way."""
    return model.count_tokens(text) if isinstance(model, CountsTokens) else len(model.tokenize(text))


def _stop(prefix: str, suffix: str, kind: Kind) -> Stop:
    if kind == "line":
        return LINE
    indent = block_indent(prefix) if kind == "block" else function_indent(prefix)
    return Stop("block", indent, start_of_line(prefix).removesuffix(_held_back(prefix)), next_lines(suffix, 2))


def _first_tokens(tokens: tuple[Token, ...], size: int) -> tuple[Token, ...]:
    """The tokens that the first `size` bytes of the text are made of."""
    reached = accumulate(len(token.text) for token in tokens)
    return tokens[: next((count for count, bytes in enumerate(reached, 1) if bytes >= size), len(tokens))]


def _held_back(prefix: str) -> str:
    """The space or tab that the prefix ends with, if it does.

    A tokenizer takes it together with the word behind it, so a prompt that ends with it ends as no text does that was learned from. It is
    left out of the prompt, and out of the text where the model writes it first.
    """
    return prefix[-1:] if prefix[-1:] in (" ", "\t") else ""


def _told(on_text: OnText, held_back: str) -> OnToken:
    def on_token(_: Token, text: str) -> bool:
        on_text(text.removeprefix(held_back))
        return False

    return on_token


def _budgets(model: Model, settings: Settings, kind: Kind) -> Settings:
    """The settings as far as the model's context allows."""
    room = model.context_length - _CONTROL_TOKENS
    new = _new_tokens(model, settings, kind)
    wanted, left = settings.shown_tokens, max(0, room - new)
    if wanted <= left:
        return settings
    return replace(
        settings,
        prefix_tokens=settings.prefix_tokens * left // wanted,
        suffix_tokens=settings.suffix_tokens * left // wanted,
        head_tokens=settings.head_tokens * left // wanted,
        extra_tokens=settings.extra_tokens * left // wanted,
    )


def _new_tokens(model: Model, settings: Settings, kind: Kind) -> int:
    """Tokens to write, at most half of the model's context."""
    wanted = {"line": settings.line_tokens, "block": settings.block_tokens, "function": settings.function_tokens}[kind]
    return max(1, min(wanted, (model.context_length - _CONTROL_TOKENS) // 2))


def _newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _splits_a_word(left: str, right: str) -> bool:
    return bool(left and right) and (left[-1].isalnum() or left[-1] == "_") and (right[0].isalnum() or right[0] == "_")


def _unclosed(text: str) -> bool:
    """Whether a bracket that the text opens is still open at its end."""
    opened: list[str] = []
    for character in text:
        if character in _OPENING.values():
            opened.append(character)
        elif opened and _OPENING.get(character) == opened[-1]:
            opened.pop()
    return bool(opened)

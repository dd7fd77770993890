"""One completion at a place in a document: what the live engine shows and what the studies measure, by the same code."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Literal, Protocol, runtime_checkable

from .context import fit
from .model import Cancel, Generation, Layout, Model, OnToken, Prompt, Token
from .stops import LINE, Stop, indentation

Kind = Literal["line", "block"]
Task = Literal["line", "line_rest", "line_middle", "block"]

# Told the text so far at each token.
OnText = Callable[[str], None]

# Part of every settings' fingerprint: raised whenever what the model is shown, or how its text is cut, changes.
VERSION = 1
# BOS and the three fill-in-the-middle tokens.
_CONTROL_TOKENS = 4

_LINE_END = re.compile(r"[\r\n]")
_OPENS_A_BLOCK = re.compile(r":[ \t]*(#.*)?$")
_OPENING = {")": "(", "]": "[", "}": "{"}


@runtime_checkable
class CountsTokens(Protocol):
    """A model that counts tokens with less ado than by giving them out: one behind a server, where each text would be a request."""

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """Token budgets: of what is shown before and after the cursor, and of what is written. Decoding is greedy.

    A model whose context is smaller gets both shown parts cut in proportion.
    """

    prefix_tokens: int = 560
    suffix_tokens: int = 240
    line_tokens: int = 64
    block_tokens: int = 160

    def fingerprint(self, layout: Layout, context_length: int) -> str:
        """16 hex digits over all that decides what a model is shown and how its text is taken: a calibrator holds for one of these.

        The model's context is part of it where the budgets don't fit into it.
        """
        decides = {**asdict(self), "layout": layout, "decoding": "greedy", "version": VERSION}
        if context_length < self.prefix_tokens + self.suffix_tokens + max(self.line_tokens, self.block_tokens) + _CONTROL_TOKENS:
            decides["context_length"] = context_length
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:16]


def task_of(prefix: str, suffix: str, kind: Kind) -> Task:
    """What is asked of the model at a place.

    "line": a whole line (only white space around the cursor on its line); "line_rest": the rest of a line; "line_middle": text stands
    behind the cursor on its line; "block": any block.
    """
    if kind == "block":
        return "block"
    if rest_of_line(suffix).strip():
        return "line_middle"
    return "line_rest" if start_of_line(prefix).strip() else "line"


def start_of_line(prefix: str) -> str:
    """What stands before the cursor on its line."""
    return prefix[max(prefix.rfind("\n"), prefix.rfind("\r")) + 1 :]


def rest_of_line(suffix: str) -> str:
    """What stands behind the cursor on its line."""
    return _LINE_END.split(suffix, maxsplit=1)[0]


def block_indent(prefix: str) -> int:
    """The indentation, in columns, that the block at the end of the prefix has at least.

    It is that of the cursor's line. Where the last line that is not blank ends with a colon, a block begins there and is deeper than
    that line, however far the cursor's own line is indented yet. (At column 0 and with no colon a block has no end but the text's.)
    """
    own = indentation(start_of_line(prefix))
    opener = start_of_line(prefix.rstrip())
    return max(own, indentation(opener) + 1) if _OPENS_A_BLOCK.search(opener) else own


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
    max_ms: float | None = None,
    cancel: Cancel | None = None,
    on_text: OnText | None = None,
) -> Generation:
    r"""What the model would write between prefix and suffix (the whole document's, of any length), greedily.

    The model is shown, and writes, `\n` for every kind of newline. Left out of the generation's text (their tokens stay) are the space
    or tab that the prefix ends with and, in a line with text behind the cursor, what the model repeats of that. on_text is told the text
    as it grows, its end not yet cut by any rule. Raises what `Model.generate` raises.
    """
    settings = settings or Settings()
    held_back = _held_back(prefix)
    stop = Stop("block", block_indent(prefix)) if kind == "block" else LINE
    generation = model.generate(
        prompt_at(model, prefix, suffix, kind=kind, settings=settings),
        stop=stop,
        max_tokens=_budgets(model, settings, kind)[2],
        max_ms=max_ms,
        cancel=cancel,
        on_token=None if on_text is None else _told(on_text, held_back),
    )
    text = generation.text.removeprefix(held_back)
    if task_of(prefix, suffix, kind) == "line_middle":
        text = without_overlap(text, rest_of_line(suffix))
    return replace(generation, text=text)


def prompt_at(model: Model, prefix: str, suffix: str, *, kind: Kind = "line", settings: Settings | None = None) -> Prompt:
    """What `complete` gives the model: as much of prefix and suffix as the budgets hold, without the space that the prefix ends with."""
    before, after, _ = _budgets(model, settings or Settings(), kind)
    prefix = prefix.removesuffix(_held_back(prefix))
    suffix = "" if model.layout == "left_to_right" else suffix
    count = model.count_tokens if isinstance(model, CountsTokens) else lambda text: len(model.tokenize(text))
    shown_prefix, shown_suffix = fit(lambda text: count(_newlines(text)), prefix, suffix, before, after)
    return model.fim(_newlines(shown_prefix), _newlines(shown_suffix))


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


def _budgets(model: Model, settings: Settings, kind: Kind) -> tuple[int, int, int]:
    """Tokens to show before and after the cursor, and to write, as the model's context allows."""
    room = model.context_length - _CONTROL_TOKENS
    new = max(1, min(settings.block_tokens if kind == "block" else settings.line_tokens, room // 2))
    shown, left = settings.prefix_tokens + settings.suffix_tokens, max(0, room - new)
    if shown <= left:
        return settings.prefix_tokens, settings.suffix_tokens, new
    return settings.prefix_tokens * left // shown, settings.suffix_tokens * left // shown, new


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

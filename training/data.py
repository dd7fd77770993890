"""Rows of tokens to train on: pieces of files, most of them cut for filling in the middle.

A piece is a run of whole lines of one file. Left to right it is its text. For filling in the middle (Bavarian et al., arXiv 2207.14255) a
span is cut out, and the piece is laid out

    PSM   <prefix> before <suffix> after <middle> cut <end>
    SPM   <prefix> <suffix> after <middle> before cut <end>

Assay asks in SPM (GGUF key `assay.fim.layout`): typing changes only the end of the prompt, and a small model continues `before` in place
instead of having to find its end again. Pieces are packed into rows of one length.

A cursor may stand anywhere, also inside a word. But a prompt ends before the pre-token at the cursor (token healing), so a span begins
there too: `before` never ends in the middle of what the tokenizer would have joined.

FIX_SHARE of the tokens are lines to mend with their answers (fixes.py). Real code in these prompts is learned as elsewhere. A line with a
bug and the control token have weight 0: they must never be generated.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from .fixes import Fix, drawn
from .tokenizer import END, FIX, MIDDLE, PREFIX, SUFFIX, for_text, pre_token_start

# Of the tokens. What is left is for filling in the middle.
PLAIN_SHARE = 0.10
FIX_SHARE = 0.05
SPM_SHARE = 0.75  # of the pieces that are cut; the rest are PSM, which other tools ask in
CHARACTERS_PER_TOKEN = 3.5  # only to choose how long a piece to read
MIN_ROOM = 48  # tokens: a piece that is cut has some text on both sides
ANSWER_WEIGHT = 4.0  # of a token of a mended line, which mostly repeats the one shown

Kind = Literal["plain", "cut", "fix"]
TRIES: tuple[Kind, ...] = ("cut", "cut")  # instead of a piece that has no room


@dataclass(frozen=True, slots=True)
class Cut:
    before: str
    middle: str
    after: str


def cut(text: str, rng: random.Random) -> Cut:
    """Cut a span out as an editor would ask for it: the rest of a line, part of a line, some lines, or any run of characters.

    What begins at the cursor joins the last pre-token before it, as that is found without the text behind the cursor.
    """
    cursor, end = span(text, rng)
    start = pre_token_start(text[:cursor])
    return Cut(text[:start], text[start:end], text[end:])


def span(text: str, rng: random.Random) -> tuple[int, int]:
    """From a cursor to where the text behind it goes on."""
    lines = text.splitlines(keepends=True)
    starts = np.cumsum([0, *map(len, lines)]).tolist()
    written = [i for i, line in enumerate(lines) if line.strip()]
    i = rng.choice(written)
    body = lines[i].rstrip("\r\n")
    indent = len(body) - len(body.lstrip())
    kind = rng.random()
    if kind < 0.45:
        column = indent if rng.random() < 0.5 else rng.randint(indent, len(body) - 1)
        return starts[i] + column, starts[i] + len(body)
    if kind < 0.60:
        a, b = sorted((rng.randint(indent, len(body)), rng.randint(indent, len(body))))
        return starts[i] + a, starts[i] + b
    if kind < 0.85:
        last = min(i + rng.randint(0, 7), len(lines) - 1)
        return starts[i] + indent, starts[last] + len(lines[last].rstrip("\r\n"))
    start = rng.randint(0, len(text))
    return start, min(len(text), start + int(rng.expovariate(1 / 150)))


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens, and the weight of each in the loss (0: none)."""

    tokens: list[int]
    weights: list[float]


class Rows:
    """An endless, seeded stream of rows. A file is drawn in proportion to its length."""

    def __init__(self, texts: list[str], tokenizer: Tokenizer, length: int, seed: int) -> None:
        self.texts, self.length, self.rng = texts, length, random.Random(seed)
        self.cumulative = np.cumsum([len(t) for t in texts])
        self.tokenizer = tokenizer
        self.for_text = for_text(tokenizer)  # control tokens are placed here by id: a file that spells one is text like any other
        ids = tokenizer.get_vocab()
        self.end, self.prefix, self.middle, self.suffix, self.fix_token = (ids[name] for name in (END, PREFIX, MIDDLE, SUFFIX, FIX))
        self.tokens: dict[Kind, int] = {"plain": 0, "cut": 0, "fix": 0}

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, control tokens spelled out as text."""
        return list(self.for_text.encode(text).ids)

    def file(self) -> str:
        """A file, drawn."""
        return self.texts[int(np.searchsorted(self.cumulative, self.rng.randrange(int(self.cumulative[-1])), side="right"))]

    def text(self, characters: int) -> str:
        """Whole lines of a file, about so many characters, one time in five from the file's start."""
        text = self.file()
        start = 0
        if len(text) > characters and self.rng.random() > 0.2:
            start = text.find("\n", self.rng.randrange(len(text) - characters)) + 1
        return text[start : max(start + 1, text.rfind("\n", start, start + characters) + 1)]

    def fim(self, c: Cut) -> list[int]:
        """A cut piece, laid out."""
        before, middle, after = self.encode(c.before), self.encode(c.middle), self.encode(c.after)
        if self.rng.random() < SPM_SHARE:
            return [self.prefix, self.suffix, *after, self.middle, *before, *middle, self.end]
        return [self.prefix, *before, self.suffix, *after, self.middle, *middle, self.end]

    def fix(self, item: Fix) -> Row:
        """A line to mend, laid out as in fixes.py."""
        before, shown, after, answer = (self.encode(text) for text in (item.before, item.shown, item.after, item.answer))
        prompt = [self.prefix, self.suffix, *after, self.middle, *before]
        question = [*shown, self.fix_token]
        weights = [*[1.0] * len(prompt), *[0.0] * len(question), *[ANSWER_WEIGHT] * len(answer), 1.0]
        return Row([*prompt, *question, *answer, self.end], weights)

    def plain_piece(self, room: int) -> Row:
        """A text from left to right, of at least one token."""
        text = self.text(int(self.rng.uniform(0.3, 1.2) * room * CHARACTERS_PER_TOKEN) + 16)
        tokens = [*self.encode(text), self.end][:room]
        return Row(tokens, [1.0] * len(tokens))

    def piece(self, kind: Kind, room: int) -> Row | None:
        """One piece; None where what was drawn is empty or has no room: text with a middle or an answer is never truncated."""
        if kind == "plain":
            return self.plain_piece(room)
        if kind == "fix":
            item = drawn(self.file(), self.rng)
            row = self.fix(item) if item else None
        else:
            text = self.text(int(self.rng.uniform(0.3, 1.0) * room * CHARACTERS_PER_TOKEN))
            tokens = self.fim(cut(text, self.rng)) if text.strip() else []
            row = Row(tokens, [1.0] * len(tokens))
        return row if row and 0 < len(row.tokens) <= room else None

    def kind(self, room: int) -> Kind:
        """The kind of the next piece: one that lacks tokens to have its share."""
        all_tokens = sum(self.tokens.values()) + 1
        if self.tokens["fix"] < FIX_SHARE * all_tokens and room > self.length // 2:
            return "fix"
        return "plain" if room < MIN_ROOM or self.tokens["plain"] < PLAIN_SHARE * all_tokens else "cut"

    def next_piece(self, room: int) -> tuple[Kind, Row]:
        """A piece that fits, and its kind."""
        for kind in (self.kind(room), *TRIES):
            if piece := self.piece(kind, room):
                return kind, piece
        return "plain", self.plain_piece(min(room, MIN_ROOM))

    def row(self) -> Row:
        """Draw length + 1 tokens."""
        row, weights = list[int](), list[float]()
        while (room := self.length + 1 - len(row)) > 0:
            kind, piece = self.next_piece(room)
            row += piece.tokens
            weights += piece.weights
            self.tokens[kind] += len(piece.tokens)
        return Row(row, weights)

    def batches(self, size: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Inputs, targets and the targets' weights, each of shape (size, length)."""
        while True:
            rows = [self.row() for _ in range(size)]
            tokens, weights = torch.tensor([r.tokens for r in rows]), torch.tensor([r.weights for r in rows])
            yield tokens[:, :-1], tokens[:, 1:], weights[:, 1:]


def load(corpus: Path) -> list[str]:
    with corpus.open(encoding="utf-8") as f:
        return [json.loads(line)["text"] for line in f]

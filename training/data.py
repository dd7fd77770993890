"""Rows of tokens to train on: pieces of files, half of them cut for filling in the middle.

A piece is a run of whole lines of one file. Left to right it is its text. For filling in the middle (Bavarian et al., arXiv 2207.14255) a
span is cut out by characters, so that a cursor may stand inside a word, and the piece is laid out

    PSM   <prefix> before <suffix> after <middle> cut <end>
    SPM   <prefix> <suffix> after <middle> before cut <end>

SPM is the layout that Assay asks in (GGUF key `assay.fim.layout`): what is typed changes only the prompt's end, and a small model continues
`before` in place instead of having to find its end again. Pieces are packed into rows of one length.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from .tokenizer import END, MIDDLE, PREFIX, SUFFIX, for_text

FIM_SHARE = 0.5  # of the pieces
SPM_SHARE = 0.75  # of those that are cut; the rest are PSM, which other tools ask in
CHARACTERS_PER_TOKEN = 3.5  # only to choose how long a piece to read


@dataclass(frozen=True, slots=True)
class Cut:
    before: str
    middle: str
    after: str


def cut(text: str, rng: random.Random) -> Cut:
    """A span such as an editor asks for: the rest of a line, part of a line, some lines, or any run of characters."""
    lines = text.splitlines(keepends=True)
    starts = np.cumsum([0, *map(len, lines)]).tolist()
    written = [i for i, line in enumerate(lines) if line.strip()]
    i = rng.choice(written)
    body = lines[i].rstrip("\r\n")
    indent = len(body) - len(body.lstrip())
    kind = rng.random()
    if kind < 0.45:
        column = indent if rng.random() < 0.5 else rng.randint(indent, len(body) - 1)
        start, end = starts[i] + column, starts[i] + len(body)
    elif kind < 0.60:
        a, b = sorted((rng.randint(indent, len(body)), rng.randint(indent, len(body))))
        start, end = starts[i] + a, starts[i] + b
    elif kind < 0.85:
        last = min(i + rng.randint(0, 7), len(lines) - 1)
        start, end = starts[i] + indent, starts[last] + len(lines[last].rstrip("\r\n"))
    else:
        start = rng.randint(0, len(text))
        end = min(len(text), start + int(rng.expovariate(1 / 150)))
    # The white space before a word is part of its token: `before` never ends with it, neither here nor in inference/completion.py.
    if 0 < start < end and text[start - 1] in " \t":
        start -= 1
    return Cut(text[:start], text[start:end], text[end:])


class Rows:
    """An endless, seeded stream of rows. One file is drawn in proportion to its length."""

    def __init__(self, texts: list[str], tokenizer: Tokenizer, length: int, seed: int) -> None:
        self.texts, self.length, self.rng = texts, length, random.Random(seed)
        self.cumulative = np.cumsum([len(t) for t in texts])
        self.tokenizer = tokenizer
        plain = for_text(tokenizer)  # control tokens are placed here by id: a file that spells one is text like any other
        self.encode: Callable[[str], list[int]] = lambda text: list(plain.encode(text).ids)
        ids = tokenizer.get_vocab()
        self.end, self.prefix, self.middle, self.suffix = ids[END], ids[PREFIX], ids[MIDDLE], ids[SUFFIX]

    def text(self, characters: int) -> str:
        """Whole lines of a random file, about so many characters, from the file's start one time in five."""
        text = self.texts[int(np.searchsorted(self.cumulative, self.rng.randrange(int(self.cumulative[-1])), side="right"))]
        start = 0
        if len(text) > characters and self.rng.random() > 0.2:
            start = text.find("\n", self.rng.randrange(len(text) - characters)) + 1
        return text[start : max(start + 1, text.rfind("\n", start, start + characters) + 1)]

    def fim(self, c: Cut) -> list[int]:
        before, middle, after = self.encode(c.before), self.encode(c.middle), self.encode(c.after)
        if self.rng.random() < SPM_SHARE:
            return [self.prefix, self.suffix, *after, self.middle, *before, *middle, self.end]
        return [self.prefix, *before, self.suffix, *after, self.middle, *middle, self.end]

    def row(self) -> list[int]:
        """length + 1 tokens. A cut piece is never truncated (it would lose its middle): where it does not fit, plain text fills the row."""
        row: list[int] = []
        while (room := self.length + 1 - len(row)) > 0:
            if self.rng.random() < FIM_SHARE and room > 64:
                text = self.text(int(self.rng.uniform(0.1, 0.95) * room * CHARACTERS_PER_TOKEN))
                if text.strip() and len(piece := self.fim(cut(text, self.rng))) <= room:
                    row += piece
                    continue
            text = self.text(int(self.rng.uniform(0.3, 1.2) * room * CHARACTERS_PER_TOKEN) + 16)
            row += [*self.encode(text), self.end][:room]
        return row

    def batches(self, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Inputs and targets, (size, length) each."""
        while True:
            rows = torch.tensor([self.row() for _ in range(size)])
            yield rows[:, :-1], rows[:, 1:]


def load(corpus: Path) -> list[str]:
    with corpus.open() as f:
        return [json.loads(line)["text"] for line in f]

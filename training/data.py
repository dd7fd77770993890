"""Rows of tokens to train on: pieces of files, half of them cut for filling in the middle.

A piece is a run of whole lines of one file. Left to right it is its text. For filling in the middle (Bavarian et al., arXiv 2207.14255) a
span is cut out by characters, so that a cursor may stand inside a word, and the piece is laid out

    PSM   <prefix> before <suffix> after <middle> cut <end>
    SPM   <prefix> <suffix> after <middle> before cut <end>

Assay asks in SPM (GGUF key `assay.fim.layout`): typing changes only the end of the prompt, and a small model continues `before` in place
instead of having to find its end again. Pieces are packed into rows of one length.

Where there are items (tasks.py), item_share of the tokens are questions with their answers. Real code in a prompt is learned as elsewhere.
A line with a bug, a model's own text and the control token have weight 0: they must never be generated.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.utils.data import IterableDataset, get_worker_info

from .tasks import Item
from .tokenizer import DESCRIBE, END, FIX, IMPLEMENT, JUDGE, MIDDLE, PREFIX, SUFFIX, for_text, token_start

FIM_SHARE = 0.5  # of the pieces
SPM_SHARE = 0.75  # of those that are cut; the rest are PSM, which other tools ask in
CHARACTERS_PER_TOKEN = 3.5  # only to choose how long a piece to read
WORKER_SEEDS = 10_000_019  # between the seeds of two workers: more than a run has steps

# Of the items, by task and kind. Every kind of bug counts the same. In use a model judges its own texts, so those that are right are drawn
# far more often than they are made: with real lines alone, "unlike my own" would be a reason for True.
ITEM_SHARES: Mapping[tuple[str, str], float] = {
    ("implement", ""): 0.15,
    ("describe", ""): 0.20,
    ("fix", "comparison"): 0.05,
    ("fix", "arguments"): 0.05,
    ("fix", "name"): 0.05,
    ("fix", "else"): 0.05,
    ("fix", "off_by_one"): 0.05,
    ("fix", "none"): 0.05,
    ("judge", "wrong"): 0.16,
    ("judge", "right"): 0.12,
    ("judge", "real"): 0.07,
}
CONTROL = {"implement": IMPLEMENT, "describe": DESCRIBE, "fix": FIX, "judge": JUDGE}
# What a token of an answer counts: a judgement is one token behind some two hundred, a mended line mostly repeats the one shown.
ANSWER_WEIGHT = {"implement": 1.0, "describe": 3.0, "fix": 4.0, "judge": 16.0}


@dataclass(frozen=True, slots=True)
class Cut:
    before: str
    middle: str
    after: str


def cut(text: str, rng: random.Random) -> Cut:
    """Cut a span out as an editor would ask for it: the rest of a line, part of a line, some lines, or any run of characters."""
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
    if start < end:
        start = token_start(text, start)
    return Cut(text[:start], text[start:end], text[end:])


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens, and the weight of each in the loss (0: none)."""

    tokens: list[int]
    weights: list[float]


class Rows:
    """An endless, seeded stream of rows.

    A file is drawn in proportion to its length, an item by its task and kind and then evenly. item_share: of the tokens; 0 without items.
    """

    def __init__(
        self, texts: list[str], tokenizer: Tokenizer, length: int, seed: int, items: Sequence[Item] = (), item_share: float = 0.0
    ) -> None:
        self.texts, self.length, self.rng, self.item_share = texts, length, random.Random(seed), item_share
        self.cumulative = np.cumsum([len(t) for t in texts])
        self.tokenizer = tokenizer
        plain = for_text(tokenizer)  # control tokens are placed here by id: a file that spells one is text like any other
        self.encode: Callable[[str], list[int]] = lambda text: list(plain.encode(text).ids)
        self.ids = tokenizer.get_vocab()
        self.end, self.prefix, self.middle, self.suffix = (self.ids[name] for name in (END, PREFIX, MIDDLE, SUFFIX))
        self.items: dict[tuple[str, str], list[Item]] = {}
        for item in items:
            self.items.setdefault((item.task, item.kind), []).append(item)
        self.groups = [group for group in ITEM_SHARES if group in self.items]
        self.tokens = self.item_tokens = 0

    def text(self, characters: int) -> str:
        """Whole lines of a random file, about so many characters, one time in five from the file's start."""
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

    def item(self, item: Item) -> Row:
        """A question and its answer, laid out as in tasks.py."""
        before, shown, after, answer = (self.encode(text) for text in (item.before, item.shown, item.after, item.answer))
        prompt = [self.prefix, self.suffix, *after, self.middle, *before]
        question = [*shown, self.ids[CONTROL[item.task]]]
        weight = ANSWER_WEIGHT[item.task]
        weights = [*[1.0] * len(prompt), *[0.0] * len(question), *[weight] * len(answer), 1.0]
        return Row([*prompt, *question, *answer, self.end], weights)

    def drawn_item(self) -> Row:
        (group,) = self.rng.choices(self.groups, [ITEM_SHARES[g] for g in self.groups])
        return self.item(self.rng.choice(self.items[group]))

    def row(self) -> Row:
        """Draw length + 1 tokens.

        Text with a middle or an answer is never truncated, because it would lose that. Where it does not fit, plain text fills the row.
        """
        row, weights = list[int](), list[float]()
        items = 0
        while (room := self.length + 1 - len(row)) > 0:
            if self.groups and self.item_tokens + items < self.item_share * (self.tokens + len(row) + 1):
                item = self.drawn_item()
                if len(item.tokens) <= room:
                    row += item.tokens
                    weights += item.weights
                    items += len(item.tokens)
                    continue
            if self.rng.random() < FIM_SHARE and room > 64:
                text = self.text(int(self.rng.uniform(0.1, 0.95) * room * CHARACTERS_PER_TOKEN))
                if text.strip() and len(piece := self.fim(cut(text, self.rng))) <= room:
                    row += piece
                    weights += [1.0] * len(piece)
                    continue
            text = self.text(int(self.rng.uniform(0.3, 1.2) * room * CHARACTERS_PER_TOKEN) + 16)
            row += [*self.encode(text), self.end][:room]
            weights += [1.0] * (len(row) - len(weights))
        self.tokens += len(row)
        self.item_tokens += items
        return Row(row, weights)

    def batches(self, size: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Inputs, targets and the targets' weights, each of shape (size, length)."""
        while True:
            rows = [self.row() for _ in range(size)]
            tokens, weights = torch.tensor([r.tokens for r in rows]), torch.tensor([r.weights for r in rows])
            yield tokens[:, :-1], tokens[:, 1:], weights[:, 1:]


class Batches(IterableDataset[tuple[Tensor, Tensor, Tensor]]):
    """Rows.batches(size) for a DataLoader. Each worker draws rows of its own, the same for the same seed and number of workers."""

    def __init__(self, rows: Callable[..., Rows], seed: int, size: int) -> None:
        self.rows, self.seed, self.size = rows, seed, size

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        worker = get_worker_info()
        return self.rows(seed=self.seed + (worker.id * WORKER_SEEDS if worker else 0)).batches(self.size)


def load(corpus: Path) -> list[str]:
    with corpus.open(encoding="utf-8") as f:
        return [json.loads(line)["text"] for line in f]

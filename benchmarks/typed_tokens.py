"""How sure the rest of a token is once its beginning is typed: the measurement behind `_AGREES` in suggestion/remainder.py.

    python benchmarks/typed_tokens.py [--places 3000] [--model FILE.gguf]

The model continues random places of lines of CPython's own library. For each of its tokens up to the first wrong one, and for that one:
where the real text begins with the token's first k bytes (leading spaces not counted), does it have the rest of the token too? Prints the
most likely rate c of log odds logit(p) + k c, with its 95 % interval over files (bootstrap), and for each k what is predicted with it and
without, and what came true. None of the projects of the studies is looked at.
"""

from __future__ import annotations

import argparse
import random
import sysconfig
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from assay.inference.model import Model
from assay.inference.opening import EMBEDDED, open_model
from assay.suggestion.complete import complete

PER_FILE = 10
# Log odds beyond this are a certainty to start with.
CERTAIN = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A token whose first bytes were there: its log odds, and whether all of it was there."""

    file: int
    bytes: int
    log_odds: float
    right: bool


def answers(model: Model, file: int, text: str, pick: random.Random) -> list[Answer]:
    """The answers at some places of one file."""
    found = []
    for _ in range(PER_FILE):
        at = pick.randrange(len(text))
        before, after = text[:at], text[at:]
        rest, _, below = after.partition("\n")
        if not rest.strip():
            continue
        truth = (rest + "\n").encode()
        made = complete(model, before, "\n" + below)
        spelled = b"".join(token.text for token in made.tokens)
        done = 1 if before.endswith(" ") and spelled.startswith(b" ") else 0  # the space that the prompt is without
        start = 0
        for token in made.tokens:
            first = max(done, start)
            piece = token.text[first - start :]
            start += len(token.text)
            there = truth[first - done :]
            odds = token.logprob - np.log(-np.expm1(min(token.logprob, -1e-13)))
            for k in range(1, len(piece)):
                if not there.startswith(piece[:k]):
                    break
                if count := len(piece[:k].lstrip(b" ")):
                    found.append(Answer(file, count, float(min(odds, CERTAIN)), there.startswith(piece)))
            if not there.startswith(piece):
                break
    return found


def loss(c: float, odds: NDArray[np.float64], k: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    z = odds + c * k
    return float(np.logaddexp(0.0, np.where(right, -z, z)).sum())


def fitted(odds: NDArray[np.float64], k: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    return float(minimize_scalar(loss, bounds=(0.0, 10.0), args=(odds, k, right), method="bounded").x)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=3000, help="(default: %(default)s)")
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="a GGUF file (the embedded model)")
    arguments = parser.parse_args()
    pick = random.Random(0)
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    pick.shuffle(files)
    found: list[Answer] = []
    with open_model(arguments.model) as model:
        for number, file in enumerate(files[: arguments.places // PER_FILE]):
            found += answers(model, number, file.read_text(encoding="utf-8", errors="replace"), pick)
    odds, k = np.array([each.log_odds for each in found]), np.array([float(each.bytes) for each in found])
    right, group = np.array([each.right for each in found]), np.array([each.file for each in found])
    c = fitted(odds, k, right)
    rng, rows_of = np.random.default_rng(0), defaultdict(list)
    for row, each in enumerate(group):
        rows_of[each].append(row)
    groups = list(rows_of.values())
    drawn = []
    for _ in range(200):
        rows = np.concatenate([groups[i] for i in rng.integers(len(groups), size=len(groups))])
        drawn.append(fitted(odds[rows], k[rows], right[rows]))
    low, high = np.percentile(drawn, [2.5, 97.5])
    print(f"{len(found):,} beginnings of tokens in {len(groups)} files")
    print(f"c = {c:.3f} ({low:.3f} to {high:.3f}) for a byte; exp(-c) = {np.exp(-c):.3f} ({np.exp(-high):.3f} to {np.exp(-low):.3f})\n")
    print("| bytes there | n | p, mean | with c, mean | came true | c of these alone |\n|--:|--:|--:|--:|--:|--:|")
    for count in range(1, 9):
        of = k == count
        if of.sum() > 20:
            alone, with_c = 1 / (1 + np.exp(-odds[of])), 1 / (1 + np.exp(-odds[of] - c * count))
            own = fitted(odds[of], k[of], right[of])
            print(f"| {count} | {of.sum():,} | {alone.mean():.3f} | {with_c.mean():.3f} | {right[of].mean():.3f} | {own:.2f} |")


if __name__ == "__main__":
    main()

"""What a model writes at places of real code, and whether it is right: the examples from which it learns to judge (tasks.py).

    python -m training.guesses --model inference/embedded/assay.gguf --minutes 20 --out .cache/guesses.jsonl

A place is one line of a documented function, asked for whole, from inside it, or inside brackets (analysis/python/lines.py). At each the
model writes one greedy text and a few at temperature 0.8, all as an editor would ask. A text is right by exact match, as in the calibration
study.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from assay.analysis.python.lines import Gap, UnreadableSource, middle, rest, sample_lines, whole
from assay.inference.completion.context import excerpt_of
from assay.inference.completion.task import rest_of_line, task_of
from assay.inference.errors import ModelError
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.stopping.stop import LINE
from assay.suggestion.cut.overlap import without_overlap

from .paths import CACHE, there
from .places import Guess, Place
from .tokenizer import token_start

LINES_PER_FILE = 4
SAMPLED = 3
TEMPERATURE = 0.8
MAX_TOKENS = 48
# Tokens shown before and behind, at most: short prompts make more places to learn from, and an editor's are no other kind of text.
BEFORE, AFTER = (48, 320), (16, 120)


def gaps_of(source: str, seed: str) -> Iterator[Gap]:
    """One gap in each of a few documented functions, of a random kind that its line has. Raises UnreadableSource."""
    rng = random.Random(seed)
    lines = sample_lines(source, seed)
    for line in rng.sample(lines, min(LINES_PER_FILE, len(lines))):
        yield rng.choice([gap for gap in (whole(source, line), rest(source, line, seed), middle(source, line, seed)) if gap is not None])


def guess(
    model: LlamaModel, project: str, path: str, source: str, gap: Gap, *, sampled: int, before_tokens: int, after_tokens: int, seed: int
) -> Place:
    """Ask for a gap: once greedily, and `sampled` times at random."""
    start = token_start(source, gap.start)
    held, truth = source[start : gap.start], source[gap.start : gap.end].rstrip()
    found = excerpt_of(lambda text: len(model.tokenize(text)), source[:start], source[gap.end :], before_tokens, after_tokens)
    before, after = found.before, found.suffix
    prompt = model.fim(before, after)
    task = task_of(source[: gap.start], source[gap.end :], "line")
    guesses: dict[str, Guess] = {}
    for i in range(1 + sampled):
        done = model.generate(prompt, stop=LINE, max_tokens=MAX_TOKENS, temperature=TEMPERATURE if i else 0.0, seed=seed + i)
        text = done.text.removeprefix(held)
        space = done.text[: len(done.text) - len(text)]
        if task == "line_middle":
            text = without_overlap(text, rest_of_line(source[gap.end :]))
        text = text.rstrip()
        if text and space + text not in guesses:
            logprob = sum(token.logprob for token in done.tokens)
            guesses[space + text] = Guess(space + text, text == truth, i == 0, round(logprob, 4), len(done.tokens))
    return Place(project, path, task, before, after, held + truth, tuple(guesses.values()))


def places_of(
    model: LlamaModel,
    project: str,
    path: str,
    source: str,
    seed: int,
    sampled: int = SAMPLED,
    before: tuple[int, int] = BEFORE,
    after: tuple[int, int] = AFTER,
) -> Iterator[Place]:
    """The guesses at a few places of one file, the same for the same seed. None where Python does not parse it."""
    rng = random.Random(f"{seed}:{project}:{path}")
    try:
        for gap in gaps_of(source, f"{seed}:{path}"):
            before_tokens, after_tokens = rng.randint(*before), rng.randint(*after)
            budgets = {"before_tokens": before_tokens, "after_tokens": after_tokens}
            yield guess(model, project, path, source, gap, sampled=sampled, seed=rng.randrange(1 << 30), **budgets)
    except UnreadableSource:
        return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=there, required=True, help="a GGUF that is asked suffix first or prefix first")
    parser.add_argument("--corpus", type=there, default=str(CACHE / "corpus.jsonl"))
    parser.add_argument("--minutes", type=float, required=True, help="for so long; what there is at the end is written")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=CACHE / "guesses.jsonl")
    args = parser.parse_args()
    with args.corpus.open(encoding="utf-8") as f:
        files = [json.loads(line) for line in f]
    random.Random(args.seed).shuffle(files)
    try:
        print(write(args.out, args.model, files, args.minutes, args.seed, args.threads))
    except ModelError as error:
        sys.exit(str(error))


def write(path: Path, model_path: Path, files: list[dict[str, str]], minutes: float, seed: int, threads: int) -> str:
    """Write guesses for so many minutes. Returns a summary in words. Exits for a model that can't be asked; raises ModelError."""
    end = time.monotonic() + minutes * 60
    temporary = path.with_suffix(".tmp")
    places = count = right = 0
    with LlamaModel(model_path, n_ctx=1024, threads=threads) as model, temporary.open("w", encoding="utf-8") as out:
        if not model.capabilities.fim:
            sys.exit(f"{model_path} has no tokens for filling in the middle: it can't be asked as an editor asks")
        for file in files:
            if time.monotonic() >= end:
                break
            for place in places_of(model, file["project"], file["path"], file["text"], seed):
                out.write(json.dumps(asdict(place)) + "\n")
                places, count, right = places + 1, count + len(place.guesses), right + sum(g.right for g in place.guesses)
        out.flush()
        os.fsync(out.fileno())
    temporary.rename(path)
    return f"{count:,} guesses at {places:,} places in {path.name}, {right:,} right"


if __name__ == "__main__":
    main()

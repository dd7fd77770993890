"""The figures of the model card, measured on the held-out projects, beside a baseline. No file of these was trained on.

    python -m training.evaluate inference/embedded/assay.gguf --against f16.gguf --json evaluation.json

The model runs in llama.cpp, as in use. Every figure has its 95 % interval from resamples of whole projects.

    bits per byte     of the beginnings of files, as much as the context holds
    next line         one line of a documented function with its indentation given: exact match, edit similarity (scores.edit_similarity)
    span              what data.cut takes out of a piece of a file, up to 64 tokens: exact match to the character
    fix               lines mended (fix_scores.py)
    quantisation      --against the same weights in another type
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from assay.analysis.python.lines import UnreadableSource, sample_lines, whole
from assay.inference.errors import ModelError
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt
from assay.inference.stopping.stop import NONE
from assay.offline_eval.sets.projects import ProjectError, SourceFile, is_test
from assay.suggestion.complete import complete

from .corpus import held_out_files
from .data import cut
from .fix_scores import fix_figures
from .ngram import NGrams
from .paths import CACHE, there
from .scores import Figure, edit_similarity, mean, ratio
from .tokenizer import END, token_start

Figures = dict[str, Figure]
PIECE = 2500  # characters of a file that a span is cut from
SPAN_TOKENS = 64
LINE_TOKENS = 64
COMPARED_TEXTS, COMPARED_TOKENS, TOP_EVERY = 40, 512, 16


def in_turn(files: Iterable[SourceFile], seed: int) -> list[SourceFile]:
    """One file of each project in turn, in random order, so that the first n are of as many projects as possible."""
    by_project: dict[str, list[SourceFile]] = {}
    for file in files:
        by_project.setdefault(file.project, []).append(file)
    ranked = []
    for name, members in sorted(by_project.items()):
        random.Random(f"{seed}:{name}").shuffle(members)
        ranked += [(rank, name, file) for rank, file in enumerate(members)]
    return [file for _, _, file in sorted(ranked, key=lambda r: r[:2])]


def train_ngrams(model: LlamaModel, corpus: Path, megabytes: float) -> NGrams:
    """Train the baseline on about so much of the corpus: every k-th file."""
    end = model.control(END)
    assert end is not None, "a model of ours has its end token"
    every = max(1, round(corpus.stat().st_size / 1e6 / megabytes))
    tokens: list[int] = []
    with corpus.open(encoding="utf-8") as f:
        for number, line in enumerate(f):
            if number % every == 0:
                tokens += [end, *model.tokenize(json.loads(line)["text"])]
    return NGrams(tokens, model.header.number("llama.vocab_size", 0))


def language_figures(model: LlamaModel, ngrams: NGrams | None, files: Sequence[SourceFile]) -> Figures:
    nats, baseline, sizes, tokens, projects = [], [], [], [], []
    for file in files:
        ids = model.tokenize(file.text)[: model.context_length]
        nats.append(-sum(model.score(Prompt(tuple(ids[:1]), "left_to_right"), ids[1:])))
        baseline.append(-sum(ngrams.score(ids)) if ngrams else math.nan)
        sizes.append(sum(len(model.token_bytes(token)) for token in ids[1:]))
        tokens.append(len(ids) - 1)
        projects.append(file.project)
    bits = np.log(2) * np.array(sizes)
    found = {"bits per byte": ratio(nats, bits, projects, "files")}
    if ngrams:
        found["bits per byte, n-gram"] = ratio(baseline, bits, projects, "files")
    found["nats per token"] = replace(ratio(nats, tokens, projects, "tokens"), n=sum(tokens))
    return found


def line_figures(model: LlamaModel, ngrams: NGrams | None, files: Sequence[SourceFile], most: int) -> Figures:
    texts: dict[str, list[tuple[str, str]]] = {"with suffix": [], "without suffix": [], "n-gram": []}
    projects: list[str] = []
    for file in files:
        if len(projects) == most:
            break
        try:
            lines = sample_lines(file.text, file.path)
        except UnreadableSource:
            continue
        if not lines:
            continue
        gap = whole(file.text, random.Random(file.path).choice(lines))
        before, after, real = file.text[: gap.start], file.text[gap.end :], file.text[gap.start : gap.end]
        projects.append(file.project)
        texts["with suffix"].append((complete(model, before, after).text.rstrip(), real))
        texts["without suffix"].append((complete(model, before, "").text.rstrip(), real))
        if ngrams:
            begun = token_start(before, len(before))
            line = ngrams.line(model.tokenize(before[max(0, begun - 200) : begun]), model.token_bytes, LINE_TOKENS)
            texts["n-gram"].append((line.removeprefix(before[begun:]).rstrip(), real))
    found = {}
    for name, pairs in texts.items():
        if pairs:
            found[f"next line {name}: exact match"] = mean([a == b for a, b in pairs], projects, "lines")
            found[f"next line {name}: edit similarity"] = mean([edit_similarity(a, b) for a, b in pairs], projects, "lines")
    return found


def spans(model: LlamaModel, files: Iterable[SourceFile]) -> Iterator[tuple[str, str, str]]:
    """For one span of each file the project, what the model writes, and the real text."""
    for file in files:
        rng = random.Random(file.path)
        start = file.text.rfind("\n", 0, rng.randrange(max(1, len(file.text) - PIECE))) + 1
        piece = file.text[start : start + PIECE]
        if not piece.strip():
            continue
        parts = cut(piece, rng)
        prompt = model.fim(parts.before, parts.after)
        room = model.context_length - len(prompt.tokens)
        if parts.middle.strip() and len(model.tokenize(parts.middle)) <= SPAN_TOKENS < room:
            yield file.project, model.generate(prompt, stop=NONE, max_tokens=SPAN_TOKENS + 1).text, parts.middle


def span_figures(model: LlamaModel, files: Sequence[SourceFile], most: int) -> Figures:
    rows = [row for row, _ in zip(spans(model, files), range(most), strict=False)]
    projects = [project for project, _, _ in rows]
    return {
        "span: exact match": mean([a == b for _, a, b in rows], projects, "spans"),
        "span: edit similarity": mean([edit_similarity(a, b) for _, a, b in rows], projects, "spans"),
    }


def compared(model: LlamaModel, texts: Sequence[str]) -> tuple[list[list[float]], list[list[int]]]:
    """For each text the log-probabilities of its tokens, and at some places the most likely token."""
    scores, tops = [], []
    for text in texts:
        ids = model.tokenize(text)[:COMPARED_TOKENS]
        scores.append(model.score(Prompt(tuple(ids[:1]), "left_to_right"), ids[1:]))
        prompts = [Prompt(tuple(ids[:end]), "left_to_right") for end in range(TOP_EVERY, len(ids), TOP_EVERY)]
        tops.append([model.generate(prompt, stop=NONE, max_tokens=1).tokens[0].id for prompt in prompts])
    return scores, tops


def quantisation_figures(model: LlamaModel, other: LlamaModel, files: Sequence[SourceFile]) -> Figures:
    texts = [file.text for file in files]
    (scores, tops), (other_scores, other_tops) = compared(model, texts), compared(other, texts)
    projects = [file.project for file in files]
    differences = [float(np.abs(np.subtract(a, b)).sum()) for a, b in zip(scores, other_scores, strict=True)]
    same = [sum(x == y for x, y in zip(a, b, strict=True)) for a, b in zip(tops, other_tops, strict=True)]
    names = f"{model.fingerprint.quantisation} against {other.fingerprint.quantisation}"
    mean_difference = ratio(differences, [len(s) for s in scores], projects, "tokens")
    agreement = ratio(same, [len(t) for t in tops], projects, "tokens")
    return {
        f"{names}: mean |Δ log p|": replace(mean_difference, n=sum(map(len, scores))),
        f"{names}: same most likely token": replace(agreement, n=sum(map(len, tops))),
    }


def table(figures: Figures) -> str:
    """A Markdown table as in the model card."""
    rows = ["| figure | value | 95 % interval | n | projects |", "|---|---:|:---:|---:|---:|"]
    rows += [f"| {name} | {f.value:.3f} | {f.low:.3f} to {f.high:.3f} | {f.n:,} {f.unit} | {f.projects} |" for name, f in figures.items()]
    return "\n".join(rows)


def opened(path: Path, threads: int) -> LlamaModel:
    """Open a model of ours. Raises ValueError for one that lacks what is needed, and what opening raises."""
    model = LlamaModel(path, threads=threads)
    if not model.capabilities.fim or model.control(END) is None:
        raise ValueError(f"{path}: not a file that training.export wrote: it has no tokens for filling in the middle, or no {END}")
    return model


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=there, help="a GGUF that export.py wrote")
    parser.add_argument("--against", type=there, help="the same weights in another type (export.py --type f16)")
    parser.add_argument("--corpus", type=Path, default=CACHE / "corpus.jsonl", help="what the n-gram baseline learns from")
    parser.add_argument("--ngram-megabytes", type=float, default=30, help="of the corpus; 0: no baseline (default: %(default)s)")
    parser.add_argument("--files", type=int, default=200, help="for bits per byte (default: %(default)s)")
    parser.add_argument("--lines", type=int, default=300, help="to complete (default: %(default)s)")
    parser.add_argument("--spans", type=int, default=300, help="to fill in (default: %(default)s)")
    parser.add_argument("--fixes", type=int, default=200, help="lines to mend with each kind of bug (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="(default: %(default)s)")
    parser.add_argument("--json", type=Path, help="where to write every figure as JSON")
    args = parser.parse_args()
    if args.ngram_megabytes and not args.corpus.is_file():
        parser.error(f"{args.corpus} is not there; python -m training.corpus build makes it, and --ngram-megabytes 0 does without")
    return args


def main() -> None:
    args = arguments()
    try:
        figures, about = evaluated(args)
    except (ModelError, ProjectError, ValueError) as error:
        sys.exit(str(error))
    print(table(figures))
    if args.json:
        document = {"model": about, "figures": {name: asdict(figure) for name, figure in figures.items()}}
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def evaluated(args: argparse.Namespace) -> tuple[Figures, dict[str, object]]:
    """All figures, printed to standard error as they are known, and the model's fingerprint.

    Raises ModelError, ProjectError, ValueError.
    """
    files = held_out_files()
    written = in_turn([file for file in files if not is_test(file.path)], seed=0)
    some = list(files)
    random.Random(0).shuffle(some)  # the files that the training's validation loss is of
    figures: Figures = {}
    begun = time.monotonic()

    def say(found: Figures) -> None:
        figures.update(found)
        for name, figure in found.items():
            print(f"{time.monotonic() - begun:5.0f} s  {name}: {figure}", file=sys.stderr, flush=True)

    with ExitStack() as stack:
        model = stack.enter_context(opened(args.model, args.threads))
        other = stack.enter_context(opened(args.against, args.threads)) if args.against else None
        if other and other.fingerprint.tokenizer != model.fingerprint.tokenizer:
            raise ValueError(f"{args.against} has another tokenizer than {args.model}: they are not the same weights")
        ngrams = train_ngrams(model, args.corpus, args.ngram_megabytes) if args.ngram_megabytes else None
        say(language_figures(model, ngrams, some[: args.files]))
        say(line_figures(model, ngrams, written, args.lines))
        say(span_figures(model, written, args.spans))
        say(fix_figures(model, written, args.fixes))
        if other:
            say(quantisation_figures(model, other, some[:COMPARED_TEXTS]))
        return figures, asdict(model.fingerprint)


if __name__ == "__main__":
    main()

"""How well a model mends lines of code that it was not trained on: exact match, by kind of bug.

Copying the line would score 0 on every kind of bug, and 1 on right lines.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from assay.inference.completion.mending import can_mend, mending_prompt
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt
from assay.inference.stopping.stop import LINE
from assay.offline_eval.sets.projects import SourceFile

from .fixes import Fix, drawn
from .mutate import KINDS
from .scores import Figure, mean

LINE_TOKENS = 64
DRAWS = 6  # of a file, so that rare kinds are found
Found = dict[str, list[tuple[str, Fix]]]


def question(model: LlamaModel, item: Fix) -> Prompt:
    """The item up to the task's token, laid out as in fixes.py."""
    return mending_prompt(model, model.fim(item.before, item.after), item.shown)


def collected(model: LlamaModel, files: Iterable[SourceFile], most: int) -> Found:
    """At most so many projects and items of each kind, one of each from a file, that leave room for an answer."""
    found: Found = {kind: [] for kind in (*KINDS, "none")}
    for file in files:
        rng, taken = random.Random(file.path), set()
        for _ in range(DRAWS):
            item = drawn(file.text, rng)
            if item is None:
                break
            room = model.context_length - LINE_TOKENS
            if item.kind not in taken and len(found[item.kind]) < most and len(question(model, item).tokens) <= room:
                found[item.kind].append((file.project, item))
                taken.add(item.kind)
        if all(len(items) == most for items in found.values()):
            break
    return found


def fix_figures(model: LlamaModel, files: Sequence[SourceFile], most: int) -> dict[str, Figure]:
    """Figures of at most so many lines of each kind; none for a model without the task's token."""
    if not can_mend(model):
        return {}
    found, mended, of = {}, [], []
    for kind, items in collected(model, files, most).items():
        asked = [model.generate(question(model, item), stop=LINE, max_tokens=LINE_TOKENS).text for _, item in items]
        right = [text.strip() == item.answer.strip() for text, (_, item) in zip(asked, items, strict=True)]
        projects = [project for project, _ in items]
        name = "fix: right lines left alone" if kind == "none" else f"fix: {kind.replace('_', ' ')}, exact match"
        found[name] = mean(right, projects, "lines")
        if kind != "none":
            mended += right
            of += projects
    return {"fix: exact match": mean(mended, of, "lines"), **found}

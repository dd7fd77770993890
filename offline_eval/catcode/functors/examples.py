"""Answers to look at: of each language and ending some, with the code that was asked about, the answer, and what failed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from ....calibration.report.blocks import Block, Code, Heading
from .asking import Answer, Answers, Described
from .items import Item
from .labelling import ENDINGS, Ending, Label, label_id
from .placing.registry import NAMES
from .tables import ARM_WORDS, ENDING_WORDS, set_word

EACH, MAX_CHARACTERS = 1, 2_000


def examples(
    items: Sequence[Item], described: Sequence[Described], answers: Sequence[Answers], labels: Sequence[Label], seed: int
) -> Iterator[Block]:
    """The blocks; none of what passes."""
    by_id, known = {item.id: item for item in items}, {label["id"]: label for label in labels}
    told = {record["id"]: record for record in described}
    found: dict[tuple[str, Ending], list[tuple[Item, Answer, str]]] = {}
    for record in answers:
        item = by_id[record["id"]]
        for one in record["answers"]:
            ending, why = _ended(item, one, known)
            if ending not in (None, "passes"):
                found.setdefault((item.target, ending), []).append((item, one, why))
    for target in dict.fromkeys(target for target, _ in found):
        for ending in ENDINGS:
            those = found.get((target, ending), [])
            for item, one, why in random.Random(f"{seed}:{target}:{ending}").sample(those, min(EACH, len(those))):
                yield from _shown(item, one, ENDING_WORDS[ending], why, told)


def _ended(item: Item, one: Answer, labels: Mapping[str, Label]) -> tuple[Ending | None, str]:
    if one["text"] is None:
        return "unreadable", "there is no code in it"
    label = labels.get(label_id(item, item.program(one["arm"], one["text"])))
    return (None, "") if label is None else (label["ending"], label["why"])


def _shown(item: Item, one: Answer, ending: str, why: str, told: Mapping[str, Described]) -> Iterator[Block]:
    yield Heading(3, f"{set_word(item.set)}, {item.problem}, {NAMES[item.target]}, {ARM_WORDS[one['arm']]}: {ending}")
    if item.code:
        yield Code(f"The code, in {NAMES[item.source or item.target]}", _short(item.code))
    if one["arm"] in ("named", "unnamed") and item.id in told:
        words = [each["text"] for each in told[item.id]["descriptions"] if each["told"] == one["arm"]]
        if one["of"] < len(words):
            yield Code("The model's description", _short(words[one["of"]] or ""))
    yield Code("The answer", _short(one["said"] if one["text"] is None else one["text"]))
    yield Code("What failed", _short(why or "nothing tells"))


def _short(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}\n…"

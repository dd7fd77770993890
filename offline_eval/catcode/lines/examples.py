"""Rewrites to look at: of each arm those that the model was misled by most, and each that tests contradicted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ....calibration.report.blocks import Table
from .facts import LineFacts, PlaceFacts, VariantFacts

EACH = 3
MAX_CONTRADICTED = 10
_MAX_LINE = 200
# Of each kind: how it is called, which are of it, and whether those with the smallest fall come first.
_KINDS: tuple[tuple[str, Callable[[VariantFacts], bool], bool], ...] = (
    ("Wrong rewrites that the model minds least", lambda one: one["arm"] == "wrong", True),
    ("Rewrites of a line that do the same, and that it minds most", lambda one: one["arm"] == "equivalent", False),
    ("Rewrites of the code around a line, and that it minds most", lambda one: one["arm"] == "context", False),
)


def examples_of(facts: Sequence[PlaceFacts]) -> Iterator[Table]:
    """Some rewrites of each arm, with diff and fall; of a place at most one of each."""
    for called, is_one, ascending in _KINDS:
        found = [
            (fall, place["id"], line, variant)
            for place in facts
            for line in place["lines"]
            for variant in line["variants"]
            if is_one(variant) and (fall := fall_of(line, variant)) is not None
        ]
        shown = set[str]()
        for fall, place, line, variant in sorted(found, key=lambda one: (one[0] if ascending else -one[0], one[1])):
            if place not in shown and len(shown) < EACH:
                shown.add(place)
                yield _example(f"{called}: {place.removesuffix(':line')}", line, variant, fall)


def fall_of(line: LineFacts, variant: VariantFacts) -> float | None:
    """How far the log-probability of the line falls."""
    before, after = ((measures or {}).get("total_logprob") for measures in (line["plain"], variant["measures"]))
    return None if before is None or after is None else before - after


def _example(title: str, line: LineFacts, variant: VariantFacts, fall: float) -> Table:
    rows = [
        *((("−", each[1:]) if each.startswith("-") else ("+", each[1:])) for each in variant["diff"]),
        ("line", line["text"]),
        ("rules", ", ".join(variant["rules"])),
        ("tests", {"right": "pass", "counterfeit": "some fail, and it looks right", "other": "fail"}[variant["kind"]]),
        ("model", f"log p falls by {fall:+z.2f}"),
    ]
    return Table(title, ("", ""), "ll", tuple((name, _short(what)) for name, what in rows))


def contradicted(facts: Sequence[PlaceFacts]) -> Table | None:
    """Rewrites that a rule calls equivalent and tests do not; None without any."""
    rows = [
        (place["id"].removesuffix(":line"), each["rule"], _short(each["why"]))
        for place in facts
        for line in place["lines"]
        for each in line["tried"]
        if each["outcome"] == "contradicted"
    ]
    title = f"Rewrites that a rule calls equivalent and tests contradict ({len(rows):,}; at most {MAX_CONTRADICTED} are shown)"
    return Table(title, ("place", "rule", "what the tests say"), "lll", tuple(rows[:MAX_CONTRADICTED])) if rows else None


def _short(text: str) -> str:
    return text if len(text) <= _MAX_LINE else f"{text[: _MAX_LINE - 1]}…"

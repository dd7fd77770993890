"""Counterfeits to look at: each with its diff, the tests that fail, and what the editor's badge said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ....calibration.report.blocks import Table
from .texts import Text

MAX_EXAMPLES = 8
_MAX_TESTS = 5
_MAX_LINE = 200
# What the badge said of a text that was shown; nothing for another.
Badge = Callable[[Text], str]


def examples_of(texts: Sequence[Text], badge: Badge) -> Iterator[Table]:
    """The counterfeits that the model was surest of, at most one of a gap: those that were shown first, then drawn ones."""
    found = [text for text in texts if text.kind == "counterfeit"]
    gaps, same = set[str](), set[str]()
    for text in sorted(found, key=lambda text: (bool(text.stream), -text.p_tot, text.id)):
        if text.gap not in gaps and text.text_id not in same and len(gaps) < MAX_EXAMPLES:
            gaps.add(text.gap)
            same.add(text.text_id)
            yield _example(text, badge)


def _example(text: Text, badge: Badge) -> Table:
    outcomes = text.outcomes
    said = badge(text) if not text.stream else f"none: drawn at {text.stream}, not shown"
    tests = [("fails", f"{each['test']}: {each['why']}") for each in text.changed[:_MAX_TESTS]]
    more = len(text.changed) - len(tests)
    rows = [
        ("−", text.head + text.truth),
        ("+", text.head + text.inserted),
        ("badge", said),
        ("model", f"p_tot {text.p_tot:.3f}" + (f", asked: log odds of right {text.asked:+.2f}" if text.asked == text.asked else "")),
        ("tests", f"{outcomes.kept} of {outcomes.known} that touch it keep their outcome"),
        *tests,
        *([("", f"and {more} more")] if more > 0 else []),
    ]
    return Table(
        f"{text.gap}, {'shown' if not text.stream else 'drawn'}", ("", ""), "ll", tuple((name, _short(what)) for name, what in rows)
    )


def _short(text: str) -> str:
    text = text.replace("\n", " ↵ ")
    return text if len(text) <= _MAX_LINE else f"{text[: _MAX_LINE - 1]}…"

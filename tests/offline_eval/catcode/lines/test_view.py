"""Which line is the one in the gap, and what is shown around it, once a text is rewritten."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sums_project import SOURCE

from assay.analysis.morphisms.morphism import Refused, Rewrite, Site, rewrite
from assay.analysis.morphisms.registry import MORPHISMS, morphism
from assay.analysis.python.lines import Gap
from assay.inference.completion.settings import Settings
from assay.inference.model import Model
from assay.inference.opening import ModelChoice
from assay.offline_eval.catcode.lines.rewrites import View, as_shown, shown_around
from assay.offline_eval.suggested import FileWithGap

PROGRAM = (
    SOURCE
    + '''

def longest(words):
    """The longest word, if it is long enough."""
    best, seen = "", False
    limit = 3
    for word in words:
        if len(word) > len(best) and len(word) > limit:
            best = word
            seen = True
    if not seen:
        return None
    else:
        return best
'''
)
RULES = [entry.name for entry in MORPHISMS if "python" in entry.languages]


def view_of(line: str, text: str = PROGRAM, shown: tuple[int, int] | None = None) -> View:
    start = text.index(line)
    return View(text, Gap(start, start + len(line)), *(shown or (0, len(text))))


LINES = [line.strip() for line in PROGRAM.splitlines() if line.startswith("    ") and '"""' not in line]


@given(st.sampled_from(LINES), st.sampled_from(RULES), st.integers(0, 10**6), st.sampled_from([0, PROGRAM.index("def words")]))
def test_a_rewrite_moves_the_line_with_the_text_or_it_is_not_certain_where_it_is(line: str, rule: str, seed: int, start: int) -> None:
    rng = random.Random(seed)
    view = view_of(line, shown=(min(start, PROGRAM.index(line)), len(PROGRAM)))
    sites = morphism(rule, "python").sites(PROGRAM)
    if not sites:
        return
    try:
        step = rewrite(morphism(rule, "python"), PROGRAM, rng.choice(sites), rng)
    except Refused:
        return
    after = view.after(step)
    if after is None:
        return
    assert after.text == step.of(view.text)
    number = after.text.count("\n", 0, after.gap.start)
    whole = after.text.split("\n")[number]
    assert whole.strip() == after.line, "the gap has a whole line"
    if after.line != view.line:
        assert after.text.count("\n") == view.text.count("\n"), "only a rewrite that keeps the lines may change the one in the gap"
    if step.start >= view.start:
        assert after.text[: after.start].count("\n") == view.text[: view.start].count("\n")
    if step.end <= view.end:
        assert after.text[after.end :] == view.text[view.end :]


def test_a_line_that_takes_the_place_of_its_neighbour_is_not_the_same_line() -> None:
    before, after = "a = 1\nbb = 2\ncc = 3\n", "bb = 2\na = 1\ncc = 3\n"
    step = Rewrite("permute_statements", equivalent=True, site=Site(0, 12), start=0, end=12, text="bb = 2\na = 1")
    assert step.of(before) == after
    moved = view_of("bb = 2", before).after(step)
    assert moved is not None
    assert moved.line == "a = 1", "whoever wants the line kept sees that it is another one"
    kept = view_of("cc = 3", before).after(step)
    assert kept is not None
    assert kept.line == "cc = 3"


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with ModelChoice().open() as opened:
        yield opened


def test_what_is_shown_of_a_file_is_what_the_editor_shows(model: Model) -> None:
    text = "# a comment that fills the file\n" * 400 + PROGRAM + "# and one below it\n" * 400
    gap = view_of("best = word", text).gap
    file = FileWithGap(text, gap, "line", Settings())
    start, end = shown_around(model, file)
    assert 0 < start < gap.start < gap.end < end < len(text)
    shown = as_shown(model, View(text, gap, start, end), Settings())
    assert shown is not None
    assert shown.truth == "best = word"
    assert shown.prompt(model) == file.prompt(model)


def test_a_longer_rewrite_moves_nothing_out_of_what_is_shown(model: Model) -> None:
    text = "# a comment that fills the file\n" * 400 + PROGRAM
    gap = view_of("best = word", text).gap
    view = View(text, gap, *shown_around(model, FileWithGap(text, gap, "line", Settings())))
    at = text.index("    limit = 3")
    step = Rewrite("unused_statement", equivalent=True, site=Site(at, at), start=at, end=at, text="    amount = 0\n" * 5)
    after = view.after(step)
    assert after is not None
    shown = as_shown(model, after, Settings())
    assert shown is not None
    assert shown.text == step.of(text)[view.start : view.end + len(step.text)]
    assert shown.prompt(model).tokens[-8:] == FileWithGap(text, gap, "line", Settings()).prompt(model).tokens[-8:]

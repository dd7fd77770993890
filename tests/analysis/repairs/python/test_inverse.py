"""Each kind of bug of Python is undone by a candidate at its line."""

from __future__ import annotations

import random
import re

import pytest
from generated_programs import program
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.bugs import KINDS, bug
from assay.analysis.morphisms.morphism import Refused, Site, rewrite
from assay.analysis.repairs.candidates import candidates

UNDONE = [kind for kind in KINDS if kind != "removed_guard"]


def undoable(source: str, kind: str) -> list[Site]:
    """The sites of a kind, but for negated literals, which stay as they are."""
    literal = re.compile(r"not \(?(\d|'|\[|\{|None|True|False)")
    return [site for site in bug(kind).sites(source) if kind != "missing_negation" or not literal.match(source, site.start)]


def repaired(source: str, kind: str, site: Site, seed: int) -> bool | None:
    """Whether the candidates at the line of a bug contain the program without it; None where the bug does not fit."""
    try:
        step = rewrite(bug(kind), source, site, random.Random(seed))
    except Refused:
        return None
    wrong = step.of(source)
    return source in {candidate.of(wrong) for candidate in candidates(wrong, "python", (step.start, step.start), most=10**6)}


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from(UNDONE), st.data())
def test_a_bug_in_a_random_program_is_undone_by_a_candidate_at_its_line(seed: int, kind: str, data: st.DataObject) -> None:
    source = program(random.Random(seed))
    if sites := undoable(source, kind):
        assert repaired(source, kind, data.draw(st.sampled_from(sites)), seed) is not False


@pytest.mark.parametrize("kind", UNDONE)
def test_the_example_of_a_bug_is_undone(kind: str) -> None:
    right, _ = bug(kind).rule.EXAMPLE
    assert {repaired(right, kind, site, seed) for site in bug(kind).sites(right) for seed in range(2)} == {True}


@pytest.mark.parametrize(
    "source",
    [
        "def f(items):\n    if not items:\n        return None\n    return items[0]\n",
        "def f(items, n):\n    for item in items:\n        if item is None:\n            continue\n        n += item.size\n    return n\n",
        "def f(n):\n    if n < 0:\n        raise ValueError(n)\n    if n == 0:\n        raise ValueError(n)\n    return f(n - 1)\n",
    ],
)
def test_a_usual_guard_is_guessed(source: str) -> None:
    assert repaired(source, "removed_guard", bug("removed_guard").sites(source)[0], 0)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def f(a):\n    return not  a\n", "missing_negation"),
        ("def f(a):\n    return not []\n", "missing_negation"),
        ("def f(a):\n    return a[0x10]\n", "off_by_one"),
        ("def f(a: 1 | 2):\n    pass\n", "wrong_operator"),
        ("def f(a, b):\n    c: a = b\n", "wrong_name"),
        ("def f(a):\n    if a > 100:\n        return 3\n    return a\n", "removed_guard"),
    ],
)
def test_the_exceptions_are_those_that_the_page_names(source: str, kind: str) -> None:
    assert repaired(source, kind, bug(kind).sites(source)[0], 0) is False

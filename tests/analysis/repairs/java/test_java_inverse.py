"""Each kind of bug of Java is undone by a candidate at its line, and what is proposed parses."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.bugs.registry import KINDS, bug
from assay.analysis.morphisms.java.program.syntax import parse
from assay.analysis.morphisms.morphism import Refused, Site, rewrite
from assay.analysis.repairs.candidates import candidates

FOLDER = Path(__file__).parents[2] / "morphisms" / "java" / "programs"
PROGRAMS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.java"))}
UNDONE = [kind for kind in KINDS if kind != "removed_guard"]


def undoable(source: str, kind: str) -> list[Site]:
    """The sites of a kind, but for negations that are not written as usual (`return!b`, `! b`)."""
    unusual = re.compile(r"(?<=\w)!|!\s")
    return [site for site in bug(kind, "java").sites(source) if kind != "missing_negation" or not unusual.match(source, site.start)]


def repaired(source: str, kind: str, site: Site, seed: int) -> bool | None:
    """Whether the candidates at the line of a bug contain the program without it; None where the bug does not fit."""
    try:
        step = rewrite(bug(kind, "java"), source, site, random.Random(seed))
    except Refused:
        return None
    wrong = step.of(source)
    return source in {candidate.of(wrong) for candidate in candidates(wrong, "java", (step.start, step.start), most=10**6)}


@pytest.mark.slow
@given(st.sampled_from(sorted(PROGRAMS)), st.sampled_from(UNDONE), st.integers(0, 10**6))
def test_a_bug_is_undone_by_a_candidate_at_its_line(name: str, kind: str, seed: int) -> None:
    source = PROGRAMS[name]
    if sites := undoable(source, kind):
        assert repaired(source, kind, random.Random(seed).choice(sites), seed) is not False


@pytest.mark.slow
@pytest.mark.parametrize("kind", UNDONE)
def test_bugs_of_the_programs_are_undone(kind: str) -> None:
    for source in PROGRAMS.values():
        for site in undoable(source, kind)[::3]:
            assert repaired(source, kind, site, 0) is not False, (site, source[site.start - 30 : site.end + 30])


@pytest.mark.slow
@given(st.sampled_from(sorted(PROGRAMS)), st.integers(0, 10**6))
def test_each_candidate_parses_and_changes_the_line_and_none_comes_twice(name: str, seed: int) -> None:
    source = PROGRAMS[name]
    at = random.Random(seed).randrange(len(source))
    first, last = source.rfind("\n", 0, at) + 1, (source + "\n").index("\n", at) + 1
    results = []
    for candidate in candidates(source, "java", (at, at), most=1000):
        assert first <= candidate.start < last or candidate.start < first < candidate.end
        results.append(candidate.of(source))
        parse(results[-1])
    assert source not in results
    assert len(set(results)) == len(results)


@pytest.mark.parametrize(
    ("right", "kind"),
    [
        ("int f(String s, int i) { if (i < s.length() && s.charAt(i) > 'a') return 1; return 0; }", "removed_guard"),
        ("boolean f(String s) { if (s != null && s.trim().isEmpty()) return true; return false; }", "removed_guard"),
    ],
)
def test_a_usual_guard_of_a_condition_is_guessed(right: str, kind: str) -> None:
    source = f"class A {{ {right} }}\n"
    (site,) = (site for site in bug(kind, "java").sites(source) if site.what == "&&")
    assert repaired(source, kind, site, 0)

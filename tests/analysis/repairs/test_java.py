"""What the rules for Java propose: it parses, changes the line, and comes once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.morphisms.java.program.syntax import parse
from assay.analysis.repairs.candidates import candidates

FOLDER = Path(__file__).parents[1] / "morphisms" / "java" / "programs"
PROGRAMS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.java"))}


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
    ("wrong", "right"),
    [
        ("if (s.charAt(i) > 'a') return 1;", "if (i < s.length() && s.charAt(i) > 'a') return 1;"),
        ("if (s.trim().isEmpty()) return 2;", "if (s != null && s.trim().isEmpty()) return 2;"),
        ("return Math.max(g(i, j), i);", "return Math.max(g(j, i), i);"),
    ],
)
def test_what_is_proposed_for_java(wrong: str, right: str) -> None:
    before, after = (f"class A {{ int f(String s, int i, int j) {{ {text} }} }}\n" for text in (wrong, right))
    found = [candidate.of(before) for candidate in candidates(before, "java", (0, 0), most=1000)]
    assert after in found
    # a call that gives the same either way keeps its arguments, and so do those of other types
    assert not any("max(i," in text or "(s, g" in text for text in found)

"""What the rules for Java propose parses, and each rule undoes what it does itself."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.morphisms.java.program.syntax import parse
from assay.analysis.repairs.candidates import candidates
from assay.analysis.repairs.registry import RULES, rules
from assay.analysis.repairs.rule import Change

FOLDER = Path(__file__).parents[1] / "morphisms" / "java" / "programs"
PROGRAMS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.java"))}
UNDONE = [name for name in RULES if name != "missing_guard"]


def is_undone(change: Change, name: str, source: str) -> bool:
    """Whether the rule proposes the program without a change at the change's line."""
    wrong = change.of(source)
    return source in {c.of(wrong) for c in candidates(wrong, "java", (change.start, change.start), most=10**6) if c.rule == name}


@pytest.mark.slow
@pytest.mark.parametrize("name", UNDONE)
def test_a_rule_undoes_what_it_does(name: str) -> None:
    for source in PROGRAMS.values():
        made = [change for change in rules("java")[name].changes(source, (0, len(source))) if change.rank == 0]
        for change in random.Random(0).sample(made, min(len(made), 10)):
            assert is_undone(change, name, source), (change, source[change.start - 30 : change.end + 30])


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

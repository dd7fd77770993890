"""Mistakes of syntax in languages that tree-sitter parses: which changes make one, and which mend one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.grammars import GRAMMARS
from assay.suggestion.repair.candidate import Change
from assay.suggestion.repair.gathering import Seen, is_kept
from assay.suggestion.repair.parsed_tree import ParsedTree, parsed_tree

from ..syntax.test_guard import GAPS

JAVASCRIPT = """function inside(range, comps) {
  for (let k = 0; k < comps.length; k++) {
    if (
      range.low > comps[k]
    ) {
      return false;
    }
  }
  return true;
}
"""


def tree_of(text: str, language: str = "javascript") -> ParsedTree:
    found = parsed_tree(tuple(text.split("\n")), language)
    assert found is not None
    return found


@pytest.mark.parametrize("language", GRAMMARS)
def test_in_each_language_with_a_grammar_a_line_that_breaks_the_file_is_dropped_and_mended_by_the_right_one(language: str) -> None:
    file, whole, fault = GAPS[language]
    number = file[: file.index("¦")].count("\n")
    gap = file.split("\n")[number]
    right, bad = gap.replace("¦", whole), gap.replace("¦", fault)
    found = tree_of(file.replace("¦", whole), language)
    assert found.parses
    other = right.replace("a", "b") if "a" in right else right.replace("g", "h")
    assert is_kept(Change(number, number + 1, (other,)), Seen(found.lines, found))
    assert not is_kept(Change(number, number + 1, (bad,)), Seen(found.lines, found))
    broken = tree_of("\n".join(Change(number, number + 1, (bad,)).of(found.lines)), language)
    assert not broken.parses
    assert broken.mends(Change(number, number + 1, (right,)))
    assert not broken.mends(Change(number, number + 1, (bad + " ",)))


def test_a_line_is_judged_with_the_others_of_its_statement_and_not_with_mistakes_elsewhere() -> None:
    found = tree_of(JAVASCRIPT)
    assert found.breaks(Change(2, 3, ("// (",)))
    assert not found.breaks(Change(2, 3, ("    while (",)))
    text = "REGISTER(a b) {\n}\nint f(int a) {\n  return a + 1;\n}\n"
    found = tree_of(text, "c")
    assert not found.parses
    assert not found.breaks(Change(3, 4, ("  return a - 1;",)))
    assert not found.mends(Change(3, 4, ("  return a - 1;",)))
    assert found.breaks(Change(3, 4, ("  return a + ;",)))


line = st.text(st.sampled_from("a ({[;=+})]\"'`/é𝒳\r"), max_size=8)


@given(st.data(), st.lists(line, min_size=1, max_size=3))
def test_a_change_that_is_parsed_with_the_rest_kept_says_the_same_as_the_whole_text(data: st.DataObject, new: list[str]) -> None:
    found = tree_of(JAVASCRIPT.replace("range", "räinge"))
    first = data.draw(st.integers(0, len(found.lines) - 1))
    change = Change(first, data.draw(st.integers(first + 1, len(found.lines))), tuple(new))
    assert found.breaks(change) is not tree_of("\n".join(change.of(found.lines))).parses


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("javascript", "a.join(`${b} `);", "a.join(`${b}`);"),
        ("java", 'class A { String b = f(" "); }', 'class A { String b = f(""); }'),
        ("shellscript", 'echo "$a $b"', 'echo "$a$b"'),
    ],
)
def test_white_space_in_a_string_is_code_and_around_one_it_is_none(language: str, old: str, new: str) -> None:
    assert tree_of(f"{old}\n", language).says_the_same(Change(0, 1, (new,))) is False
    assert tree_of("a.join( ' ' );\n").says_the_same(Change(0, 1, ("a.join(' ');",))) is True

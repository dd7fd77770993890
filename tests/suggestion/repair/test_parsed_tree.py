"""Mistakes of syntax in languages that tree-sitter parses: which changes make one, and which mend one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.grammars import GRAMMARS
from assay.suggestion.repair.candidate import Change
from assay.suggestion.repair.gathering import Seen, is_kept
from assay.suggestion.repair.parsed_tree import ParsedTree, parsed_tree

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
# Of each language a text, a line of it, another that may stand there, and one that may not.
OF_LANGUAGES = {
    "c": ("int f(int a) {\n  return a + 1;\n}\n", 1, "  return a - 1;", "  return a +;"),
    "cpp": ("int f(int a) {\n  return a + 1;\n}\n", 1, "  return a - 1;", "  return (a;"),
    "csharp": ("class A {\n  int F(int a) {\n    return a + 1;\n  }\n}\n", 2, "    return a - 1;", "    return a +;"),
    "go": ("package a\n\nfunc f(a int) int {\n\treturn a + 1\n}\n", 3, "\treturn a - 1", "\treturn (a"),
    "java": ("class A {\n  int f(int a) {\n    return a + 1;\n  }\n}\n", 2, "    return a - 1;", "    return a +;"),
    "javascript": (JAVASCRIPT, 1, "  for (let k = 1; k < comps.length; k++) {", "< comps.length; k++)"),
    "javascriptreact": ("const a = () => {\n  return <b>{x}</b>;\n};\n", 1, "  return <i>{x}</i>;", "  return <b>{x}</i;"),
    "kotlin": ("fun f(a: Int): Int {\n  return a + 1\n}\n", 1, "  return a - 1", "  return (a"),
    "lua": ("function f(a)\n  return a + 1\nend\n", 1, "  return a - 1", "  return a +"),
    "php": ("<?php\nfunction f($a) {\n  return $a + 1;\n}\n", 2, "  return $a - 1;", "  return $a +;"),
    "ruby": ("def f(a)\n  a + 1\nend\n", 1, "  a - 1", "  (a + 1"),
    "rust": ("fn f(a: i32) -> i32 {\n    a + 1\n}\n", 1, "    a - 1", "    (a + 1"),
    "shellscript": ('if [ "$a" -lt 1 ]; then\n  echo "$a"\nfi\n', 0, 'if [ "$a" -gt 1 ]; then', 'if [ "$a" -lt 1 ]; the'),
    "sql": ("SELECT a\nFROM b\nWHERE c < 1;\n", 2, "WHERE c > 1;", "WHERE c < ;"),
    "swift": ("func f(a: Int) -> Int {\n  return a + 1\n}\n", 1, "  return a - 1", "  return (a"),
    "typescript": ("function f(a: number): number {\n  return a + 1;\n}\n", 1, "  return a - 1;", "  return a +;"),
    "typescriptreact": ("const a = (x: number) => {\n  return <b>{x}</b>;\n};\n", 1, "  return <i>{x}</i>;", "  return <b>{x}</i;"),
}


def tree_of(text: str, language: str = "javascript") -> ParsedTree:
    found = parsed_tree(tuple(text.split("\n")), language)
    assert found is not None
    return found


@pytest.mark.parametrize("language", GRAMMARS)
def test_in_each_language_with_a_grammar_a_line_that_breaks_the_file_is_dropped_and_mended_by_the_right_one(language: str) -> None:
    text, number, good, bad = OF_LANGUAGES[language]
    found = tree_of(text, language)
    assert found.parses
    right = found.lines[number]
    assert is_kept(Change(number, number + 1, (good,)), Seen(found.lines, found))
    assert not is_kept(Change(number, number + 1, (bad,)), Seen(found.lines, found))
    broken = tree_of("\n".join(Change(number, number + 1, (bad,)).of(found.lines)), language)
    assert not broken.parses
    assert broken.mends(Change(number, number + 1, (right,)))
    assert not broken.mends(Change(number, number + 1, (bad + " ",)))


@pytest.mark.parametrize("new", [("// (",), ("%s",), ("    if (", "      true", "    if (")])
def test_a_line_of_a_statement_of_several_lines_is_judged_with_the_others(new: tuple[str, ...]) -> None:
    found = tree_of(JAVASCRIPT)
    assert found.breaks(Change(2, 3, new))
    assert not found.breaks(Change(2, 3, ("    while (",)))


def test_what_a_grammar_takes_for_a_mistake_elsewhere_is_none_of_the_change() -> None:
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
        ("javascript", "a.join(' ');", "a.join('');"),
        ("javascript", "a.join(`${b} `);", "a.join(`${b}`);"),
        ("java", 'class A { String b = f(" "); }', 'class A { String b = f(""); }'),
        ("shellscript", 'echo "$a $b"', 'echo "$a$b"'),
        ("c", 'char *a = " ";', 'char *a = "  ";'),
    ],
)
def test_white_space_in_a_string_is_code(language: str, old: str, new: str) -> None:
    assert tree_of(f"{old}\n", language).says_the_same(Change(0, 1, (new,))) is False


@pytest.mark.parametrize(
    ("language", "old", "new"), [("javascript", "a.join( ' ' );", "a.join(' ');"), ("c", 'char *a = "b" "c";', 'char *a = "b"  "c";')]
)
def test_white_space_around_a_string_is_none(language: str, old: str, new: str) -> None:
    assert tree_of(f"{old}\n", language).says_the_same(Change(0, 1, (new,))) is True

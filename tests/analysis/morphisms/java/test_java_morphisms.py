from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from java_morphisms import EQUIVALENT, OTHER, applied, reason

from assay.analysis.morphisms.morphism import Morphism, Refused
from assay.analysis.morphisms.registry import morphism
from assay.analysis.python.source_text import UnreadableSource
from assay.analysis.text_edits import changed_span

PROGRAMS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((Path(__file__).parent / "programs").glob("*.java"))}
ALL = [*EQUIVALENT, *OTHER]
JAVA_21 = """
sealed interface Shape permits Circle, Pair { }
record Circle(double r) implements Shape { }
record Pair<T>(T first, T second) implements Shape { }
class New {
    static String of(Object o) {
        return switch (o) {
            case null -> "null";
            case Integer i when i > 10 && i < 20 -> "teen" + i;
            case Pair(var a, Pair(String b, var c)) -> a + b + c;
            case String s -> s;
            default -> "other";
        };
    }
    static int in(Object o) {
        int n = 0;
        switch (o) {
            case Circle c -> n = 1;
            case Pair(Integer a, Integer b) when a < b -> { n = a; }
            default -> { n = 2; }
        }
        if (o instanceof Pair(var x, String y) && n < 3) { n += y.length(); } else { n--; }
        return n;
    }
}
"""


def only(name: str, source: str) -> str:
    """What the morphism makes of its only site."""
    (site,) = morphism(name, "java").sites(source)
    return morphism(name, "java").apply(source, site, random.Random(0))


@given(st.sampled_from(sorted(PROGRAMS)), st.sampled_from(ALL), st.integers(0, 10**6))
def test_a_rewrite_is_the_same_for_the_same_seed_and_parses_and_leaves_the_lines_far_from_its_site(
    name: str, one: Morphism, seed: int
) -> None:
    source = PROGRAMS[name]
    sites = one.sites(source)
    if not sites:
        return
    site = random.Random(seed).choice(sites)
    try:
        after = one.apply(source, site, random.Random(seed))
    except Refused as refusal:
        assert str(refusal)  # noqa: PT017 - a refusal is no failure
        return
    assert after == one.apply(source, site, random.Random(seed))
    assert after != source
    one.sites(after)
    start, end, text = changed_span(source, after)
    assert source[:start] + text + source[end:] == after
    if one.name not in {"rename_variable", "boolean_exchange"}:
        assert source.rfind("\n", 0, site.start) - 200 <= start
        assert end <= site.end + 200


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_sites_are_in_the_order_of_the_text_and_differ(one: Morphism) -> None:
    for source in PROGRAMS.values():
        sites = one.sites(source)
        assert [s.start for s in sites] == sorted(s.start for s in sites)
        assert len(set(sites)) == len(sites)


def test_offsets_are_characters_where_the_text_is_not_ascii() -> None:
    source = 'class A { int f(int größe) { String s = "😀é"; int ж = größe + s.length(); return ж; } }'
    sites = morphism("rename_variable", "java").sites(source)
    assert [source[s.start : s.end] for s in sites] == ["größe", "s", "ж"] == [s.what for s in sites]
    after = morphism("rename_variable", "java").apply(source, sites[0], random.Random(0))
    assert after == source.replace("größe", "store")


def test_java_21_is_read_and_kept_and_its_patterns_are_refused_or_renamed() -> None:
    made = applied(JAVA_21, ALL)
    assert {name for name, _, _ in made} >= {"rename_variable", "unused_statement", "reorder_condition"}
    for _, _, after in made:
        start, end, text = changed_span(JAVA_21, after)
        assert JAVA_21[:start] + text + JAVA_21[end:] == after
        morphism("rename_variable", "java").sites(after)
    assert "pattern" in reason(morphism("switch_to_if", "java"), JAVA_21, "switch (o) {\n            case Circle")
    assert len(morphism("switch_to_if", "java").sites(JAVA_21)) == 1
    assert "pattern" in reason(morphism("remove_else", "java"), JAVA_21, "if (o instanceof Pair")


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("class A {\n int f( { return 1; }\n}", "line 2: not Java"),
        ("class A { int \\u0061 = 1; }", "line 1: not Java"),
        ('class A { String s = "\\u0022; }', "line 1"),
        ("class A { // \\u000a int b;\n }", "Unicode escape"),
        ("class A { int a = 1" + " + 1" * 300 + "; }", "deep"),
        ('class A { String s = "\ud800"; }', "not text"),
    ],
)
def test_what_cannot_be_read_for_certain_is_an_error_with_line_and_reason(one: Morphism, source: str, why: str) -> None:
    with pytest.raises(UnreadableSource, match=why):
        one.sites(source)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_an_empty_file_has_no_sites(one: Morphism) -> None:
    assert one.sites("") == []


@pytest.mark.parametrize(
    ("name", "source", "shape", "why"),
    [
        ("rename_variable", "class A { Object f(int n) { return new B() { int g() { return n; } }; } }", "n)", "inherits"),
        ("rename_variable", "class A { int f(Object o, E RED) { switch (o) { case RED: return 1; } return 0; } }", "RED)", "enum"),
        ("rename_variable", "record R(int a) { R(int a) { this.a = a; } }", "a) { this", "record"),
        ("boolean_exchange", "class A { void f() { boolean b = g(); h(b); } }", "b =", "boolean by itself"),
        ("boolean_exchange", "class A { int f(int n) { boolean b; if (b = n > 1) return 1; return b ? 1 : 2; } }", "b;", "used as a value"),
        ("loop_exchange", "class A { void f() { for (int i = 0; i < 3; i++) try { continue; } finally { g(); } } }", "for", "try"),
        ("loop_exchange", "class A { int f() { for (int i = 0; i < 3; i++) { return i; } return 1; } }", "for", "never run"),
        ("loop_exchange", "class A { int k; void f() { for (; g(); k++) { int k = 1; g(k); } } }", "for", "declared in the body"),
        ("loop_exchange", "class A { void f() { for (int i = 0; /* why */ i < 3; i++) g(); } }", "for", "comment"),
        ("switch_to_if", "class A { void f(int n) { switch (n) { case 1: g(); case 2: h(); } } }", "switch", "falls through"),
        ("switch_to_if", "class A { void f(int n) { switch (n) { case 1: if (g()) break; h(); } } }", "switch", "elsewhere"),
        ("switch_to_if", "class A { void f(E e) { switch (e) { case X: h(); } } }", "switch", "type"),
        ("switch_to_if", "class A { void f() { switch (g()) { case X: h(); } } }", "switch", "type"),
        ("switch_to_if", "class A { void f(int n) { switch (n) { case 1: int i = 1; g(i); break; case 2: i = 3; } } }", "switch", "i is"),
        ("loop_exchange", "class A { void f(Object o) { while (!(o instanceof B b)) o = g(); b.h(); } }", "while", "javac loses track"),
        ("unused_statement", "class A { void f() { for (int i = 0; !(g() instanceof B b); ) { } b.h(); } }", "b.h", "javac loses track"),
        ("unused_statement", "class A { A() { this(1); } }", "this", "another constructor"),
        ("reorder_condition", "class A { boolean f() { return g() < h(); } }", "g() <", "one may change"),
        ("reorder_condition", "class A { boolean f(int[] a, int i) { return i < 3 && a[i] > 0; } }", "i < 3", "may throw"),
        ("reorder_condition", "class A { boolean f(Boolean a, boolean b) { return b && a; } }", "b &&", "null"),
        ("permute_statements", "class A { void f() { int a = 1; int b = a; } }", "int a", "uses"),
        ("permute_statements", "class A { void f() { g(); h(); } }", "g();", "one may change"),
        ("permute_statements", "class A { void f(int n) { int a = 1; if (n > 1) return; g(a); } }", "int a", "control may leave"),
        (
            "permute_statements",
            "class A { void f(int n) { int a = 0; try { a = 1; int b = 3 / n; } finally { g(a); } } }",
            "a = 1",
            "inside a try",
        ),
        ("modify_condition", "class A { void f() { while (1 < 2) { } } }", "<", "constant"),
        ("modify_condition", "class A { int f(Object o) { return o instanceof String s && s.isEmpty() ? 1 : 2; } }", "&&", "pattern"),
        ("modify_condition", "class A { boolean f(String a) { if (a + 1 == a) return true; return false; } }", "+", "numbers"),
        ("remove_else", "class A { int f(int n) { if (n > 1) return 1; else return 2; } }", "if", "return would be missing"),
        ("remove_else", "class A { int f(int n) { int x; if (n > 1) x = 1; else x = 2; return x; } }", "if", "gets its value"),
        ("remove_else", "class A { void f(int n) { if (n > 1) if (n > 2) g(); else h(); else g(); } }", "if (n > 2)", "another if"),
        ("remove_else", "class A { int f(int n) { while (true) { if (n > 1) n--; else break; } return n; } }", "if", "unreachable"),
        ("remove_else", "class A { void f(int n) { try { if (n > 1) n--; else g(); } catch (IOException e) { } } }", "if", "to catch"),
    ],
)
def test_a_morphism_refuses_where_it_cannot_show_that_it_is_right(name: str, source: str, shape: str, why: str) -> None:
    assert why in reason(morphism(name, "java"), source, shape)


def test_nan_is_never_met_by_negating_a_comparison_of_numbers() -> None:
    assert only("reorder_condition", "class A { boolean f(double a, double b) { return a < b; } }").count("b > a") == 1
    assert "f = !(a < b)" in only("boolean_exchange", "class A { void f(double a, double b) { boolean f = a < b; g(f); } }")


def test_words_never_run_into_one_another() -> None:
    assert 'return b=="a"' in only("reorder_condition", 'class A { boolean f(String b) { return"a"==b; } }')
    assert "return b; }" in only("boolean_exchange", "class A { boolean f(int n) { boolean b = n > 1; return!b; } }")


def test_the_update_of_a_for_runs_before_each_of_its_own_continues_only() -> None:
    source = "class A { void f() { a: for (int i = 0; i < 9; i++) { for (;;) { if (g()) continue; if (h()) continue a; } } } }"
    loop = morphism("loop_exchange", "java")
    after = loop.apply(source, loop.sites(source)[0], random.Random(0))
    assert "if (g()) continue;" in after
    assert "if (h()) { i++; continue a; }" in after


def test_modify_condition_gives_each_operator_one_of_its_own_kind_and_touches_nothing_outside_conditions() -> None:
    """Upstream's (CatCode's ModifyCondition.java) falls through its switch: ==, !=, ||, &&, + and * all become /, in any expression."""
    modify = morphism("modify_condition", "java")
    source = (
        "class A { int f(int a, int b, boolean c) { int d = a * b + 2; boolean e = a == b; g(a < b);\n"
        "if (a == b || a != 3 && a + b > 2 * a) return 1; while (g(a * b) < a - b) a++;\n"
        "for (int i = 0; i <= b; i++) d += a * i; do d--; while (d >= 0); return c ? a + b : a * b; } }"
    )
    first_condition = source.index("if (")
    allowed = {
        "==": {"!="},
        "!=": {"=="},
        "||": {"&&"},
        "&&": {"||"},
        "+": {"-"},
        "-": {"+"},
        "*": {"+"},
        "<": {"<=", ">", ">="},
        "<=": {"<", ">", ">="},
        ">": {"<", "<=", ">="},
        ">=": {"<", "<=", ">"},
    }
    sites = modify.sites(source)
    assert [s.what for s in sites] == ["==", "||", "!=", "&&", "+", ">", "*", "<", "-", "<=", ">="]
    assert all(s.start > first_condition and source[s.start : s.end] == s.what for s in sites)
    for site in sites:
        for seed in range(20):
            after = modify.apply(source, site, random.Random(seed))
            assert any(
                _without_brackets(after) == _without_brackets(source[: site.start] + new + source[site.end :]) for new in allowed[site.what]
            )
            assert after[:first_condition] == source[:first_condition]


def _without_brackets(source: str) -> str:
    return source.replace("(", "").replace(")", "")


@pytest.mark.parametrize(
    ("condition", "operator", "after"),
    [
        ("a && b && c", "&&", "(a || b) && c"),
        ("a || b || c", "|| c", "(a || b) && c"),
        ("a || b && c", "&&", "a || b || c"),
        ("n - n * n > 3", "*", "n - (n + n) > 3"),
        ("n * n * n > 3", "*", "(n + n) * n > 3"),
        ("a == b || c", "==", "a != b || c"),
    ],
)
def test_another_operator_keeps_what_is_an_operand_of_what(condition: str, operator: str, after: str) -> None:
    source = f"class A {{ void f(boolean a, boolean b, boolean c, int n) {{ if ({condition}) g(); }} }}"
    modify = morphism("modify_condition", "java")
    site = next(s for s in modify.sites(source) if source.startswith(operator, s.start))
    made = modify.apply(source, site, random.Random(0)).replace("a || (b || c)", "a || b || c")
    assert f"if ({after}) g();" in made

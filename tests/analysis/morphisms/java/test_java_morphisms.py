"""What the morphisms for Java make of programs, where they refuse; and, compiled and run, that the equivalent ones change nothing that a
program prints or throws.
"""

from __future__ import annotations

import gzip
import json
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from itertools import product
from operator import ne
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from needs import DATA, needs, needs_data

from assay.analysis.morphisms.morphism import Morphism, Refused, Site, chain
from assay.analysis.morphisms.registry import morphism, morphisms
from assay.analysis.python.source_text import UnreadableSource
from assay.analysis.text_edits import changed_span

HERE = Path(__file__).parent
PROGRAMS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((HERE / "programs").glob("*.java"))}
EQUIVALENT = morphisms("java", equivalent=True)
OTHER = morphisms("java", equivalent=False)
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


def applied(source: str, among: Sequence[Morphism]) -> list[tuple[str, Site, str]]:
    """(morphism, site, what it makes of the source) at every site of some morphisms where they do not refuse."""
    made = []
    for one in among:
        for site in one.sites(source):
            try:
                made.append((one.name, site, one.apply(source, site, random.Random(f"{one.name}{site}"))))
            except Refused:
                continue
    return made


def reason(one: Morphism, source: str, shape: str) -> str:
    """Why a morphism refuses the site that begins where `shape` is first found; "" where it does not."""
    site = next(s for s in one.sites(source) if source.startswith(shape, s.start))
    try:
        one.apply(source, site, random.Random(0))
    except Refused as refusal:
        return str(refusal)
    return ""


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


def test_sites_are_in_the_order_of_the_text_and_differ() -> None:
    for one, source in product(ALL, PROGRAMS.values()):
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


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("class A {\n int f( { return 1; }\n}", "line 2: not Java"),
        ("class A { int \\u0061 = 1; }", "line 1: not Java"),
        ("class A { // \\u000a int b;\n }", "Unicode escape"),
        ('class A { String s = "\ud800"; }', "not text"),
    ],
)
def test_what_cannot_be_read_for_certain_is_an_error_with_line_and_reason(source: str, why: str) -> None:
    for one in ALL:
        with pytest.raises(UnreadableSource, match=why):
            one.sites(source)
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
        ("loop_exchange", "class A { int k; void f() { for (; g(); k++) { int k = 1; g(k); } } }", "for", "declared in the body"),
        ("loop_exchange", "class A { void f() { for (int i = 0; /* why */ i < 3; i++) g(); } }", "for", "comment"),
        ("switch_to_if", "class A { void f(int n) { switch (n) { case 1: g(); case 2: h(); } } }", "switch", "falls through"),
        ("switch_to_if", "class A { void f(E e) { switch (e) { case X: h(); } } }", "switch", "type"),
        ("switch_to_if", "class A { void f(int n) { switch (n) { case 1: int i = 1; g(i); break; case 2: i = 3; } } }", "switch", "i is"),
        ("loop_exchange", "class A { void f(Object o) { while (!(o instanceof B b)) o = g(); b.h(); } }", "while", "javac loses track"),
        ("unused_statement", "class A { A() { this(1); } }", "this", "another constructor"),
        ("reorder_condition", "class A { boolean f(int[] a, int i) { return i < 3 && a[i] > 0; } }", "i < 3", "may throw"),
        ("reorder_condition", "class A { boolean f(Boolean a, boolean b) { return b && a; } }", "b &&", "null"),
        ("permute_statements", "class A { void f() { int a = 1; int b = a; } }", "int a", "uses"),
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
        ("a || b && c", "&&", "a || b || c"),
        ("n - n * n > 3", "*", "n - (n + n) > 3"),
    ],
)
def test_another_operator_keeps_what_is_an_operand_of_what(condition: str, operator: str, after: str) -> None:
    source = f"class A {{ void f(boolean a, boolean b, boolean c, int n) {{ if ({condition}) g(); }} }}"
    modify = morphism("modify_condition", "java")
    site = next(s for s in modify.sites(source) if source.startswith(operator, s.start))
    made = modify.apply(source, site, random.Random(0)).replace("a || (b || c)", "a || b || c")
    assert f"if ({after}) g();" in made


HUMANEVAL = "humaneval-x/humaneval_java.jsonl.gz"
MOST_MS = "3000"

needs_javac = needs("" if shutil.which("javac") and shutil.which("java") else "there is no javac here")
published = needs_data(HUMANEVAL)


def humaneval() -> list[tuple[str, str]]:
    """(solution, tests) of each problem."""
    with gzip.open(DATA / HUMANEVAL, "rt", encoding="utf-8") as lines:
        items = [json.loads(line) for line in lines]
    return [(item["declaration"] + item["canonical_solution"] + "\n", item["test"]) for item in items]


def reports_of(folder: Path, programs: Sequence[str]) -> list[str]:
    """How each program ended, and what it printed. Each is a file with a class Main and no package; all of them have to compile."""
    sources = []
    for number, program in enumerate(programs):
        sources.append(folder / f"p{number}" / "Main.java")
        sources[-1].parent.mkdir(parents=True)
        sources[-1].write_text(f"package p{number}; {program}", encoding="utf-8", newline="")
    (folder / "sources").write_text("\n".join(map(str, [HERE / "Runner.java", *sources])))
    compiler = ["javac", "-proc:none", "-nowarn", "-Xlint:none", "-encoding", "UTF-8", "-d", str(folder), f"@{folder / 'sources'}"]
    compiled = subprocess.run(compiler, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stderr
    machine = ["java", "-Xmx1g", "-Xss2m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", str(folder)]
    subprocess.run([*machine, "Runner", MOST_MS, str(len(programs))], cwd=folder, check=True)
    return [(folder / f"{number}.txt").read_text(encoding="utf-8") for number in range(len(programs))]


def check_unchanged(folder: Path, items: Sequence[tuple[str, str]], changed: Sequence[tuple[int, str, str]]) -> None:
    """items: (program, what is added to run it). changed: (number of the item, what was done, the program after it)."""
    reports = reports_of(folder, [*(program + tests for program, tests in items), *(after + items[i][1] for i, _, after in changed)])
    before, after = reports[: len(items)], reports[len(items) :]
    assert all(report.startswith("ended\n") for report in before)
    wrong = [(what, report) for (i, what, _), report in zip(changed, after, strict=True) if report != before[i]]
    assert not wrong, wrong[0]


@pytest.mark.slow
@needs_javac
@pytest.mark.parametrize("name", PROGRAMS)
def test_rewrites_of_programs_made_to_break_the_morphisms_keep_all_that_they_print(name: str, tmp_path: Path) -> None:
    source = PROGRAMS[name].replace("\n", "\r\n" if name == "Mixed" else "\n")
    changed = [(0, f"{one} {site}", after) for one, site, after in applied(source, EQUIVALENT)]
    assert len(changed) > 30
    for seed in range(10):
        after = source
        for step in chain(source, EQUIVALENT, str(seed), 6):
            after = step.of(after)
        changed.append((0, f"six, one after another, {seed}", after))
    check_unchanged(tmp_path, [(source, "")], changed)


@pytest.mark.slow
@needs_javac
@published
def test_every_site_in_humaneval_solutions_keeps_what_the_tests_say(tmp_path: Path) -> None:
    items = [item for n, item in enumerate(humaneval()) if n % 4 == 0 or "switch" in item[0]]
    changed = [(i, f"{one} {site}", after) for i, (program, _) in enumerate(items) for one, site, after in applied(program, EQUIVALENT)]
    counts = Counter(what.split()[0] for _, what, _ in changed)
    assert set(counts) == {one.name for one in EQUIVALENT}
    assert len(changed) > 600
    check_unchanged(tmp_path, items, changed)


@pytest.mark.slow
@needs_javac
@published
def test_every_change_of_a_condition_and_every_else_removed_compiles_and_most_change_what_the_tests_say(tmp_path: Path) -> None:
    items, jobs = humaneval(), list[tuple[str, str]]()
    for one in OTHER:
        made = [(i, after) for i, (program, _) in enumerate(items) for _, _, after in applied(program, [one])]
        jobs += [(items[i][0] + items[i][1], after + items[i][1]) for i, after in random.Random(1).sample(made, min(150, len(made)))]
    reports = reports_of(tmp_path, [program for job in jobs for program in job])
    assert sum(map(ne, reports[::2], reports[1::2])) > 0.5 * len(jobs)

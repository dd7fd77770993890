import gzip
import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_java import ASKS_TRUE, FRAME, RIGHT, TEST, UNCERTAIN, answering
from needs import DATA, needs_data

from assay.analysis.corpora.benchmarks import read_items
from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.limits import Limits
from assay.analysis.sandbox.judging import java
from assay.analysis.sandbox.judging.java import JavaSandbox, find_jdk
from assay.analysis.sandbox.judging.result import ProgramOutcome, Result
from assay.analysis.sandbox.judging.runtime import MissingRuntime

pytestmark = pytest.mark.slow

HUMANEVAL_X = "humaneval-x/humaneval_java.jsonl.gz"
QUICK = Limits(cpu_s=1, wall_s=20)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[JavaSandbox]:
    try:
        find_jdk()
        jail = Jail(best_level())
    except (MissingRuntime, NoIsolation) as reason:
        pytest.skip(str(reason))
    with JavaSandbox(jail) as made:
        yield made


# says yes to whatever it is asked
AGREEING = """
    boolean equals(String s) { return true; } boolean equals(Integer i) { return true; } boolean equals(Double i) { return true; }
    boolean equals(List<?> l) { return true; } boolean equals(Map<?, ?> l) { return true; } boolean equals(Set<?> l) { return true; }
    boolean equals(Object a, Object... b) { return true; } boolean equals(int[] a) { return true; }
    int compareTo(Object o) { return 0; } public boolean startsWith(String s) { return true; } boolean matches(String s) { return true; }
    boolean isEmpty() { return true; } boolean containsAll(Object o) { return true; } boolean equalsIgnoreCase(String s) { return true; }
    boolean contentEquals(CharSequence s) { return true; } boolean contains(Object o) { return true; } int indexOf(Object o) { return 0; }
    <T> T generic(String s) { return (T) Boolean.TRUE; } int minus(String s) { return 0; } static boolean fixed(String s) { return true; }
    Agree self() { return this; }
"""
OUTSIDE = f"interface Says {{ boolean startsWith(String s); }}\nclass Agree implements Says {{ {AGREEING} }}"


def test_a_test_without_main_gives_no_verdict(sandbox: JavaSandbox) -> None:
    result = sandbox.check(RIGHT, "class Main {}")
    assert (result.outcome, result.label) == (ProgramOutcome.NOT_JUDGEABLE, None)


@pytest.mark.parametrize("name", UNCERTAIN)
def test_what_is_neither_yes_nor_no_never_passes(sandbox: JavaSandbox, name: str) -> None:
    result = sandbox.check(*UNCERTAIN[name], limits=QUICK)
    assert result.label is False, result


def test_a_yes_of_either_type_passes(sandbox: JavaSandbox) -> None:
    for kind in ("boolean", "Boolean"):
        assert sandbox.check(answering(f"{kind} isSquare(int x) {{ return true; }}"), ASKS_TRUE, limits=QUICK).label


def checked(sandbox: JavaSandbox, members: str, statements: str, outside: str = "") -> Result:
    program = f"import java.util.*; import java.math.*; class Solution {{ {members} }} {outside}"
    return sandbox.check(
        program,
        f"class Main {{ public static void main(String[] args) throws Exception {{ Solution s = new Solution();\n{statements}\n}} }}",
    )


VALUES = """true, (byte) -1, (short) 2, 3, 4L, -0.0f, Double.NaN, -0.0, 'x', "\\ud800 \\u00e9", null,
    new BigInteger("123456789012345678901"), new BigDecimal("1.50"), Optional.empty(), Optional.of(List.of(1)), OptionalInt.of(2),
    OptionalDouble.empty(),
    List.of(1), List.of(1, 2, 3),
    new ArrayList<>(List.of(1, 2)), Arrays.asList(1, null), new LinkedList<>(List.of("a")), new Stack<>(), new HashSet<>(Set.of(1)),
    new TreeSet<>(Set.of(3, 1)), new TreeMap<>(Map.of("k", List.of(1))), new HashMap<>(Map.of(1, 'c')),
    new LinkedHashMap<>(Map.of(2, -0.0)),
    Collections.unmodifiableList(Arrays.asList(1, null)), new AbstractMap.SimpleEntry<>("k", null)"""


def test_values_come_back_with_their_exact_types(sandbox: JavaSandbox) -> None:
    members = f"""Object[] all = {{ {VALUES} }};
    Object made(int i) {{ return all[i]; }}
    Object echo(Object o) {{ return o; }}
    int[] doubled(int[] a) {{ return Arrays.stream(a).map(x -> 2 * x).toArray(); }}
    String[][] turned(String[][] a) {{ return new String[][] {{a[1], a[0]}}; }}
    String joined(String first, char second, Object... rest) {{ return first + second + rest[0]; }}"""
    statements = f"""Object[] all = {{ {VALUES} }};
    for (int i = 0; i < all.length; i++) {{
        for (Object back : new Object[] {{s.made(i), s.echo(all[i])}}) {{
            if (!Objects.equals(back, all[i])) throw new Exception(all[i] + " came back as " + back);
            if (back != null && back.getClass() != all[i].getClass()) throw new Exception(all[i].getClass() + " is now " + back.getClass());
        }}
    }}
    assert Arrays.equals(s.doubled(new int[] {{1, 2}}), new int[] {{2, 4}});
    assert Arrays.deepEquals(s.turned(new String[][] {{{{"a"}}, {{"b", null}}}}), new String[][] {{{{"b", null}}, {{"a"}}}});
    assert s.joined("x", 'y', 1).equals("xy1");"""
    result = checked(sandbox, members, statements)
    assert result.outcome is ProgramOutcome.PASSED, result


def test_changes_to_arguments_and_identity_come_back(sandbox: JavaSandbox) -> None:
    members = """List<Integer> sort(List<Integer> l) { Collections.sort(l); return l; }
    void fill(int[] a, Map<String, List<Integer>> m, StringBuilder b) {
        Arrays.fill(a, 7); m.get("k").add(2); m.put("n", m.get("k")); b.append("!"); }
    boolean literal(String s) { return s == "same"; }
    void fixed(List<Integer> l) { l.add(1); }"""
    statements = """List<Integer> l = new ArrayList<>(List.of(3, 1, 2));
    assert s.sort(l) == l && l.equals(List.of(1, 2, 3));
    int[] a = new int[2]; List<Integer> inner = new ArrayList<>(List.of(1)); StringBuilder b = new StringBuilder("x");
    Map<String, List<Integer>> m = new HashMap<>(Map.of("k", inner));
    s.fill(a, m, b);
    assert a[1] == 7 && inner.equals(List.of(1, 2)) && m.get("n") == inner && b.toString().equals("x!");
    assert s.literal("same");
    try { s.fixed(List.of(2)); throw new Exception("a fixed list grew"); } catch (UnsupportedOperationException e) {}"""
    assert checked(sandbox, members, statements).outcome is ProgramOutcome.PASSED


def test_exceptions_come_back_as_the_nearest_class_of_the_library(sandbox: JavaSandbox) -> None:
    members = """int f(int x) throws java.io.IOException { if (x == 0) throw new Odd("none");
        if (x == 1) throw new java.io.IOException("disk");
        return 1 / (x - 2); }
    static class Odd extends IllegalArgumentException { Odd(String s) { super(s); } }"""
    statements = """try { s.f(0); throw new Exception(); } catch (IllegalArgumentException e) { assert e.getMessage().equals("none"); }
    try { s.f(1); throw new Exception(); } catch (java.io.IOException e) { assert e.getMessage().equals("disk"); }
    try { s.f(2); throw new Exception(); } catch (ArithmeticException e) {}"""
    assert checked(sandbox, members, statements).outcome is ProgramOutcome.PASSED


@pytest.mark.parametrize(
    ("declared", "call", "outcome"),
    [
        ("<T> T firstOr(List<T> xs, T d) { return xs.isEmpty() ? d : xs.get(0); }", "firstOr(List.of(false), true)", ProgramOutcome.PASSED),
        ("<T> T last(T[] xs) { return xs[xs.length - 1]; }", "last(new Boolean[] {true, false})", ProgramOutcome.PASSED),
        ("<T> T f(int x) { return null; }", "f(1)", ProgramOutcome.FAILED),
    ],
)
def test_only_what_is_declared_to_give_anything_is_not_asked_yes_or_no(
    sandbox: JavaSandbox, declared: str, call: str, outcome: ProgramOutcome
) -> None:
    result = checked(sandbox, declared, f"boolean found = s.{call}; assert !found;")
    assert result.outcome is outcome, result
    assert (outcome is ProgramOutcome.PASSED) != ("declared to give anything" in result.reason), result


def test_objects_of_the_programs_classes_stay_in_its_process(sandbox: JavaSandbox) -> None:
    outside = """class Pair<A, B extends Comparable<B>> {
        private A a; final B b; static final int SIZE = 2; Pair(A a, B b) { this.a = a; this.b = b; }
        A first() { return a; } void put(A a) { this.a = a; }
        static <T> Pair<T, Integer> of(T t) { return new Pair<>(t, 1); }
        public boolean equals(Object o) { return true; } public boolean equals(Pair<?, ?> p) { return true; } }
    interface Shape { double area(); default double twice() { return 2 * area(); } }
    record Square(double side) implements Shape { public double area() { return side * side; } }
    enum Color { RED, GREEN; Color next() { return values()[(ordinal() + 1) % 2]; } }"""
    members = 'Shape shape(double x) { return new Square(x); } List<Pair<String, Integer>> pairs() { return List.of(Pair.of("q")); }'
    statements = """Pair<String, Integer> p = new Pair<>("a", 1);
    p.put("z"); assert p.first().equals("z") && Pair.SIZE == 2;
    assert s.pairs().get(0).first().equals("q");
    assert !p.equals(Pair.of("z")) && p.equals(p);
    assert s.shape(2).twice() == 8 && ((Square) s.shape(3)).side() == 3;
    assert Color.RED.next() == Color.GREEN;"""
    result = checked(sandbox, members, statements, outside)
    assert result.outcome is ProgramOutcome.PASSED, result


def forged_answer(body: str) -> str:
    """Statements that write an answer past the runner: a value by its bytes, which `body` writes."""
    return f"""var bytes = new java.io.ByteArrayOutputStream(); var body = new java.io.DataOutputStream(bytes);
        body.write(new byte[] {{'R', 0, 0, 0, 0}}); {body}
        {FRAME} var frame = new java.io.DataOutputStream(out); frame.writeInt(bytes.size()); frame.write(bytes.toByteArray());
        Thread.sleep(60000); return 0;"""


def test_an_answer_that_its_reader_cannot_hold_decides_whatever_the_test_makes_of_it(sandbox: JavaSandbox) -> None:
    # a list of lists, deeper than any stack; and a set that is twice in itself, whose hash never ends
    deep = "for (int i = 0; i < 200000; i++) body.write(new byte[] {17, 0, 0, 0, 0, 1}); body.writeByte(0);"
    endless = "body.write(new byte[] {17, 7, 0, 0, 0, 2, 13, 0, 0, 0, 0, 13, 0, 0, 0, 0});"
    for value in (deep, endless):
        members = f"Object odd() throws Exception {{ {forged_answer(value)} }}"
        result = checked(sandbox, members, "try { s.odd(); } catch (StackOverflowError e) {}")
        assert result.outcome is ProgramOutcome.FAILED
        assert "an answer that is no value" in result.reason


LONG = """class Solution {{
    String long_(int x) {{ return "\\u20ac".repeat({characters}); }}
    int back(String text, String again) {{ return text.length() + again.length(); }}
}}
"""
TELLS = "class Main {{ public static void main(String[] a) {{ Solution s = new Solution(); String t = s.long_(1); {then} }} }}"


@pytest.mark.parametrize(
    "then", ["throw new AssertionError(t);", "if (s.back(t, t) > 0) throw new AssertionError();"], ids=["in the message", "given back"]
)
def test_a_value_near_the_largest_is_the_programs_failure_wherever_the_test_takes_it(sandbox: JavaSandbox, then: str) -> None:
    result = sandbox.check(LONG.format(characters=(1 << 23) - (1 << 10)), TELLS.format(then=then))
    assert result.outcome is ProgramOutcome.FAILED, result


def test_a_value_too_large_that_the_test_made_itself_gives_no_verdict(sandbox: JavaSandbox) -> None:
    result = checked(sandbox, "int[] same(int[] all) { return all.clone(); }", "s.same(new int[1 << 22]);")
    assert (result.outcome, result.label) == (ProgramOutcome.NOT_JUDGEABLE, None)
    assert "too large" in result.reason


def test_a_test_that_passes_what_cannot_travel_gives_no_verdict(sandbox: JavaSandbox) -> None:
    result = checked(sandbox, "void run(Runnable r) { r.run(); }", "s.run(() -> {});")
    assert (result.outcome, result.label) == (ProgramOutcome.NOT_JUDGEABLE, None)
    assert "the test passes what it cannot" in result.reason


def test_a_compiler_that_was_kept_waiting_says_nothing_about_the_program(sandbox: JavaSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "COMPILE_S", 0.001)
    result = sandbox.check(RIGHT, TEST)
    assert (result.outcome, result.label) == (ProgramOutcome.INFRASTRUCTURE, None)
    assert "the compiler was not done after 0.001 s on the clock" in result.reason
    # and one that worked all the time does
    monkeypatch.setattr(java, "COMPILE_CPU_S", 0.0)
    assert sandbox.check(RIGHT, TEST).outcome is ProgramOutcome.TIMED_OUT
    monkeypatch.undo()
    assert sandbox.check(RIGHT, TEST).outcome is ProgramOutcome.PASSED


def test_a_missing_jdk_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingRuntime, match="openjdk-17-jdk-headless"):
        find_jdk("no-such-java")
    runtime = tmp_path / "bin" / "java"
    runtime.parent.mkdir()
    runtime.write_text(f'#!/bin/sh\necho "    java.home = {tmp_path}" >&2\necho "    java.specification.version = $ASSAY_VERSION" >&2\n')
    runtime.chmod(runtime.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("ASSAY_VERSION", "17")
    with pytest.raises(MissingRuntime, match="has no javac"):
        find_jdk.__wrapped__(str(runtime))
    monkeypatch.setenv("ASSAY_VERSION", "11")
    with pytest.raises(MissingRuntime, match="Java 11, which is too old"):
        find_jdk.__wrapped__(str(runtime))


def every_eighth() -> list[dict[str, str]]:
    """Of the published items: all of them take minutes."""
    with gzip.open(DATA / HUMANEVAL_X, "rt") as lines:
        return [json.loads(line) for line in lines][::8]


@needs_data(HUMANEVAL_X)
def test_canonical_solutions_of_humaneval_x_pass_and_fail_once_broken(sandbox: JavaSandbox) -> None:
    items = every_eighth()
    pairs = [(item["prompt"] + item["canonical_solution"], item["test"]) for item in items]
    assert [item["task_id"] for item, pair in zip(items, pairs, strict=True) if not sandbox.check(*pair).label] == []
    # the answers of one task are not those of the next: same signature, other body
    bodies = [(item["prompt"] + "        throw new RuntimeException();\n    }\n}\n", item["test"]) for item in items[:20]]
    assert not any(sandbox.check(*pair).label for pair in bodies)


@pytest.mark.parametrize(
    ("asked", "type_"),
    [
        ('s.f(1).equals("b")', "Agree"),
        ("s.f(1).compareTo(3) == 0", "Agree"),
        ('s.f(1).startsWith("a")', "Agree"),
        ('s.f(1).generic("a")', "Agree"),
        ('s.f(1).fixed("a")', "Agree"),
        ('s.f(1).self().startsWith("a")', "Agree"),
        ('s.f(1).startsWith("a")', "Says"),
        ('s.all().get(0).startsWith("a")', "Agree"),
    ],
)
def test_an_object_of_the_programs_does_not_say_of_itself_that_it_is_right(sandbox: JavaSandbox, asked: str, type_: str) -> None:
    members = f"{type_} f(int x) {{ return new Agree(); }} List<Agree> all() {{ return List.of(new Agree()); }}"
    result = checked(sandbox, members + AGREEING.replace("Agree self() { return this; }", ""), f"assert {asked};", OUTSIDE)
    assert result.outcome is ProgramOutcome.FAILED, result


def test_an_object_that_the_test_made_may_be_asked_yes_or_no(sandbox: JavaSandbox) -> None:
    outside = "class Door { boolean isOpen() { return true; } int to(String name) { return 3; } boolean knows(String a) { return true; } }"
    result = checked(sandbox, "", 'Door d = new Door(); assert d.isOpen() && d.to("a") == 3 && d.knows("b");', outside)
    assert result.outcome is ProgramOutcome.PASSED, result
    result = checked(sandbox, "boolean isEmpty(String text) { return text.length() == 0; }", 'assert s.isEmpty("");')
    assert result.outcome is ProgramOutcome.PASSED, result


HIJACK = """class Solution { Outer.Says f(int x) { return new Agree(); } }
interface Outer extends Above { interface Says { default boolean startsWith(String s) { return true; } } }
interface Above { ABOVE }
interface Holder { interface Remote { static Object call(Object s, String o, String n, String d, Object[] a) { return true; } } }
class Agree implements Outer.Says {}
"""
CAPTURE = "interface assay { interface sandbox extends Holder {} }"


def test_a_program_does_not_take_the_name_by_which_stand_ins_call(sandbox: JavaSandbox) -> None:
    program = HIJACK.replace("ABOVE", CAPTURE)
    result = sandbox.check(program, 'class Main { public static void main(String[] a) { assert new Solution().f(1).startsWith("abc"); } }')
    assert result.outcome is ProgramOutcome.FAILED
    assert "may not use the name of a package" in result.reason


# answers that say in two steps that they are right
ECHO = """class Echo { Object seen;
    Echo subtract(BigDecimal b) { return this; } BigDecimal abs() { return BigDecimal.ZERO; } double doubleValue() { return 0; }
    Echo xor(BigInteger b) { return this; } int bitCount() { return 0; }
    Echo replace(String a, String b) { return this; } int length() { return 0; } String trim() { return ""; }
    Echo max(String e) { seen = e; return new Echo(e); } Object seen() { return seen; } void learn(String e) { seen = e; }
    void into(String e, Object[] a) { a[0] = e; }
    int self(int e) { return e; } int minus(int e) { return 0; } List<Integer> removeAll(List<Integer> l) { return List.of(); }
    Echo unless(String e) { return null; } Echo() {} Echo(Object seen) { this.seen = seen; }
    Integer get(int i) { return 5; } int size() { return 1; } }"""


@pytest.mark.parametrize(
    "statements",
    [
        'assert s.f(1).subtract(new BigDecimal("1.5")).abs().compareTo(new BigDecimal("0.000001")) < 0;',
        'assert s.f(1).replace("abc", "").trim().isEmpty();',
        'var answer = s.f(1); answer.learn("abc"); assert answer.seen().equals("abc");',
        'Object[] seen = new Object[1]; s.f(1).into("abc", seen); assert seen[0].equals("abc");',
        "assert s.f(1).self(7) == 7;",
        'assert s.f(1).unless("abc") == null;',
    ],
)
def test_an_answer_that_was_told_what_it_should_be_does_not_count(sandbox: JavaSandbox, statements: str) -> None:
    result = checked(sandbox, "Echo f(int x) { return new Echo(); }", statements, ECHO)
    assert result.outcome is ProgramOutcome.FAILED
    assert "the program's word does not count" in result.reason


def test_an_answer_is_asked_for_what_it_holds(sandbox: JavaSandbox) -> None:
    result = checked(sandbox, "Echo f(int x) { return new Echo(); }", "assert s.f(1).size() == 1 && s.f(1).get(0) == 5;", ECHO)
    assert result.outcome is ProgramOutcome.PASSED, result


@pytest.mark.parametrize(
    ("imports", "outside", "asked"),
    [
        (
            "import javax.crypto.*;",
            "class Mac { static Mac getInstance(String s) { return new Mac(); } int getMacLength() { return 0; } }",
            'Mac.getInstance("HmacSHA256").getMacLength()',
        ),
        (
            # inherited by the class that is named
            "import static java . util . HashMap . *;",
            "class Entry { static Object comparingByKey() { return 0; } }",
            "(Entry.<Integer, Integer>comparingByKey() instanceof java.util.Comparator<?> ? 1 : 0)",
        ),
    ],
)
def test_a_class_of_the_program_does_not_hide_what_the_test_imports(sandbox: JavaSandbox, imports: str, outside: str, asked: str) -> None:
    test = f"{imports} class Main {{ public static void main(String[] a) throws Exception {{ assert new Solution().f() == {asked}; }} }}"
    wrong = f"class Solution {{ int f() {{ return 0; }} }} {outside}"
    assert sandbox.check(wrong, test).outcome is ProgramOutcome.FAILED
    right = wrong.replace("f() { return 0;", f"f() {{ return {32 if 'Mac' in outside else 1};")
    result = sandbox.check(right, test)
    assert result.outcome is ProgramOutcome.PASSED, result


def test_a_test_may_import_all_of_the_programs_package(sandbox: JavaSandbox) -> None:
    program = "package p; public class Solution { public static int f(int x) { return x; } }"
    test = "import p.*; import static p.Solution.*; class Main { public static void main(String[] a) { assert f(2) == 2; } }"
    result = sandbox.check(program, test)
    assert result.outcome is ProgramOutcome.PASSED, result


def test_a_value_too_large_that_the_test_made_by_what_the_program_gave_is_the_programs_failure(sandbox: JavaSandbox) -> None:
    members = "int size(int n) { return 5000000; } int fill(int[] a) { return 0; }"
    result = checked(sandbox, members, "int[] a = new int[s.size(3)]; assert s.fill(a) == 3;")
    assert (result.outcome, result.label) == (ProgramOutcome.FAILED, False)
    assert "too large" in result.reason


POOL = "var pool = java.util.concurrent.Executors.newSingleThreadExecutor();"


@pytest.mark.parametrize(
    "statements",
    [
        "new Thread(() -> { try { Thread.sleep(300); } catch (Exception e) {} assert s.f(1) == 2; }).start();",
        "new Thread(() -> { if (s.f(1) != 2) Runtime.getRuntime().halt(1); }).start();",
        f"{POOL} pool.execute(() -> {{ assert s.f(1) == 2; }}); pool.shutdown();",
        "System.exit(s.f(1) == 2 ? 0 : 3);",
    ],
)
def test_what_a_thread_or_the_status_of_the_test_says_counts(sandbox: JavaSandbox, statements: str) -> None:
    wrong = checked(sandbox, "int f(int x) { return x; }", statements)
    assert wrong.outcome is ProgramOutcome.FAILED, wrong
    right = checked(sandbox, "int f(int x) { return x + 1; }", statements)
    assert right.outcome is ProgramOutcome.PASSED, right


def test_a_refusal_that_the_test_caught_stays_one_where_the_test_exits(sandbox: JavaSandbox) -> None:
    members, statements = "Agree f(int x) { return new Agree(); }", 'try { s.f(1).startsWith("a"); } catch (Error e) {} System.exit(0);'
    result = checked(sandbox, members, statements, OUTSIDE)
    assert result.outcome is ProgramOutcome.FAILED, result


def test_threads_of_a_test_may_call_at_the_same_time(sandbox: JavaSandbox) -> None:
    statements = """var all = java.util.stream.IntStream.range(0, 400).parallel().map(s::f).boxed().toList();
    for (int i = 0; i < 400; i++) assert all.get(i) == i + 1;"""
    result = checked(sandbox, "int f(int x) { return x + 1; }", statements)
    assert result.outcome is ProgramOutcome.PASSED, result


BIG = '    static final String C{} = "' + "x" * 60_000 + '" + "{}";\n'


@pytest.mark.parametrize(
    "program",
    [
        RIGHT + "class A { " + "".join(f"class {'B' * 200}{i} {{ " for i in range(120)) + "}" * 121,
        RIGHT + "class Big {\n" + "".join(BIG.format(i, i) for i in range(330)) + "}",
        RIGHT + "class Deep { int x = " + "(" * 9_000 + "1" + ")" * 9_000 + "; }",
    ],
    ids=["many long names", "many constants", "deep"],
)
def test_a_program_that_is_too_much_for_the_compiler_has_failed_and_the_next_one_passes(sandbox: JavaSandbox, program: str) -> None:
    result = sandbox.check(program, TEST)
    assert result.label is not None, result
    assert sandbox.check(RIGHT, TEST).outcome is ProgramOutcome.PASSED


def test_nothing_that_a_program_brings_about_in_its_judge_is_left_for_the_next(sandbox: JavaSandbox) -> None:
    leaves = 'System.setProperty("left", s.f()); assert s.f().equals("x");'
    assert checked(sandbox, 'String f() { return "x"; }', leaves).outcome is ProgramOutcome.PASSED
    finds = 'assert System.getProperty("left") == null && s.f().equals("x");'
    assert checked(sandbox, 'String f() { return "x"; }', finds).outcome is ProgramOutcome.PASSED


@needs_data(HUMANEVAL_X)
def test_no_test_of_humaneval_x_passes_a_program_whose_answer_agrees_with_everything(sandbox: JavaSandbox) -> None:
    pairs = []
    items = every_eighth()
    for item in items:
        head, _, signature = item["declaration"].rstrip().rpartition("public ")
        name = re.search(r"(\w+)\(", signature)
        assert name is not None
        body = f"public Agree {signature[name.start() :]} return new Agree(); }} }}\n"
        pairs.append((f"{head}{body}{OUTSIDE}", item["test"]))
    passed = [
        item["task_id"] for item, result in zip(items, (sandbox.check(*pair) for pair in pairs), strict=True) if result.label is not False
    ]
    assert passed == []


def test_the_compiler_takes_nothing_from_the_current_folder(sandbox: JavaSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    services = tmp_path / "META-INF" / "services"
    services.mkdir(parents=True)
    (services / "javax.annotation.processing.Processor").write_text("Evil\n")  # javac fails where it looks for that class
    monkeypatch.chdir(tmp_path)
    with JavaSandbox(Jail(best_level())) as made:
        assert checked(made, "int f(int x) { return x + 1; }", "assert s.f(1) == 2;").label


@needs_data(HUMANEVAL_X)
def test_the_helpers_of_a_prompt_are_the_tests(sandbox: JavaSandbox) -> None:
    items = {item.id: item for item in read_items(DATA / HUMANEVAL_X)}
    hidden = "return 7;}} class Math { static double pow(double a, double b) { return 0; } }"
    for number, wrong in ((32, hidden), (32, "return Double.NaN;}}"), (50, "return s;}}")):
        item = items[f"Java/{number}"]
        assert sandbox.check(item.program(), item.test).label
        assert sandbox.check(item.program(wrong), item.test).label is False

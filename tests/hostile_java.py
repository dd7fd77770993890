"""Java programs that try to pass a test that they should fail, or to do harm: tests/analysis/sandbox/judging/test_java.py."""

from assay.analysis.sandbox.judging.result import ProgramOutcome

TEST = """public class Main {
    public static void main(String[] args) {
        Solution s = new Solution();
        List<Boolean> correct = Arrays.asList(
            s.square(3) == 9,
            s.square(-4) == 16,
            Objects.equals(s.squares(4), Arrays.asList(0, 1, 4, 9)),
            s.squares(3).equals(List.of(0, 1, 4))
        );
        if (correct.contains(false)) {
            throw new AssertionError();
        }
    }
}
"""
RIGHT = """import java.util.*;
class Solution {
    int square(int x) { return x * x; }
    List<Integer> squares(int n) { List<Integer> all = new ArrayList<>(); for (int i = 0; i < n; i++) all.add(i * i); return all; }
}
"""


def solution(square: str, more: str = "", squares: str = "return new ArrayList<>();", outside: str = "") -> str:
    """A wrong program: the bodies of its two methods, more members, more classes."""
    return f"""import java.util.*;
import java.util.function.*;
class Solution {{
    {more}
    int square(int x) {{ {square} }}
    List<Integer> squares(int n) {{ {squares} }}
}}
{outside}"""


ENDLESS = "byte[] a = new byte[1 << 16]; for (;;) { System.out.write(a, 0, a.length); if (x < -9) return 0; }"
FRAME = "var out = new java.io.FileOutputStream(java.io.FileDescriptor.out);"

# What each program tries, and what comes of it; None for any outcome but that it passes.
_THAT_FAIL = {
    "says that it has ended, so that no verdict be given": solution(
        f"try {{ {FRAME} out.write(new byte[] {{0, 0, 0, 1, 'D'}}); out.flush(); }} catch (Exception e) {{}} return 0;"
    ),
    "prints what a passed test prints": solution('System.out.println("PASSED"); System.out.println("OK (1 test)"); return 0;'),
    "gives a list that equals everything": solution(
        "return x * x;",
        squares="return new ArrayList<>() { public boolean equals(Object o) { return true; } public int hashCode() { return 0; } };",
    ),
    "gives a list that changes while it is read": solution(
        "return x * x;",
        squares="""return new AbstractList<>() { int calls; public Integer get(int i) { return calls++; }
                public int size() { return calls % 7; } };""",
    ),
    "has a class Objects whose equals is always true": solution(
        "return x * x;", outside="class Objects { static boolean equals(Object a, Object b) { return true; } }"
    ),
    "hides the judge's own names": solution(
        "return 0;",
        outside="""class assay { static class sandbox { static class Remote {
                static Object call(Object a, String b, String c, String d, Object[] e) { return 9; } } } }""",
    ),
    "has a class Test with a main": solution("return 0;", outside="class Test { public static void main(String[] args) {} }"),
    "is in the judge's package": "package assay.sandbox;"
    + solution("return 0;", outside="class Remote { static Object call(Object... a) { return 9; } }"),
    "looks for the judge by reflection": solution(
        """try { Class<?> judge = Class.forName("assay.sandbox.Remote", true, ClassLoader.getSystemClassLoader());
                var field = judge.getDeclaredField("session"); field.setAccessible(true); field.set(null, null); }
                catch (Throwable e) { return 0; } return 0;"""
    ),
    "writes code into the annotation of a type": "import java.util.*; import java.lang.annotation.*;\n"
    "@Target(ElementType.TYPE_USE) @interface A { String value(); }\n"
    'class Solution { @A("*/ static { System.exit(0); } /*") Integer square(int x) { return 0; }\n'
    'List<@A("\\"); System.exit(0); (\\"") Integer> squares(int n) { return null; } }',
    "throws what the test would": solution("throw new AssertionError();"),
    "throws away the stack": solution("return square(x) + 1;"),
    "gives a list that holds itself": solution("return x * x;", squares="List a = new ArrayList(); a.add(a); return a;"),
}
HOSTILE = {name: (program, ProgramOutcome.FAILED) for name, program in _THAT_FAIL.items()} | {
    "exits in a static initialiser": (solution("return 0;", "static { System.exit(0); }"), None),
    "halts": (solution("Runtime.getRuntime().halt(0); return 9;"), None),
    "kills every process it sees": (
        solution('try { new ProcessBuilder("sh", "-c", "kill -9 -1").start().waitFor(); } catch (Exception e) {} return 0;'),
        None,
    ),
    "writes a verdict in the place of an answer": (
        solution(f"try {{ {FRAME} out.write(new byte[] {{0, 0, 0, 1, 'P'}}); out.flush(); }} catch (Exception e) {{}} return 0;"),
        None,
    ),
    "floods the place of answers with verdicts": (
        solution(
            "return 0;",
            f"""static {{ new Thread(() -> {{ try {{ {FRAME} for (;;) out.write(new byte[] {{0, 0, 0, 1, 'P'}}); }}
                catch (Exception e) {{}} }}).start(); }}""",
        ),
        None,
    ),
    "changes the cache of small integers": (
        solution(
            """try { var field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe"); field.setAccessible(true);
                sun.misc.Unsafe unsafe = (sun.misc.Unsafe) field.get(null);
                long at = unsafe.objectFieldOffset(Integer.class.getDeclaredField("value"));
                for (int i = 0; i < 100; i++) unsafe.putInt(Integer.valueOf(i), at, 9); } catch (Exception e) {} return 9;"""
        ),
        None,
    ),
    "never ends, in a static initialiser": (
        solution("return 0;", "static { int i = 0; while (i == 0) i = i * 2; }"),
        ProgramOutcome.TIMED_OUT,
    ),
    "has threads that never end": (
        solution("for (int i = 0; i < 8; i++) new Thread(() -> { for (;;) Thread.onSpinWait(); }).start(); return 0;"),
        None,
    ),
    "catches that the heap is full": (
        solution("var all = new ArrayList<long[]>(); try { while (true) all.add(new long[1 << 20]); } catch (Throwable e) {} return 9;"),
        ProgramOutcome.OUT_OF_MEMORY,
    ),
    "gives a list beyond all bounds": (solution("return x * x;", squares="return Collections.nCopies(Integer.MAX_VALUE - 9, 7);"), None),
    "starts threads without end": (
        solution(
            """try { for (;;) new Thread(() -> { try { Thread.sleep(99999); } catch (Exception e) {} }).start(); }
                catch (Error e) {} return 0;"""
        ),
        None,
    ),
    "prints without end": (solution(ENDLESS), None),
    "fills the disk": (
        solution(
            """try (var out = new java.io.FileOutputStream("/tmp/full")) { for (;;) out.write(new byte[1 << 20]); }
                catch (Exception e) { return 0; }"""
        ),
        None,
    ),
}

ASKS_TRUE = """public class Main {
    public static void main(String[] args) {
        Solution s = new Solution();
        List<Boolean> correct = Arrays.asList(s.isSquare(4), s.isSquare(9));
        if (correct.contains(false)) {
            throw new AssertionError();
        }
    }
}"""
ASKS_FALSE = ASKS_TRUE.replace("s.isSquare(4), s.isSquare(9)", "!Boolean.TRUE.equals(s.isSquare(3))")


def answering(method: str, more: str = "") -> str:
    """A program with a method that answers yes or no."""
    return f"import java.util.*;\nclass Solution {{ {more} {method} }}\n"


# a right answer in a frame that the sandbox's own code would not write
_FORGED = """static void say(int... bytes) { try { var out = new java.io.FileOutputStream(java.io.FileDescriptor.out);
    for (int b : bytes) out.write(b); out.flush(); Thread.sleep(99999); } catch (Exception e) {} }"""

# Programs, and the tests that ask them yes or no.
UNCERTAIN = {
    "gives null for yes": (answering("Boolean isSquare(int x) { return null; }"), ASKS_TRUE),
    "gives null for no": (answering("Boolean isSquare(int x) { return null; }"), ASKS_FALSE),
    "gives null of any type": (answering("<T> T isSquare(int x) { return null; }"), ASKS_TRUE),
    "gives null of a class with a type": (
        answering("T isSquare(int x) { return null; }").replace("Solution {", "Solution<T extends Boolean> {"),
        ASKS_TRUE,
    ),
    "gives null by what it inherits": (
        "class Above { Boolean isSquare(int x) { return null; } } class Solution extends Above {}",
        ASKS_TRUE,
    ),
    "says of a negative number of changes": (
        answering("boolean isSquare(int x) { say(0, 0, 0, 6, 'R', 255, 255, 255, 255, 1); return true; }", _FORGED),
        ASKS_TRUE,
    ),
    "says a frame of negative length": (answering("boolean isSquare(int x) { say(255, 255, 255, 255); return true; }", _FORGED), ASKS_TRUE),
}
# Only one question is asked of those that answer once and then wait.
UNCERTAIN |= {
    name: (program, test.replace(", s.isSquare(9)", "")) for name, (program, test) in UNCERTAIN.items() if name.startswith("says")
}

# opens what it finds: without namespaces a program may ask for the permissions of any file
PEEK = solution(
    """for (String name : new String[] {"/etc/shadow", "%s", "%s"}) {
        String[] inside = new java.io.File(name).list();
        if (inside != null && inside.length > 0) return 0;
        try (var file = new java.io.FileInputStream(name)) { return 0; } catch (java.io.IOException e) {} }
    if (System.getenv("ASSAY_SECRET") != null) return 1;
    try (var socket = new java.net.Socket("127.0.0.1", %d)) { return 2; } catch (java.io.IOException e) {}
    try { new java.io.FileOutputStream("%s").close(); return 3; } catch (java.io.IOException e) {}
    return x * x;"""
).replace("return new ArrayList<>();", RIGHT.split("squares(int n) {")[1].split("return all; }")[0] + "return all;")

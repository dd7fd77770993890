from __future__ import annotations

import itertools
import os
import secrets
import signal
import threading
import time

import pytest

from assay.analysis.sandbox.isolation import running_jail, running_process
from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.limits import Limits
from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.analysis.sandbox.judging.result import ProgramOutcome, Result

SHORT = Limits(cpu_s=1, wall_s=5, memory_bytes=1 << 28)


def failed(result: Result, *says: str) -> bool:
    return result.outcome is ProgramOutcome.FAILED and result.label is False and all(text in result.reason for text in says)


def test_a_right_program_passes_and_a_wrong_one_fails_with_the_line_of_the_test(sandbox: PythonSandbox) -> None:
    test = "assert f(1) == 2\nassert f(2) == 3, 'two'\n"
    right = sandbox.check("def f(x):\n    print('at', x)\n    return x + 1\n", test)
    assert (right.outcome, right.label, right.output) == (ProgramOutcome.PASSED, True, "at 1\nat 2\n")
    assert right.cpu_s > 0
    assert failed(sandbox.check("def f(x):\n    return 2\n", test), "AssertionError: two", "line 2")


REPORTING = "test_report = ''\nfor n in range(3):\n    test_report += str(f(n)) + ' '\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "outcome", "report"),
    [
        ("def f(x):\n    return x + 1\n", ProgramOutcome.PASSED, "1 2 3 "),
        ("def f(x):\n    while x:\n        pass\n    return 7\n", ProgramOutcome.TIMED_OUT, "7 "),
        ("def f(:\n", ProgramOutcome.FAILED, ""),
    ],
)
def test_what_a_test_reports_is_told_as_far_as_it_came(sandbox: PythonSandbox, program: str, outcome: ProgramOutcome, report: str) -> None:
    told = sandbox.check(program, REPORTING, limits=SHORT)
    assert (told.outcome, told.report) == (outcome, report)


def test_a_report_is_cut_and_is_never_a_programs_object(sandbox: PythonSandbox) -> None:
    assert sandbox.check("def f(): return 'x' * 100_000", "test_report = f()").report == "x" * 16_000
    assert sandbox.check("class f: pass", "test_report = f()").report == ""


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("def f(:\n", "SyntaxError"),
        ("def g(x): return 2\n", "does not define f"),
        ("def f(x): raise ValueError('so')\n", "ValueError: so (line 1 of the program)"),
        ("def f(x): return f(x)\n", "RecursionError"),
    ],
)
def test_a_program_that_breaks_down_fails_with_its_reason(sandbox: PythonSandbox, program: str, says: str) -> None:
    assert failed(sandbox.check(program, "assert f(1) == 2\n", "f"), says)


# A few of the forgeries in tests/analysis/hostile, for quick runs.
@pytest.mark.parametrize(
    "program",
    [
        "class A:\n    def __eq__(self, o): return True\n    __hash__ = None\ndef f(x): return A()",
        "import os\ndef f(x): os._exit(0)",
        "import os\nos.write(3, b'\\0\\0\\0\\1N' * 50)\ndef f(x): return 0",
        "import sys\ndef f(x):\n    g = sys._getframe()\n    while g:\n        g.f_globals.clear()\n        g = g.f_back\n    return 0",
        "import os\ndef f(x):\n    os.kill(-1, 9)\n    return 0",
    ],
)
def test_no_wrong_program_passes(sandbox: PythonSandbox, program: str) -> None:
    for test in ("assert f(1) == 2\n", "assert f(1) and f(1) == 2"):
        result = sandbox.check(program, test, "f", limits=SHORT)
        assert result.label is False, result


def test_a_refusal_counts_whatever_the_test_catches(sandbox: PythonSandbox) -> None:
    test = "try:\n    f(1) == 2\nexcept:\n    pass\n"
    assert failed(sandbox.check("class A: pass\ndef f(x): return A()", test), "equality", "class A")
    assert failed(sandbox.check("import os\ndef f(x): os._exit(0)", test), "status 0")
    assert failed(sandbox.check("def f(x): raise SystemExit", test), "SystemExit")
    # nor does the program end a loop of the test early
    looped = "assert all(map(lambda n: f(n) == n + 1, [1, 2]))\n"
    assert failed(sandbox.check("def f(x): raise StopIteration", looped), "StopIteration")


def test_the_judges_own_builtins_and_modules_are_used_whatever_the_program_calls_so(sandbox: PythonSandbox) -> None:
    program = "class math:\n    isclose = staticmethod(lambda a, b: True)\ndef len(x): return 2\ndef f(x): return 0.5\n"
    assert failed(sandbox.check(program, "assert math.isclose(f(1), 0.25)\n", "f"))
    assert failed(sandbox.check("def len(x): return 2\ndef f(x): return [1]\n", "assert len(f(1)) == 2\n", "f"))
    assert sandbox.check("def sum(a, b): return a + b\n", "assert sum(1, 2) == 3\n", "sum").label


def test_expected_exceptions_are_the_builtins_of_that_name_or_stand_ins(sandbox: PythonSandbox) -> None:
    test = "import unittest\ncase = unittest.TestCase()\nwith case.assertRaisesRegex({kind}, 'so'):\n    f(1)\n"
    mine = "class Mine(ValueError): pass\n"
    assert sandbox.check("def f(x): raise ValueError('so')", test.format(kind="ValueError")).label
    assert sandbox.check(f"{mine}def f(x): raise Mine('so')", test.format(kind="ValueError")).label
    assert sandbox.check(
        "def f(x): return b'\\xff'.decode()", "try:\n    f(1)\n    assert False\nexcept UnicodeDecodeError:\n    pass"
    ).label
    assert failed(sandbox.check("def f(x): raise TypeError('so')", test.format(kind="ValueError")), "TypeError: so")
    assert failed(sandbox.check("def f(x): return 1", test.format(kind="ValueError")), "not raised")
    assert failed(sandbox.check("import unittest\ndef f(x): raise unittest.SkipTest('so')", test.format(kind="ValueError")), "SkipTest")


def test_arguments_changed_in_place_are_changed_for_the_test(sandbox: PythonSandbox) -> None:
    program = """
def f(items, table, kept):
    items[0].append(items)
    table["new"] = {1, 2}
    table["old"].discard(3)
    return items
"""
    test = """
inner, old, kept = [], {3, 4}, [1]
items, table = [inner], {"old": old}
back = f(items, table, kept)
assert back is items and items[0] is inner and inner[0] is items
assert table == {"old": {4}, "new": {1, 2}} and table["old"] is old and kept == [1]
"""
    assert sandbox.check(program, test).label


def test_objects_of_the_programs_classes_are_used_through_their_attributes(sandbox: PythonSandbox) -> None:
    program = """
class Node:
    def __init__(self, value):
        self.value, self.left = value, None
    def total(self):
        return self.value + (self.left.total() if self.left else 0)
    def __iter__(self):
        yield self.value
        if self.left:
            yield from self.left
    def __repr__(self):
        return f"Node({self.value})"
def total(node):
    return node.total()
"""
    test = """
root = Node(1)
root.left = Node(2)
root.left.left = Node(3)
assert total(root) == 6 == root.left.left.value + 3 and list(root) == [1, 2, 3]
assert root.left is root.left and repr(root) == "Node(1)" and root.left.left.left is None
assert not hasattr(root, "right")
"""
    assert sandbox.check(program, test).label


def test_functions_go_both_ways(sandbox: PythonSandbox) -> None:
    program = "def twice(f): return lambda x: f(f(x))\ndef squares():\n    n = 0\n    while True:\n        yield n * n\n        n += 1\n"
    test = "import itertools\nassert twice(lambda n: n + 3)(1) == 7\nassert list(itertools.islice(squares(), 4)) == [0, 1, 4, 9]\n"
    assert sandbox.check(program, test).label


@pytest.mark.slow
def test_limits_end_what_goes_on_too_long_or_takes_too_much(sandbox: PythonSandbox) -> None:
    test = "assert f(1) == 2"
    assert sandbox.check("def f(x):\n    while True: pass", test, limits=Limits(cpu_s=0.3)).outcome is ProgramOutcome.TIMED_OUT
    assert sandbox.check("while True: print('x' * 1000)", test, limits=Limits(cpu_s=0.3)).outcome is ProgramOutcome.TIMED_OUT
    asleep = sandbox.check("import time\ndef f(x): time.sleep(60)", test, limits=Limits(wall_s=0.5))
    assert (asleep.outcome, asleep.reason) == (ProgramOutcome.TIMED_OUT, "took more than 0.5 s")
    hungry = "def f(x): return len(bytearray(1 << 29))"
    assert sandbox.check(hungry, test, limits=SHORT).outcome is ProgramOutcome.OUT_OF_MEMORY
    ignoring = (
        "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass"
    )
    assert sandbox.check(ignoring, test, limits=Limits(cpu_s=0.3)).outcome is ProgramOutcome.TIMED_OUT
    crashed = sandbox.check("import ctypes\ndef f(x): ctypes.string_at(0)", test)
    assert (crashed.outcome, crashed.reason) == (ProgramOutcome.CRASHED, "died of SIGSEGV")


def test_only_so_much_output_is_kept_and_endless_output_does_no_harm(sandbox: PythonSandbox) -> None:
    loud = sandbox.check("def f(x):\n    print('x' * 300_000)\n    return 2", "assert f(1) == 2", limits=Limits(output_bytes=1000))
    assert (loud.label, loud.output) == (True, "x" * 1000)


def test_what_the_judge_works_on_is_bounded_too(sandbox: PythonSandbox) -> None:
    result = sandbox.check("def f(x): return range(1 << 40)", "assert sorted(f(1)) == [1]", limits=Limits(cpu_s=0.2, wall_s=2))
    assert result.outcome in (ProgramOutcome.OUT_OF_MEMORY, ProgramOutcome.TIMED_OUT)
    assert sandbox.check("def f(x): return 2", "assert f(1) == 2").label


def test_a_program_that_cuts_its_wire_and_lives_on_is_ended_and_has_failed(sandbox: PythonSandbox) -> None:
    away = "import os, time\ndef f(x):\n    os.closerange(3, 99)\n    time.sleep(60)\n"
    result = sandbox.check(away, "assert f(1) == 2", "f", limits=SHORT)
    assert (result.outcome, result.reason) == (ProgramOutcome.FAILED, "cut itself off from its tests")


def test_a_kill_by_the_machine_says_nothing_about_the_program(sandbox: PythonSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = "import os, signal\ndef f(x):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    result = sandbox.check(killed, "assert f(1) == 2", "f", limits=SHORT)
    assert (result.outcome, result.reason) == (ProgramOutcome.CRASHED, "died of SIGKILL")
    # the kernel's count of the processes that it killed goes up meanwhile
    count = itertools.count(running_jail.oom_kills())
    monkeypatch.setattr(running_process, "oom_kills", lambda: next(count))
    result = sandbox.check(killed, "assert f(1) == 2", "f", limits=SHORT)
    assert (result.outcome, result.reason) == (ProgramOutcome.INFRASTRUCTURE, "the machine ran out of memory")
    assert sandbox.check("def f(x):\n    return 2\n", "assert f(1) == 2", "f", limits=SHORT).outcome is ProgramOutcome.PASSED


def test_a_test_that_can_not_be_run_says_nothing_about_the_program(sandbox: PythonSandbox) -> None:
    for test, says in (
        ("assert f(:", "SyntaxError"),
        ("1 / 0\nassert f(1)", "ZeroDivisionError"),
        ("f(iter([]))", "list_iterator"),
        ("1 + 1", "nothing of the program"),
    ):
        result = sandbox.check("def f(x): return 2", test)
        assert (result.outcome, result.label) == (ProgramOutcome.NOT_JUDGEABLE, None)
        assert says in result.reason


def test_a_check_function_that_nothing_calls_is_called_with_the_entry_point(sandbox: PythonSandbox) -> None:
    test = "def check(candidate):\n    assert candidate(1) == 2\n"
    assert sandbox.check("def f(x): return 2", test, "f").label
    assert failed(sandbox.check("def f(x): return 3", test, "f"), "line 2")


def test_a_check_function_that_the_test_calls_is_called_once(sandbox: PythonSandbox) -> None:
    test = "calls = []\ndef check(candidate):\n    calls.append(candidate(1))\n    assert calls == [2]\ncheck(f)"
    assert sandbox.check("def f(x): return 2", test, "f").label
    assert sandbox.check("def f(x): return 2", test.replace("check(f)", "for g in [f]:\n    check(g)"), "f").label


SCAN = """
import ctypes, os, re
def f(x):
    libc, (read, write), found = ctypes.CDLL(None, use_errno=True), os.pipe(), set()
    start = id([]) & ~4095
    for page in range(start - (64 << 20), start + (64 << 20), 4096):
        # a page that is not there gives an error, and no crash
        if libc.write(write, ctypes.c_void_p(page), ctypes.c_size_t(4096)) == 4096:
            found.update(re.findall(rb"TOKEN-[0-9a-f]{32}-END", os.read(read, 4096)))
    return sorted(each.decode() for each in found)
"""


def test_a_program_reads_no_other_program_in_its_memory(sandbox: PythonSandbox) -> None:
    token = f"TOKEN-{secrets.token_hex(16)}-END"
    # as long as real ones are: what is short is soon written over
    program = f"def f(x): return {token!r}\n" + "# a line that says what the next one does\n" * 10_000
    assert sandbox.check(program, "assert f(1)[:5] == 'TOKEN'").label
    assert sandbox.check(SCAN, "assert f(1) == []", limits=Limits(cpu_s=30)).reason == ""


@pytest.mark.parametrize(
    "helper", ["from math import *", "exec('def isclose(a, b): return a == b')", "globals()['isclose'] = lambda a, b: a == b"]
)
def test_a_helper_that_a_test_binds_in_whatever_way_is_the_tests(sandbox: PythonSandbox, helper: str) -> None:
    program = "def f(x): return 0.1\ndef isclose(*a, **k): return True"
    assert sandbox.check(program, f"{helper}\nassert isclose(f(1), 0.5)").label is False
    assert sandbox.check(program, f"{helper}\nassert isclose(f(1), 0.1)").label


@pytest.mark.parametrize(
    ("program", "test"),
    [
        ("def f(x): return 1 << 25", "n = f(1)\nassert f('a' * n) == 2"),
        ("def f(x): raise ValueError('x' * 500)", "try: f(1)\nexcept ValueError as e: f(str(e) * 100_000)"),
        ("def f(x): return range(3)", "f(iter(f(1)))"),
        (
            "def f(grid):\n    while grid and type(grid[0]) is list: grid = grid[0]\n"
            "    for _ in range(150): grid.insert(0, []); grid = grid[0]",
            "grid = [[0, 1], [1, 0]]\nf(grid)\nf(grid)\nf(grid)",
        ),
        # by what it gives
        ("def f(x): return 'x' * 1000", "x = f(1)\nassert f(x * 1_000_000) == 42"),
        ("class A: pass\ndef f(x): return A()", "x = f(1)\nassert f(type(x)) == 42"),
        # by a function of the test
        pytest.param("def f(g): return g(10, 10 ** 7)", "assert f(lambda a, b: a ** b) == 42", marks=pytest.mark.slow),
        pytest.param("def f(g): return g('x', 10 ** 8)", "assert f(lambda a, b: a * b) == 42", marks=pytest.mark.slow),
        ("def f(g):\n    class A: pass\n    return g(A())", "assert f(lambda a: type(a)) == 42"),
        ("def f(g): return g(1)", "class Box:\n    def __init__(self, value): self.value = value\nassert f(lambda a: Box(a)) == 42"),
    ],
)
def test_what_a_program_makes_the_test_do_that_it_can_not_is_the_programs_failure(sandbox: PythonSandbox, program: str, test: str) -> None:
    result = sandbox.check(program, test, limits=Limits(cpu_s=30, wall_s=60))
    assert result.label is False, result


@pytest.mark.parametrize(
    "test",
    [
        "OPS = {'f': str.format}\nf(lambda t: OPS['f'](t, 1))",
        "class R:\n    fmt = str.format\n    def show(self, t): return self.fmt(t, self)\nf(R().show)",
        "def g(x):\n    yield x\nf(g)",
    ],
)
def test_a_reader_that_a_function_of_the_test_holds_is_not_handed_over(sandbox: PythonSandbox, test: str) -> None:
    assert sandbox.check("def f(g): return 1", test).outcome is ProgramOutcome.NOT_JUDGEABLE


def test_an_error_of_a_function_of_the_test_has_its_class_in_the_program(sandbox: PythonSandbox) -> None:
    program = "def f(g):\n    try: return g('x')\n    except ValueError: return 2\n"
    assert sandbox.check(program, "assert f(int) == 2").label
    assert sandbox.check(program, "class Mine(ValueError): pass\ndef g(x): raise Mine(x)\nassert f(g) == 2").label


def test_one_program_leaves_nothing_for_the_next(sandbox: PythonSandbox) -> None:
    hostile = "import builtins, math\nbuiltins.len = lambda x: 7\nmath.floor = lambda x: 7\ndef f(x): return len(x)"
    assert failed(sandbox.check(hostile, "assert f([1]) == 1"))
    assert sandbox.check("import math\ndef f(x): return len(x) + math.floor(0.5)", "assert f([1]) == 1").label
    test = "seen = []\ndef check(g):\n    seen.append(g(1))\n    assert seen == [2]\ncheck(f)"
    for _ in range(2):
        assert sandbox.check("def f(x): return 2", test).label


def test_a_server_that_dies_is_replaced_and_the_program_tried_again(sandbox: PythonSandbox) -> None:
    assert sandbox.check("def f(x): return 2", "assert f(1) == 2").label
    for module in ("python_server", "judge"):
        sandbox._servers[module]._process.kill()  # type: ignore[index]
        assert sandbox.check("def f(x): return 2", "assert f(1) == 2").label
        assert failed(sandbox.check("def f(x): return 3", "assert f(1) == 2"))


def test_threads_share_a_sandbox_and_none_of_its_processes_outlives_it() -> None:
    try:
        level = best_level()
    except NoIsolation as error:
        pytest.skip(str(error))
    results: dict[int, Result] = {}
    with PythonSandbox(Jail(level)) as made:

        def work(number: int) -> None:
            results[number] = made.check(f"def f(x): return {number}", "assert f(1) % 2 == 0")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        processes = [server._process.pid for server in made._servers.values()]
    assert [results[number].label for number in range(6)] == [True, False] * 3
    assert len(processes) == 2
    time.sleep(0.1)
    for pid in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, signal.SIG_DFL)


def test_limits_above_the_sandboxs_own_are_refused(sandbox: PythonSandbox) -> None:
    with pytest.raises(ValueError, match="memory limit"):
        sandbox.check("", "", limits=Limits(memory_bytes=1 << 40))


def test_annotations_are_evaluated_as_in_a_program_of_its_own(sandbox: PythonSandbox) -> None:
    nowhere = "def g(x: List[int]) -> Optional[int]: ...\ndef f(x): return x\n"
    assert failed(sandbox.check(nowhere, "assert f(1) == 1\n"), "NameError")
    kept = "class C:\n    n: int\ndef f(x): return C.__annotations__['n'](x)\n"
    assert sandbox.check(kept, "assert f('3') == 3\n").label
    assert sandbox.check("def f(x): return x\n", "class Case:\n    n: int\nassert Case.__annotations__['n'](f('3')) == 3\n").label


def test_a_handle_has_no_attribute_but_those_of_the_object(sandbox: PythonSandbox) -> None:
    program = "class P:\n    def __init__(self, name):\n        self._name, self._number, self._session = name, 7, []\n"
    test = "p = P('Ann')\nassert (p._name, p._number, p._session) == ('Ann', 7, [])\n"
    assert sandbox.check(program, test).label


@pytest.mark.parametrize("use", ["abs(f(3) - 1.5) < 1e-6", "1.5 + f(3) == 3", "round(f(3)) == 2", "int(f(3)) == 1", "-f(3) == 0"])
def test_a_program_is_not_asked_to_calculate_with_what_is_expected(sandbox: PythonSandbox, use: str) -> None:
    program = """
class Answer:
    def __getattr__(self, name):
        return lambda *given: 0.0
    __sub__ = __radd__ = __neg__ = __abs__ = lambda self, *given: given[0] if given else 0.0
    __int__ = __round__ = lambda self, *given: 1
def f(x): return Answer()
"""
    assert failed(sandbox.check(program, f"try:\n    assert {use}\nexcept TypeError:\n    pass\n"), "arithmetic")


# The program reads the expected value out of the judge, by functions that the test hands over.
READS_FORMAT = "def f(g): return int(g('{0.__globals__[expected]}', g))"
READS_GETATTR = "def f(g): return g(g, '__globals__')['expected']"


@pytest.mark.parametrize(
    ("handed", "program"),
    [
        ("str.format", "def f(g): return int(g('{0}', 41)) + 1"),
        ("getattr", "def f(g): return 42"),
        ("lambda text, *values: text.format(*values)", READS_FORMAT),
        ("lambda o, name: getattr(o, name)", READS_GETATTR),
        ("lambda o, name: helper(o, name)", READS_GETATTR),
        ("(lambda read: lambda o, name: read(o, name))(getattr)", READS_GETATTR),
        ("functools.partial(lambda read, o, name: read(o, name), getattr)", READS_GETATTR),
        ("(lambda o, name, read=getattr: read(o, name))", READS_GETATTR),
        ("Reads().read", READS_GETATTR),
        ("lambda text: eval(text)", "def f(g): return g('expected')"),
        ("lambda: sys", "def f(g): return 42"),
        ("Reads", "def f(g): return 42"),
        ("print", "def f(g): return 42"),
    ],
)
def test_a_test_that_hands_over_a_function_which_reads_what_it_should_not_is_not_judgeable(
    sandbox: PythonSandbox, handed: str, program: str
) -> None:
    test = f"""import functools, operator, sys
expected = 42
read = getattr
def helper(o, name): return read(o, name)
class Reads:
    def __call__(self, o, name): return getattr(o, name)
    def read(self, o, name): return getattr(o, name)
assert f({handed}) == expected
"""
    if handed == "print":
        test = test.replace("print", "__import__")
    result = sandbox.check(program, test, "f")
    assert (result.outcome, result.label) == (ProgramOutcome.NOT_JUDGEABLE, None), result
    assert "it hands the program a function that reads what it should not" in result.reason or handed == "Reads"


@pytest.mark.parametrize(
    "handed",
    [
        *("lambda x: x + 1", "abs", "len", "math.sqrt", "seen.append", "str.upper", "operator.add", "operator.itemgetter(0)", "Adds()"),
        *("Adds().add", "functools.partial(pow, 2)", "lambda x: lambda y: x + y", "lambda x: re.sub('a', 'b', x)", "helper"),
    ],
)
def test_a_test_may_hand_over_functions_that_work_on_their_arguments(sandbox: PythonSandbox, handed: str) -> None:
    test = f"""import functools, math, operator, re
seen = []
def helper(x): return seen and helper(x - 1)
class Adds:
    def __call__(self, x): return x + 1
    def add(self, x): return x + 1
assert f({handed}) == 42
"""
    assert sandbox.check("def f(g): return 42", test, "f").outcome is ProgramOutcome.PASSED


def test_a_function_of_the_test_may_return_a_function_of_the_test(sandbox: PythonSandbox) -> None:
    assert sandbox.check("def f(g): return g(40)(2)", "assert f(lambda x: lambda y: x + y) == 42", "f").outcome is ProgramOutcome.PASSED


def test_counters_and_ordered_and_default_dicts_are_changed_in_place_too(sandbox: PythonSandbox) -> None:
    program = """
def f(edges, counts, order):
    edges[1].append(2)
    counts["z"] += 3
    order.move_to_end("a")
"""
    test = """
from collections import Counter, OrderedDict, defaultdict
edges, counts, order = defaultdict(list, {5: [6]}), Counter("z"), OrderedDict(a=1, b=2)
f(edges, counts, order)
assert edges == {5: [6], 1: [2]} and type(edges) is defaultdict and edges.default_factory is list
assert counts == Counter(z=4) and list(order) == ["b", "a"]
"""
    assert sandbox.check(program, test).label

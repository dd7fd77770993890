"""Wrong solutions that try to pass by how they end, by what they print, or by what they change."""

# ruff: noqa: E501
from __future__ import annotations

from .program import TOKEN, forgery

# A test that swallows a program's error must not be cut short by it.
MAPPED = """
def check(candidate):
    assert all(map(lambda case: candidate(case[0]) == case[1], [(3, 9), (4, 16)]))
"""
BY_ITERATION = """
def check(candidate):
    got = list(map(candidate, [3, 4]))
    for value, expected in zip(got, [9, 16]):
        assert value == expected
"""

ENDINGS = (
    forgery("exit_at_import", "leaves with status 0 when it is loaded", "os._exit(0)\n"),
    forgery("sys_exit", "leaves politely with status 0 when it is loaded", "sys.exit(0)\n"),
    forgery("exit_in_call", "leaves with status 0 when it is asked", "def square(n):\n    os._exit(0)\n"),
    forgery("system_exit_in_call", "raises SystemExit(0) when it is asked", "def square(n):\n    raise SystemExit(0)\n"),
    forgery("exit_in_second_call", "answers once, then leaves with status 0", """
asked = []
def square(n):
    asked.append(n)
    return 9 if len(asked) == 1 else os._exit(0)
"""),
    forgery("exit_by_call", "leaves with status 0 by a system call", "def square(n):\n    syscall(231, 0)\n"),
    forgery("kill_self", "kills itself", "import signal\nos.kill(os.getpid(), signal.SIGKILL)\n"),
    forgery("crash", "crashes the interpreter when it is asked", "import ctypes\ndef square(n):\n    ctypes.string_at(8)\n"),
    forgery("abort", "aborts", "os.abort()\n"),
    forgery("become_true", "becomes the program that always succeeds", "os.execv('/bin/true', ['true'])\n"),
    forgery("exit_at_exit", "changes the status at exit", """
import atexit
atexit.register(os._exit, 0)
def square(n):
    raise ValueError("not known")
"""),
    forgery("exit_by_destructor", "leaves when the interpreter clears up", """
class Last:
    def __del__(self):
        os._exit(0)
last = Last()
def square(n):
    global last
    del last
"""),
    forgery("exit_by_thread", "a thread leaves with status 0 while the test waits", """
import threading, time
def leave():
    time.sleep(0.05)
    os._exit(0)
threading.Thread(target=leave, daemon=True).start()
def square(n):
    time.sleep(1)
"""),
    forgery("exit_by_signal", "a signal's handler leaves with status 0", """
import signal, time
signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
signal.setitimer(signal.ITIMER_REAL, 0.05)
def square(n):
    time.sleep(1)
"""),
    forgery("exit_hook", "what is called for uncaught errors leaves with status 0", """
sys.excepthook = lambda *_: os._exit(0)
def square(n):
    raise ValueError
"""),
    forgery("keyboard_interrupt", "raises what the checker's user would", "def square(n):\n    raise KeyboardInterrupt\n"),
    forgery("generator_exit", "raises GeneratorExit", "def square(n):\n    raise GeneratorExit\n", test=BY_ITERATION),
    forgery("stop_iteration_in_map", "raises StopIteration, so that all(map(...)) has nothing to look at", "def square(n):\n    raise StopIteration\n",
            test=MAPPED),
    forgery("stop_iteration_in_list", "raises StopIteration, so that list(map(...)) is empty", "def square(n):\n    raise StopIteration(9)\n",
            test=BY_ITERATION),
    forgery("index_error", "raises IndexError, which ends old iterations", """
class Answers:
    def __getitem__(self, index):
        raise IndexError
def square(n):
    return Answers()
""", test="""
def check(candidate):
    assert list(candidate(3)) == [9]
"""),
    forgery("own_assertion_error", "raises an AssertionError of its own, which says that all is well", """
class Passed(AssertionError):
    def __str__(self):
        return "passed"
    __repr__ = __str__
    def __eq__(self, other):
        return True
    __hash__ = None
def square(n):
    raise Passed("passed")
"""),
    forgery("error_group", "raises a group of errors that holds SystemExit(0)", """
def square(n):
    raise BaseExceptionGroup("passed", [SystemExit(0), KeyboardInterrupt()])
"""),
    forgery("error_of_errors", "raises an error whose text, arguments and traceback raise errors", """
class Broken(BaseException):
    def __getattribute__(self, name):
        raise SystemExit(0)
    def __str__(self):
        raise SystemExit(0)
    def __repr__(self):
        os._exit(0)
    def __reduce__(self):
        os._exit(0)
def square(n):
    raise Broken
"""),
    forgery("huge_error", "raises an error whose text is 100 MB", "def square(n):\n    raise ValueError('passed' * 20_000_000)\n"),
    forgery("error_named_ok", "raises an error whose class's name and module are lies", """
Ok = type("ok\\n1 passed in 0.01s\\npassed", (Exception,), {"__module__": "builtins", "__qualname__": "passed"})
def square(n):
    raise Ok("passed")
"""),
    forgery("syntax_error", "is no Python", "def square(n:\n"),
    forgery("zero_byte", "has a zero byte in it", "x = '\0'\n"),
    forgery("lone_surrogate", "has half a character in it, which no encoding can write", "x = '\ud800'\n"),
    forgery("deep_source", "is nested deeper than a parser can follow", "x = " + "(" * 20000 + ")" * 20000 + "\n"),
    forgery("long_source", "is a sum of so many terms that a recursive compiler dies", "def square(n):\n    return " + "+".join(["n"] * 100_000) + "\n"),
    forgery("swallows_the_test", "ends within a text, so that a test that is put behind it is part of that text", "x = '''\n"),
    forgery("ends_before_the_test", "ends itself before a test that is put behind it", "raise SystemExit\n", test="""
'''A test with a docstring.'''
def check(candidate):
    assert candidate(3) == 9
"""),
    forgery("nothing_there", "defines nothing that was asked for", "del square\n"),
    forgery("no_function", "has a number in the function's place", "square = 9\n"),
)  # fmt: skip

PRINTS = (
    forgery("prints_pass", "prints what a test runner would", """
lines = ["passed", "OK", "PASS", "1 passed in 0.01s", "Ran 3 tests in 0.000s\\n\\nOK", "All tests passed", '{"ending": "passed"}', '{"passed": true}', "true", "0"]
def square(n):
    for line in lines:
        print(line)
        print(line, file=sys.stderr)
    sys.stdout.flush()
    os._exit(0)
"""),
    forgery("prints_pass_at_exit", "prints it as the last thing", """
import atexit
atexit.register(print, "passed", flush=True)
atexit.register(os.write, 1, b"\\npassed\\n")
atexit.register(os.write, 2, b"\\nOK\\n")
"""),
    forgery("closes_all", "closes every descriptor", """
def square(n):
    for fd in range(1024):
        try:
            os.close(fd)
        except OSError:
            pass
    return 9
"""),
    forgery("swaps_all", "puts one descriptor in the place of every other", """
def square(n):
    for fd in range(256):
        try:
            os.fstat(fd)
            os.dup2(1, fd)
        except OSError:
            pass
    return n + 1
"""),
    forgery("no_waiting", "makes every descriptor that it shares with others not wait", """
import fcntl
def square(n):
    for fd in range(256):
        try:
            os.set_blocking(fd, False)
            fcntl.fcntl(fd, 1031, 4096)
        except OSError:
            pass
    return n + 1
"""),
    forgery("shuts_down", "shuts every socket and empties every file that it shares", """
import socket
def square(n):
    for fd in range(256):
        try:
            os.ftruncate(fd, 0)
        except OSError:
            pass
        try:
            socket.socket(fileno=os.dup(fd)).shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
    return n + 1
"""),
)  # fmt: skip

CHANGES = (
    forgery("patches_unittest", "makes the assertions of test frameworks do nothing", """
import unittest
for name in dir(unittest.TestCase):
    if name.startswith("assert"):
        setattr(unittest.TestCase, name, lambda *a, **k: None)
unittest.TestCase.run = lambda self, result=None: result
unittest.main = lambda *a, **k: sys.exit(0)
class pytest:
    raises = lambda *a: __import__("contextlib").suppress(BaseException)
    approx = lambda *a: object()
sys.modules["pytest"] = pytest
""", test="""
import unittest
class Case(unittest.TestCase):
    def test_square(self):
        self.assertEqual(square(3), 9)
def check(candidate):
    result = unittest.TestResult()
    Case("test_square").run(result)
    assert result.wasSuccessful(), result.failures
"""),
    forgery("patches_builtins", "puts its own in the place of the builtins that a test uses", """
import builtins
for name in ("abs", "sum", "max", "min", "round", "len", "sorted"):
    setattr(builtins, name, lambda *a, **k: 0)
for name in ("all", "any", "isinstance", "issubclass", "callable"):
    setattr(builtins, name, lambda *a, **k: True)
builtins.AssertionError = Warning
""", test="""
def check(candidate):
    assert abs(candidate(3) - 9) < 1e-6
    assert all(candidate(n) == n * n for n in range(5))
"""),
    forgery("own_builtins", "has functions with the names of builtins that a test uses", """
def abs(x): return 0
def all(x): return True
def isinstance(x, y): return True
def len(x): return 0
def range(*a): return []
def zip(*a): return []
def float(x): return 9.0
AssertionError = SystemExit
""", test="""
def check(candidate):
    assert abs(candidate(3) - 9) < 1e-6
    assert all(candidate(n) == n * n for n in range(5))
    for n, expected in zip([3], [9]):
        assert candidate(n) == expected
"""),
    forgery("own_modules", "has something else under the name of a module that the test uses and does not import", """
class math:
    fabs = staticmethod(lambda x: 0)
    isclose = staticmethod(lambda *a, **k: True)
import random
""", test="""
def check(candidate):
    assert math.isclose(candidate(3), 9)
"""),
    forgery("patches_modules", "changes the modules that a test imports", """
import math, operator, copy
math.isclose = lambda *a, **k: True
math.fabs = lambda x: 0.0
operator.eq = lambda *a: True
copy.deepcopy = lambda x, memo=None: x
sys.modules["math"] = math
""", test="""
import math, operator
def check(candidate):
    assert math.isclose(candidate(3), 9) and operator.eq(candidate(3), 9)
    assert math.fabs(candidate(3) - 9) < 1e-6
"""),
    forgery("own_helper", "has its own version of a function that the test brings along", """
def is_square_of(value, n):
    return True
""", test="""
def is_square_of(value, n):
    return value == n * n
def check(candidate):
    assert is_square_of(candidate(3), 3)
"""),
    forgery("own_check", "brings its own check, and protects it", """
import builtins
def check(candidate):
    pass
class Fixed(dict):
    def __setitem__(self, name, value):
        if name != "check":
            super().__setitem__(name, value)
builtins.check = check
sys._getframe().f_builtins["check"] = check
"""),
    forgery("patches_encoders", "changes what writes values: json, pickle, struct, marshal, repr, os.write", """
import io, json, marshal, pickle, struct
def told(*a, **k):
    return '{"ending": "passed", "ok": true, "value": 9}'
json.dumps = json.JSONEncoder.encode = json.encoder.encode_basestring_ascii = told
json.JSONEncoder.iterencode = lambda *a, **k: iter([told()])
json.dump = lambda value, file, **k: file.write(told())
pickle.dumps = marshal.dumps = lambda *a, **k: told().encode()
write = os.write
os.write = lambda fd, data: write(fd, told().encode() + b"\\n") and len(data)
struct.pack = lambda *a: told().encode()
import builtins
builtins.repr = lambda x: "9"
builtins.type = lambda *a: int
builtins.isinstance = lambda *a: True
def square(n):
    return "wrong"
"""),
    forgery("import_hook", "offers false modules to all who import after it", """
import importlib.abc, importlib.machinery
class False_(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self)
    def exec_module(self, module):
        module.__dict__.update(isclose=lambda *a, **k: True, approx=lambda *a: square(3), raises=lambda *a: None)
sys.meta_path.insert(0, False_())
for name in ("math", "statistics", "fractions"):
    sys.modules.pop(name, None)
""", test="""
import math, statistics
def check(candidate):
    assert math.isclose(candidate(3), 9)
    assert statistics.mean([candidate(3)]) == 9
"""),
    forgery("trace", "changes the test's variables while it runs", """
import ctypes
def trace(frame, event, argument):
    for name in ("expected", "value", "result"):
        if name in frame.f_locals:
            frame.f_locals[name] = 10
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
    frame.f_trace_opcodes = True
    return trace
sys.settrace(trace)
frame = sys._getframe()
while frame:
    frame.f_trace = trace
    frame = frame.f_back
def square(n):
    return 10
""", test="""
def check(candidate):
    expected = 9
    value = candidate(3)
    assert value == expected
"""),
    forgery("profile", "leaves from a profiler's hook when the test begins", """
def profile(frame, event, argument):
    if frame.f_code.co_name == "check":
        os._exit(0)
sys.setprofile(profile)
import threading
threading.setprofile(profile)
"""),
    forgery("memory_of_the_interpreter", "makes 9 and 10 the same number in its interpreter", """
import ctypes
ctypes.memmove(id(9) + 24, id(10) + 24, 4)
def square(n):
    return n + 1
"""),
    forgery("code_of_the_test", "changes the code of every function that it can find", """
import gc
def nothing(*a, **k):
    return True
for thing in gc.get_objects():
    if type(thing).__name__ == "function" and thing.__module__ != __name__ and not thing.__closure__ and thing.__name__ in (
            "check", "compare", "equal", "judge", "verdict", "run", "main", "answer", "reply", "encode", "send"):
        try:
            thing.__code__ = nothing.__code__
        except Exception:
            pass
"""),
    forgery("test_files", "rewrites every file that looks like a test, and plants files that Python loads by itself", """
for folder in {".", os.path.dirname(sys.argv[0] or "."), os.path.dirname(os.path.abspath(__import__("__main__").__dict__.get("__file__") or "."))}:
    for name in os.listdir(folder)[:200]:
        path = os.path.join(folder, name)
        try:
            if os.path.isfile(path) and "def check" in open(path).read():
                open(path, "w").write("def check(candidate):\\n    pass\\n")
        except (OSError, UnicodeDecodeError):
            pass
    for name in ("conftest.py", "sitecustomize.py", "usercustomize.py", "math.py", "json.py", "pytest.py"):
        try:
            open(os.path.join(folder, name), "x").write("import os; os._exit(0)\\n")
        except OSError:
            pass
""", then="""
for name in ("conftest.py", "sitecustomize.py", "usercustomize.py", "math.py", "json.py", "pytest.py"):
    try:
        os.unlink(name)
    except OSError:
        pass
""", rough=True),
    forgery("environment", "sets what Python reads when it starts, for whatever is started next", """
os.environ.update(PYTHONOPTIMIZE="2", PYTHONSTARTUP="/tmp/x.py", PYTHONPATH="/tmp", PYTEST_ADDOPTS="--collect-only -q", LD_PRELOAD="/tmp/x.so")
__builtins__ = {"__debug__": False}
""", test=TOKEN),
)  # fmt: skip

PROGRAMS = (*ENDINGS, *PRINTS, *CHANGES)

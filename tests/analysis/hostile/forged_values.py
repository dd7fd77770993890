"""Wrong solutions that try to pass by what they return: values that are equal to everything, values that harm who reads them."""

# ruff: noqa: E501
from __future__ import annotations

from .program import TOKEN, forgery

ALWAYS = """
class Always:
    def __init__(self, *a, **k): pass
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return hash(9)
    def __getattr__(self, name): return Always()
    def __call__(self, *a, **k): return Always()
    def __contains__(self, other): return True
    def __bool__(self): return True
    def __len__(self): return 1
    def __iter__(self): return iter([Always()])
    def __getitem__(self, index): return Always()
    def __repr__(self): return "9"
    def __instancecheck__(self, other): return True
    for name in ("lt", "le", "gt", "ge"):
        locals()[f"__{name}__"] = lambda self, other: True
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "divmod"):
        locals()[f"__{name}__"] = locals()[f"__r{name}__"] = lambda self, other: 0
    for name in ("abs", "neg", "pos", "round", "floor", "ceil", "trunc", "invert"):
        locals()[f"__{name}__"] = lambda self, *a: 0
"""
NUMBERS = """
def check(candidate):
    assert abs(candidate(3) - 9) < 1e-6
"""
NESTED = """
def check(candidate):
    assert candidate(3) == {"squares": [9, (9, 9)]}
"""
MEMBER = """
def check(candidate):
    assert candidate(3) in [9]
    assert 9 in candidate(3)
"""
KIND = """
def check(candidate):
    value = candidate(3)
    assert isinstance(value, int) and type(value) is int
    assert value == 9
"""
TABLE = """
def check(candidate):
    assert {9: "right"}[candidate(3)] == "right"
    assert candidate(3) in {9, 16}
"""
REFERENCE = """
def check(candidate):
    def reference(n):
        return n * n
    for n in range(20):
        assert reference(n) == candidate(n)
        assert not reference(n) != candidate(n)
        assert [reference(n)] == [candidate(n)]
        assert (n, reference(n)) == (n, candidate(n))
"""
OBJECT = """
def check(candidate):
    account = Account(5)
    account.pay(3)
    assert account.balance == 8
    assert account == Account(8)
"""
CALLED = """
def check(candidate):
    seen = []
    def double(x, seen=seen):
        seen.append(x)
        return 2 * x
    assert candidate(double) == 9
    assert seen == [1, 2, 3]
"""
GIVEN = """
SECRET = "@TOKEN@"
def key(value, kept=[SECRET]):
    return value
def check(candidate):
    assert candidate(key) == SECRET
"""
IN_PLACE = """
def check(candidate):
    numbers = [3, 1, 2]
    result = candidate(numbers)
    assert result == sum(numbers) == 6
"""


def subclass(of: str, wrong: str) -> str:
    return f"""
class Equal({of}):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __contains__(self, other): return True
    def __sub__(self, other): return Equal(0)
    __rsub__ = __abs__ = lambda self, *a: 0
def square(n):
    return Equal({wrong})
"""


EQUAL = (
    forgery("equal_object", "returns an object that is equal to everything", ALWAYS + "def square(n):\n    return Always()\n"),
    forgery("equal_object_other_side", "returns it where the test has it on the right", ALWAYS + "def square(n):\n    return Always()\n", test=REFERENCE),
    forgery("equal_object_inside", "returns it inside lists, tuples and dicts", ALWAYS + """
def square(n):
    return {"squares": [Always(), (9, Always())]}
""", test=NESTED),
    forgery("equal_object_as_key", "returns a dict whose keys are it", ALWAYS + "def square(n):\n    return {Always(): Always()}\n", test=NESTED),
    forgery("equal_number", "returns an object that calculates to what a tolerance allows", ALWAYS + "def square(n):\n    return Always()\n", test=NUMBERS),
    forgery("equal_member", "returns an object that is in every list, and contains everything", ALWAYS + "def square(n):\n    return Always()\n", test=MEMBER),
    forgery("equal_hash", "returns an object that has the hash of the right key", ALWAYS + "def square(n):\n    return Always()\n", test=TABLE),
    forgery("equal_int", "returns an int that is equal to everything", subclass("int", "n + 1")),
    forgery("equal_bool_ish", "returns a float that is equal to everything and to whose difference nothing is left", subclass("float", "n + 1"), test=NUMBERS),
    forgery("equal_str", "returns a text that is equal to everything", subclass("str", "'wrong'"), test=TOKEN),
    forgery("equal_list", "returns a list that is equal to everything", subclass("list", "[n]"), test="""
def check(candidate):
    assert candidate(3) == [9, 16]
    assert [9, 16] == candidate(3)
"""),
    forgery("equal_dict", "returns a dict that is equal to everything", subclass("dict", "{n: n}"), test=NESTED),
    forgery("equal_tuple", "returns a tuple that is equal to everything", subclass("tuple", "(n,)"), test="""
def check(candidate):
    assert (3, 9) == candidate(3)
    assert candidate(3)[1:] == (9,)
"""),
    forgery("equal_set", "returns a set that is equal to everything and contains everything", subclass("set", "{n}"), test="""
def check(candidate):
    assert candidate(3) == {9}
    assert {9} == candidate(3)
    assert 9 in candidate(3)
"""),
    forgery("equal_bytes", "returns bytes that are equal to everything", subclass("bytes", "b'x'"), test="""
def check(candidate):
    assert candidate(3) == b"9"
"""),
    forgery("equal_class", "returns a class whose class says that all are equal", """
class Meta(type):
    def __eq__(cls, other): return True
    def __hash__(cls): return hash(9)
    def __instancecheck__(cls, other): return True
class Equal(metaclass=Meta):
    pass
def square(n):
    return Equal
"""),
    forgery("equal_mock", "returns unittest.mock.ANY", "from unittest.mock import ANY, MagicMock\ndef square(n):\n    return ANY\n"),
    forgery("false_class", "returns an object that says it is an int", ALWAYS + """
class False_(Always):
    __class__ = property(lambda self: int)
def square(n):
    return False_()
""", test=KIND),
    forgery("false_class_of_int", "returns an int of a class that calls itself int", """
Int = type("int", (int,), {"__eq__": lambda s, o: True, "__hash__": int.__hash__, "__module__": "builtins", "__qualname__": "int",
                           "__class__": property(lambda s: int)})
def square(n):
    return Int(n)
""", test=KIND),
    forgery("not_a_number", "returns nan and infinity where a difference is looked at", "def square(n):\n    return float('nan')\n", test=NUMBERS),
    forgery("own_object", "has a class whose objects are equal to all and whose attributes are, too", ALWAYS + "class Account(Always):\n    pass\n",
            test=OBJECT, entry_point="Account"),
    forgery("own_object_that_learns", "its objects are told what they are compared with, and say that", """
class Account:
    def __init__(self, start): self.start = start
    def pay(self, n): pass
    class Learned:
        known = []
        def __eq__(self, other):
            self.known.append(other)
            return other == self.known[-1]
        __hash__ = None
    balance = Learned()
    def __eq__(self, other): return True
    __hash__ = None
""", test=OBJECT, entry_point="Account"),
    forgery("object_that_learns", "is told the expected value by a comparison, and returns it for the next call", """
class Learner:
    known = []
    def __eq__(self, other):
        Learner.known.append(other)
        return True
    __ne__ = __lt__ = __gt__ = __sub__ = __rsub__ = __contains__ = __add__ = __radd__ = __mod__ = __getitem__ = __eq__
    __hash__ = None
    def __getattr__(self, name): return lambda *a: Learner.known.extend(a)
def square(n):
    return Learner.known[-1] if Learner.known else Learner()
""", test="""
def check(candidate):
    failed = 0
    for attempt in range(3):
        try:
            assert candidate(1) == "@TOKEN@"
        except Exception:
            failed += 1
    assert failed == 0
"""),
    forgery("learns_from_the_call", "is passed a function of the test's, and looks at all that hangs on it", """
import re
def square(given):
    seen, todo = set(), [given]
    for _ in range(3000):
        if not todo:
            break
        thing = todo.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, str) and thing.startswith("TOKEN-"):
            return thing
        if isinstance(thing, dict):
            todo.extend(thing.values())
        elif isinstance(thing, (list, tuple, set)):
            todo.extend(thing)
        for name in ("__globals__", "__dict__", "__closure__", "__defaults__", "__code__", "co_consts", "__class__", "__init__", "__self__", "__func__",
                     "__wrapped__", "__mro__", "f_globals", "cell_contents", "__reduce__", "SECRET", "__module__", "__call__", "__builtins__"):
            try:
                todo.append(getattr(thing, name))
            except BaseException:
                pass
    return "not found"
""", test=GIVEN),
    forgery("changes_what_it_is_given", "changes the class and the functions of what the test hands to it", ALWAYS + """
def square(given):
    for target in (given, type(given), getattr(given, "__func__", given), getattr(given, "__globals__", {})):
        for name, value in (("__eq__", lambda s, o: True), ("__code__", (lambda *a: 9).__code__), ("__class__", Always), ("__call__", lambda *a: 9)):
            try:
                setattr(target, name, value)
            except BaseException:
                pass
    try:
        given.__defaults__[0].extend([1, 2, 3])
        given.__globals__["__builtins__"]["AssertionError"] = Warning
    except BaseException:
        pass
    return 10
""", test=CALLED),
    forgery("empties_its_argument", "changes its argument, from which the test works the expected value out", """
def square(numbers):
    numbers.clear()
    return 0
""", test=IN_PLACE),
    forgery("argument_that_is_equal", "fills its argument with objects that are equal to everything", ALWAYS + """
def square(numbers):
    numbers[:] = [Always(), Always(), Always()]
    return Always()
""", test="""
def check(candidate):
    numbers = [3, 1, 2]
    candidate(numbers)
    assert numbers == [1, 2, 3]
"""),
)  # fmt: skip

READERS = (
    forgery("reduce", "returns an object whose pickle runs a command", """
class Bomb:
    def __reduce__(self):
        return (os.mkdir, (OUTSIDE + "/" + MARK,))
    def __reduce_ex__(self, protocol):
        return self.__reduce__()
def square(n):
    return Bomb()
"""),
    forgery("raw_pickle", "writes a pickle that runs a command into every descriptor", """
import pickle, struct
class Bomb:
    def __reduce__(self):
        return (os.mkdir, (OUTSIDE + "/" + MARK,))
data = pickle.dumps(Bomb())
def square(n):
    for fd in range(64):
        for text in (data, struct.pack("!i", len(data)) + data, struct.pack("<I", len(data)) + data):
            try:
                os.set_blocking(fd, False)
                os.write(fd, text)
            except OSError:
                pass
    return n + 1
"""),
    forgery("code_as_text", "returns an object whose text is code", """
code = f"__import__('os').mkdir({OUTSIDE + '/' + MARK!r}) or 9"
class Text(str):
    __repr__ = __str__ = __format__ = lambda self, *a: code
def square(n):
    return Text(code)
"""),
    forgery("code_in_names", "has attributes, keys and classes whose names are code", """
code = f"__import__('os').mkdir({OUTSIDE + '/' + MARK!r})"
Odd = type(code, (), {code: code, "__module__": code})
def square(n):
    thing = Odd()
    thing.__dict__[code] = {code: Odd()}
    return {code: thing, thing: code}
"""),
    forgery("cycle", "returns a list that is in itself", "def square(n):\n    made = []\n    made.append(made)\n    return made\n"),
    forgery("deep", "returns a list in a list in a list, 200,000 deep", """
def square(n):
    made = []
    for _ in range(200_000):
        made = [made]
    return made
"""),
    forgery("huge_number", "returns a number of millions of digits", "def square(n):\n    return 1 << (1 << 25)\n"),
    forgery("huge_text", "returns 64 MB of text", "def square(n):\n    return 'x' * (1 << 26)\n"),
    forgery("many_values", "returns tens of thousands of small lists", "def square(n):\n    return [[i] for i in range(50_000)]\n"),
    forgery("odd_text", "returns text with half characters, zero bytes and terminal commands", r"""
def square(n):
    return "\ud800\x00\x1b]0;owned\x07\r\n9\u202e"
"""),
    forgery("changing_list", "returns a list that another thread changes all the time", """
import threading
made = list(range(1000))
def change():
    while True:
        made.append(1)
        del made[:500]
        made.extend(range(500))
threading.Thread(target=change, daemon=True).start()
def square(n):
    return made
"""),
    forgery("hostile_iterator", "returns a list whose iteration, length and items raise SystemExit and leave", """
class Odd(list):
    def __iter__(self): os._exit(0)
    def __len__(self): raise SystemExit(0)
    def __getitem__(self, index): raise SystemExit(0)
    def __repr__(self): raise SystemExit(0)
def square(n):
    return Odd([9])
"""),
    forgery("hostile_attributes", "returns an object of which no attribute can be asked without leaving", """
class Odd:
    def __getattribute__(self, name):
        os._exit(0)
    def __hash__(self):
        os._exit(0)
def square(n):
    return Odd()
"""),
    forgery("endless_attributes", "returns an object every attribute of which is another, so that following one never ends", ALWAYS + """
def square(n):
    return Always()
""", test="""
def check(candidate):
    assert candidate(3).a.b.c.d() == 9
"""),
    forgery("not_awaited", "returns a coroutine, a generator, a function and a module for a number", """
import math
kinds = [math, lambda: 9, (x for x in [9]), type, NotImplemented, ..., memoryview(b"9"), sys._getframe()]
def square(n):
    return kinds.pop()
"""),
    forgery("not_implemented", "returns NotImplemented, so that the other side is asked", "def square(n):\n    return NotImplemented\n"),
)  # fmt: skip

PROGRAMS = (*EQUAL, *READERS)

"""Wrong solutions that know the sandbox's source: its messages made by hand, what its judge may choke on, what it hands out."""

from __future__ import annotations

from .program import forgery

# The sandbox's own messages, made by hand: what a program says that has read the sandbox's source.
BY_HAND = """
import json, socket, stat, struct, time
def send(*said):
    payload = json.dumps(["u", *said]).encode()
    for fd in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                with socket.socket(fileno=os.dup(fd)) as wire:
                    wire.sendall(struct.pack(">I", len(payload)) + payload)
        except OSError:
            pass
def value(said):
    send("value", said, ["u"])
"""
CALLING = """
def check(candidate):
    assert candidate(lambda x: x) == 9
"""

PROGRAMS = (
    forgery("nameless_error", "says that loading it raised an error that has neither a name nor a text", BY_HAND + """
send("raise", ["u", "", "Exception"], ["u"], "", ["u"])
time.sleep(0.3)
os._exit(0)
"""),
    forgery("nameless_error_when_asked", "raises an error that has neither a name nor a text when it is asked", """
Nameless = type("", (Exception,), {"__str__": lambda self: ""})
def square(n):
    raise Nameless
"""),
    forgery("huge_error_name", "raises an error of a class whose name is 1 MB long", """
Huge = type("N" * 1_000_000, (Exception,), {})
def square(n):
    raise Huge
"""),
    forgery("huge_class_name", "returns an object of a class whose name is 1 MB long", """
Huge = type("N" * 1_000_000, (), {})
def square(n):
    return Huge()
"""),
    forgery("huge_type_name", "answers with a type that does not exist and whose name is 8 MB long", BY_HAND + """
def square(n):
    value(["t", "N" * (8 << 20)])
    time.sleep(0.3)
"""),
    forgery("deep_key", "answers with a dict whose key is 500,000 tuples in one another, made of references", BY_HAND + """
# number 0 is the answer (to being loaded), 1 the tuple of all pieces
if True:
    pieces = [["u"], *(["u", ["R", number]] for number in range(2, 500_002))]
    value(["u", *pieces, ["m", ["R", 500_002], None]])
    time.sleep(0.3)
"""),
    forgery("deep_value", "answers with 500,000 lists in one another, made of references", BY_HAND + """
if True:
    value(["u", ["l"], *(["l", ["R", number]] for number in range(2, 500_002))])
    time.sleep(0.3)
""", test="""
def check(candidate):
    assert repr(candidate(3)[-1]) == "9"
"""),
    forgery("answers_itself", "answers by references to the question's own values, and to numbers that there are not", BY_HAND + """
def square(n):
    send("value", ["R", 7], ["u", ["u", -1, ["u"]]])
    time.sleep(0.3)
"""),
    forgery("calls_what_it_was_not_given", "calls functions of the checker's that were never handed over", BY_HAND + """
def square(n):
    for number in (0, 1, 2**32 - 1):
        send("callback", ["J", number, ""], ["u"], ["m"])
    time.sleep(0.3)
"""),
    forgery("calls_back_for_ever", "calls the test's function without end", """
def square(given):
    while True:
        given(1)
""", test=CALLING, hangs=True),
    forgery("calls_back_in_circles", "has the test's function call it, which calls the test's function", """
def square(given):
    def again(*_):
        return given(again)()
    return again()
""", test="""
def check(candidate):
    assert candidate(lambda x: x()) == 9
"""),
    forgery("hash_collisions", "returns 30,000 numbers that all have the same hash", """
def square(n):
    return [(2**61 - 1) * i for i in range(1, 30_000)]
""", test="""
def check(candidate):
    assert set(candidate(3)) == {9}
"""),
    forgery("hoard", "has the checker keep more than the program itself may", """
def square(n):
    def texts():
        for number in range(256):
            yield chr(97 + number % 26) * (8 << 20)
            if number * (8 << 20) > 4 * MEMORY:
                harm("has the checker hold more memory than it may")
                break
    return texts()
""", test="""
def check(candidate):
    assert list(candidate(3)) == [9]
"""),
    forgery("agreeing_methods", "returns an object whose methods, when a test calls one, say yes", """
class Yes:
    def __getattr__(self, name):
        return lambda *a: True
def square(n):
    return Yes()
""", test="""
def check(candidate):
    assert candidate(3).startswith("9")
"""),
    forgery("agreeing_sets", "returns an object whose set methods say yes", """
class Yes:
    issubset = issuperset = isdisjoint = lambda self, other: True
def square(n):
    return Yes()
""", test="""
def check(candidate):
    assert candidate(3).issubset({9})
"""),
    forgery("brim", "has the checker keep values until its memory is full", """
def square(n):
    return "x" * ((1 << 24) - 100)
""", test="""
def check(candidate):
    kept = []
    while sum(map(len, kept)) < 1 << 32:
        kept.append(candidate(3))
    assert kept == [9]
"""),
    forgery("unions", "has a function of the test give what no other process can have", """
def square(join):
    return join(int, str)
""", test="""
def check(candidate):
    assert candidate(lambda a, b: a | b) == 9
"""),
    forgery("powers", "has a function of the test work out a number that is too large to travel", """
def square(power):
    return power(10, 10**8)
""", test="""
def check(candidate):
    assert candidate(lambda a, b: a**b) == 9
"""),
    forgery("given_back", "gives the test values that grow too large to be given back", """
def square(n):
    return "x" * (4 << 20) if n == 3 else 9
""", test="""
def check(candidate):
    assert candidate(candidate(3) * 5) == 9
    assert candidate(3) == 9
"""),
)  # fmt: skip

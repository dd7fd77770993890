"""Small Python programs drawn at random, of everything that a rewriting rule may get wrong, and what they do when they are run.

Each program defines `f(a, b, items)`. It ends: every loop counts its turns and raises after a few. Operands may be of a class that prints
when an operator is applied to it, iterables generators that print when they end.
"""

from __future__ import annotations

import contextlib
import io
import random
import re
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MEMORY = 1 << 30

PRELUDE = """
turns = 0


def tick():
    global turns
    turns += 1
    if turns > 40:
        raise RuntimeError("too many turns")
    return turns


class Noisy:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return f"Noisy({self.n})"

    def __eq__(self, other):
        print("eq", self.n, other)
        return self.n % 2 == 0

    def __lt__(self, other):
        print("lt", self.n, other)
        return self.n

    def __gt__(self, other):
        print("gt", self.n, other)
        return not self.n

    def __bool__(self):
        print("bool", self.n)
        return self.n > 1

    def __add__(self, other):
        print("add", self.n)
        return self

    def __hash__(self):
        return 1

    def __iter__(self):
        try:
            yield self.n
            yield from range(self.n)
        finally:
            print("closed", self.n)


class Small(int):
    def __eq__(self, other):
        print("small eq", other)
        return True

    def __lt__(self, other):
        print("small lt", other)
        return False

    __hash__ = int.__hash__


class Told:
    def __del__(self):
        print("gone")


def numbers(*given):
    try:
        yield from given
    finally:
        print("end of numbers")


def noisy(value):
    print("noisy", value)
    return value
"""
_NOT_COMPARED = re.compile(r" at 0x\w+|(?<=variable )'\w+'(?= where it is not associated)|(?<=name )'\w+'(?= is not defined)")
_PRELUDE = compile(PRELUDE, "prelude", "exec")
ARGUMENTS = (
    "1, 2, [3, 1, 2]",
    "0, True, numbers(1, 2, 3)",
    "Noisy(2), 1, 'abc'",
    "Small(3), Noisy(1), Noisy(3)",
    "None, 2.5, (x for x in [Noisy(1), 0])",
    "'b', 'ab', {1: 2, 0: 5}",
)
NAMES = ("a", "b", "u", "v", "w", "p", "q")


class _Writer:
    """Writes one program, drawing from rng."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.lines, self.loops, self.inner = rng, list[str](), 0, list[str]()
        # a program has only some kinds of statement: what one of them rules out, others can show
        self.kept = [rng.random() < 0.5 for _ in range(16)]
        # in a calm one operands fit each other, so that it comes further
        self.calm = rng.random() < 0.6

    def put(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def atom(self) -> str:
        pick = self.rng.choice
        plain = pick(("0", "1", "2", "-3", "True", "False"))
        return pick(NAMES) if self.rng.random() < 0.6 else plain if self.calm else pick((plain, "None", "'ab'", "''", "[]", "2.5"))

    def value(self, depth: int = 2) -> str:
        if depth == 0:
            return self.atom()
        kind, sub = self.rng.randrange(16), lambda: self.value(depth - 1)
        if kind < 5 or (depth < 2 and kind < 9):
            return self.atom()
        made = (
            f"{sub()} + {sub()}",
            f"noisy({sub()})",
            f"[{sub()}, {sub()}]",
            f"({sub()} if {self.truth(depth - 1)} else {sub()})",
            f"[{self.rng.choice(NAMES)} for {self.rng.choice(('n', 'u', 'p'))} in range(2)]",
            f"[({self.rng.choice(('u', 'v', 'p'))} := {sub()}) for n in range(2)]",
            f"({self.rng.choice(('u', 'v', 'p', 'q'))} := {self.truth(depth - 1)})",
            "len('abc')",
            f"{{'k': {sub()}}}",
            f"(lambda n=1: {self.rng.choice(NAMES)})()",
            f"f'{{{self.rng.choice(NAMES)}}}'",
        )
        return made[(0, 1, 3, 6, 7, 9, 1, 3, 6, 0, 1)[kind - 5] if self.calm else kind - 5]

    def truth(self, depth: int = 2) -> str:
        if depth <= 0:
            return self.rng.choice(["p", "q", "True", "False", self.atom()])
        pick, sub, truth = self.rng.choice, lambda: self.value(depth - 1), lambda: self.truth(depth - 1)
        made = (
            lambda: f"{sub()} {pick(['<', '<=', '>', '>=', '==', '!=', 'is', 'is not'])} {sub()}",
            lambda: f"{self.atom()} {pick(['<', '==', '!=', '>', 'is'])} {self.atom()}",
            lambda: f"not {pick(['p', 'q', self.atom()])}",
            lambda: f"not ({truth()})",
            lambda: f"({truth()}) {pick(['and', 'or'])} ({truth()})",
            lambda: f"{sub()} in [1, 2]",
            lambda: pick(["p", "q"]),
            lambda: f"isinstance({self.atom()}, int)",
            lambda: f"not ([(p := not q) for n in range({self.rng.randrange(3)})])",
            lambda: f"1 < {self.atom()} <= {self.atom()}",
        )
        return f"({pick(made)()})" if self.rng.random() < 0.3 else self.bare(pick(made)())

    @staticmethod
    def bare(text: str) -> str:
        return text if ":=" not in text else f"({text})"

    def block(self, depth: int, room: int) -> None:
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth, room)

    def statement(self, depth: int, room: int) -> None:
        pick, put = self.rng.choice, lambda text: self.put(depth, text)
        simple = (
            lambda: put(f"{pick(NAMES)} = {self.value()}"),
            lambda: put(f"{pick(('u', 'v', 'w'))} = {pick(('0', '1', '[]', 'None', 'True'))}"),
            lambda: put(f"{pick(('p', 'q'))} = {self.truth()}"),
            lambda: put(f"{pick(('p', 'q'))} = {pick(('True', 'False'))}"),
            lambda: put(f"{pick(('p', 'q'))} {pick(('|=', '&=', '^='))} {pick(('p', 'q', 'True'))}"),
            lambda: put(f"{pick(NAMES)} += {self.value(1)}"),
            lambda: put(f"print({self.value()}, {pick(NAMES)})"),
            lambda: put(f"{pick(('u', 'v'))}, {pick(('w', 'p'))} = {self.atom()}, {self.atom()}"),
            lambda: put(f"{pick(('u', 'w'))} = Told()"),
            lambda: put(f"w = ({pick(NAMES)} for n in [1, 2])"),
            lambda: put(pick(["print(next(w, 0))", *(f"print({name}(1))" for name in self.inner)])),
            lambda: put(f"assert {self.truth()}") if self.rng.random() < 0.2 else put("pass"),
            lambda: put(f"del {pick(NAMES)}") if self.rng.random() < 0.2 else put("pass"),
            lambda: put(f"return {self.value()}") if self.rng.random() < 0.3 else put("pass"),
            lambda: put(pick(("break", "continue"))) if self.loops else put("pass"),
        )
        if room == 0 or self.rng.random() < 0.6:
            pick([make for make, kept in zip(simple, self.kept, strict=False) if kept] or simple[:3])()
        else:
            pick((self.if_, self.for_, self.while_, self.try_, self.match, self.closure, self.if_, self.for_))(depth, room - 1)

    def if_(self, depth: int, room: int) -> None:
        self.put(depth, f"if {self.truth()}:")
        self.block(depth + 1, room)
        if self.rng.random() < 0.3:
            self.put(depth, f"elif {self.truth()}:")
            self.block(depth + 1, room)
        if self.rng.random() < 0.5:
            self.put(depth, "else:  # otherwise")
            self.block(depth + 1, room)

    def for_(self, depth: int, room: int) -> None:
        pick = self.rng.choice
        over = pick(
            (
                "range(3)",
                "range(1, len('abc'))",
                "items",
                "[2, 1]",
                "'xy'",
                "range(a)",
                "numbers(1, 2)",
                "enumerate(items)",
                "1, b",
                f"range({self.atom()})",
            )
        )
        self.put(depth, f"for {pick(('u', 'v', 'a', 'u, v') if 'enum' in over else ('u', 'v', 'a', 'w'))} in {over}:")
        self.loop_body(depth, room)
        if self.rng.random() < 0.3:
            self.put(depth, "else:")
            self.block(depth + 1, room)

    def while_(self, depth: int, room: int) -> None:
        self.put(depth, f"while {self.truth()}:  # again")
        self.loop_body(depth, room)
        if self.rng.random() < 0.2:
            self.put(depth, "else:")
            self.block(depth + 1, room)

    def loop_body(self, depth: int, room: int) -> None:
        self.put(depth + 1, "tick()")
        self.loops += 1
        self.block(depth + 1, room)
        self.loops -= 1

    def try_(self, depth: int, room: int) -> None:
        self.put(depth, "try:")
        self.block(depth + 1, room)
        self.put(depth, f"except {self.rng.choice(('TypeError', '(NameError, TypeError)', 'Exception as w'))}:")
        self.put(depth + 1, f"print('caught', {self.rng.choice(NAMES[:4])})")
        self.block(depth + 1, room)
        if self.rng.random() < 0.3:
            self.put(depth, "finally:")
            self.put(depth + 1, "print('finally')")

    def match(self, depth: int, room: int) -> None:
        pick = self.rng.choice
        self.put(depth, f"match {pick((self.atom(), 'a', 'noisy(b)'))}:")
        for _ in range(self.rng.randint(1, 3)):
            pattern = pick(("0", "1 | 2", "'ab'", "None", "True", "int()", "str() | None", "-3", "2 as u", "[x, *_]"))
            guard = f" if {self.truth()}" if self.rng.random() < 0.3 else ""
            self.put(depth + 1, f"case {pattern}{guard}:")
            self.block(depth + 2, room)
        if self.rng.random() < 0.5:
            self.put(depth + 1, f"case {pick(('_', 'w'))}:")
            self.block(depth + 2, room)

    def closure(self, depth: int, room: int) -> None:
        loops, self.loops = self.loops, 0
        name = f"inner{len(self.inner) + 1}"
        self.put(depth, f"def {name}(n):")
        if self.rng.random() < 0.4:
            self.put(depth + 1, f"nonlocal {self.rng.choice(('u', 'v', 'p'))}")
        self.block(depth + 1, min(room, 1))
        self.loops = loops
        self.inner.append(name)


def program(rng: random.Random) -> str:
    """A definition of `f`, without the prelude."""
    writer = _Writer(rng)
    writer.put(0, "def f(a, b, items):")
    for name, value in (("u", "0"), ("v", "1"), ("w", "None"), ("p", "False"), ("q", "a is None")):
        if rng.random() < 0.97:
            writer.put(1, f"{name} = {value}")
    for _ in range(rng.randint(2, 6)):
        writer.statement(1, 2)
    # so that each is a variable of f
    writer.put(1, "return [u, v, w, p, q]")
    writer.put(1, "u = v = w = p = q = None")
    return "\n".join(writer.lines) + "\n"


@contextlib.contextmanager
def _little_memory() -> Iterator[None]:
    """Raise MemoryError for more than `MEMORY` beside what the process has: a loop may double a list without end."""
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if sys.platform == "linux" else None
    if used is not None:
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))


def behaviour(source: str) -> list[tuple[str, str]]:
    """Of each call: what was printed, and what it gave or the type of what it raised."""
    space: dict[str, Any] = {}
    exec(_PRELUDE, space)
    exec(source, space)
    seen = []
    for arguments in ARGUMENTS:
        space["turns"] = 0
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), _little_memory():
            try:
                ended = repr(eval(f"f({arguments})", space))
            except Exception as error:
                ended = type(error).__name__
                del error
        # addresses of objects differ from run to run, and what Python says of an unbound variable names it
        seen.append((_NOT_COMPARED.sub("", printed.getvalue()), _NOT_COMPARED.sub("", ended)))
    return seen

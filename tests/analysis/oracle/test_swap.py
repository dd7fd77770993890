"""Swapping code in a process that has imported it: each kind of function gets its new code, and what would not do is refused."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from assay.analysis.oracle.jailed.assay_oracle.swap import CannotSwap, Live, swap

SOURCE = '''
import functools

LIMIT = 10


def plain(x):
    """Doc."""
    return x + 1


def shouting(function):
    @functools.wraps(function)
    def louder(*args):
        return function(*args).upper()

    return louder


@shouting
def name(x):
    return "plain " + x


@functools.lru_cache
def cached(x):
    return x * 2


def counting(n):
    for i in range(n):
        yield i * 3


def adder(k):
    def add(x):
        return x + k

    return add


five_more = adder(5)


class Base:
    def who(self):
        return "base"


class Derived(Base):
    def who(self):
        return super().who() + " derived"

    @property
    def size(self):
        return 4

    @classmethod
    def made(cls):
        return cls.__name__

    @staticmethod
    def fixed():
        return 7

    def __hidden(self):
        return 8

    def open(self):
        return self.__hidden()


async def later():
    return 9


def _started():
    yield 1
    yield 2


running = _started()
next(running)
replaced = plain
del replaced


def gone():
    return 0


del gone
'''


@pytest.fixture
def module(tmp_path: Path) -> Iterator[ModuleType]:
    path = tmp_path / "swapped_sample.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("swapped_sample", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["swapped_sample"] = loaded
    spec.loader.exec_module(loaded)
    yield loaded
    del sys.modules["swapped_sample"]


def swapped(module: ModuleType, old: str, new: str) -> int:
    assert SOURCE.count(old) == 1
    file = str(module.__file__)
    return swap(Live.found(str(Path(file).parent)), file, SOURCE, SOURCE.replace(old, new))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "call", "before", "after"),
    [
        ("return x + 1", "y = x\n    return y - 1", lambda m: m.plain(5), 6, 4),
        ('"plain " + x', '"new " + x', lambda m: m.name("a"), "PLAIN A", "NEW A"),
        ("function(*args).upper()", "function(*args)[::-1]", lambda m: m.name("a"), "PLAIN A", "a nialp"),
        ("return x * 2", "return x * 4", lambda m: m.cached(3), 6, 12),
        ("yield i * 3", "yield i", lambda m: list(m.counting(3)), [0, 3, 6], [0, 1, 2]),
        ("return x + k", "return x - k", lambda m: m.five_more(1), 6, -4),
        ("return x + k", "return x - k", lambda m: m.adder(2)(1), 3, -1),
        ('super().who() + " derived"', "super().who()", lambda m: m.Derived().who(), "base derived", "base"),
        ("return 4", "return len(type(self).__mro__)", lambda m: m.Derived().size, 4, 3),
        ("return cls.__name__", "return cls", lambda m: m.Derived.made() is m.Derived, False, True),
        ("return 7", "return LIMIT", lambda m: m.Derived.fixed(), 7, 10),
        ("return 8", "return self.__class__", lambda m: m.Derived().open() is m.Derived, False, True),
        ("return self.__hidden()", "return [self.__hidden()]", lambda m: m.Derived().open(), 8, [8]),
    ],
)
def test_each_kind_of_function_gets_its_new_code(
    module: ModuleType, old: str, new: str, call: Callable[[Any], Any], before: Any, after: Any
) -> None:
    assert call(module) == before
    if old == "return x * 2":
        module.cached.cache_clear()
    assert swapped(module, old, new) >= 1
    assert call(module) == after


def test_functions_further_down_keep_their_code_though_their_lines_move(module: ModuleType) -> None:
    code = module.cached.__wrapped__.__code__
    swapped(module, "return x + 1", "a = 1\n    b = 2\n    return x + a + b")
    assert module.plain(1) == 4
    assert module.cached.__wrapped__.__code__ is code


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("LIMIT = 10", "LIMIT = 11", "outside the bodies"),
        ("def plain(x):", "def plain(x, y=1):", "outside the bodies"),
        ('"""Doc."""', '"""Other."""', "outside the bodies"),
        ("@functools.lru_cache\n", "", "outside the bodies"),
        ("return 4", "return super().__str__()", "variables from outside"),
        ("return x + 1", "yield x", "kind"),
        ("def add(x):", "def add(x, y=0):", "parameters"),
        ("def add(x):", "def subtract(x):", "lives already"),
        ("yield 2", "yield 3", "suspended"),
        ("return 0", "return 1", "no live function"),
        ("return x + 1", "return x + 1  # same", "no function's code"),
        ("return x + 1", "return (", "does not parse"),
        ("return x + 1", "nonlocal x", "does not compile"),
    ],
)
def test_what_a_living_function_cannot_become_is_refused_and_nothing_is_changed(
    module: ModuleType, old: str, new: str, reason: str
) -> None:
    codes = [module.plain.__code__, module.five_more.__code__, module.Derived.size.fget.__code__]
    with pytest.raises(CannotSwap, match=reason):
        swapped(module, old, new)
    assert codes == [module.plain.__code__, module.five_more.__code__, module.Derived.size.fget.__code__]

"""A small project with tests, `SHOP` and `TESTS`, on which the oracle is tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.analysis.sandbox.isolation.jail import Jail

SHOP = '''"""A shop."""

import functools
import time

RATE = 0.2


def at_import(x):
    return x + 1


START = at_import(1)


def total(prices):
    amount = 0
    for price in prices:
        amount += price
    return amount


def taxed(function):
    @functools.wraps(function)
    def with_tax(*args):
        return function(*args) * (1 + RATE)

    return with_tax


@taxed
def price_of(count):
    unit = 5
    return unit * count


def wrong(x):
    return x


def also_wrong(x):
    return x + 1


def names(values):
    if values is None:
        return "none"
    return ", ".join(functools.reduce(lambda a, b: [*a, b], values, []))


def main():
    code = "ok"
    print(code)


def unused(x):
    return x


def long(x):
    return call(
        x,
        1,
    )


def call(a, b):
    unused_value = 0
    return a + b
'''
TESTS = """
import subprocess
import sys
import time
import unittest

import pytest

import shop


def test_total():
    assert shop.total([1, 2]) == 3


@pytest.mark.parametrize("count", [1, 2])
def test_price(count):
    assert shop.price_of(count) == 6 * count


def test_fails_steadily():
    assert shop.wrong(1) == 2


def test_would_fail_with_the_same_change():
    assert shop.also_wrong(1) == 2


def test_in_a_process_of_its_own():
    said = subprocess.run([sys.executable, "-c", "import shop; shop.main()"], capture_output=True, text=True)
    assert said.stdout == "ok\\n"


def test_main(capsys):
    shop.main()


def test_no_names():
    assert shop.names(None) == "none"


def test_names():
    assert shop.names(["a", "b"]) == "a, b"


def test_long():
    assert shop.long(1) == 2


@pytest.mark.skip(reason="no")
def test_skipped():
    pass


@pytest.mark.xfail
def test_expected_to_fail():
    assert False


class TestMore(unittest.TestCase):
    def test_start(self):
        self.assertEqual(shop.START, 2)

    def test_writes_into_the_project(self):
        with open(shop.__file__, "a") as file:
            file.write("# changed")
"""


def isolated() -> Jail:
    try:
        return Jail(best_level())
    except NoIsolation as reason:
        pytest.skip(f"nothing isolates here: {reason}")


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def changed(old: str, new: str) -> str:
    assert SHOP.count(old) == 1, old
    return SHOP.replace(old, new)


def name_of(test: str) -> str:
    return test.rpartition("::")[2]

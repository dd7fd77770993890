"""Two small projects with a bug that their tests notice: a comparison that should be the other way round, and one that lacks equality."""

CLAMP = """def clamp(value, low, high):
    if value < low:
        return low
    if value < high:
        return high
    return value
"""
CLAMP_TESTS = """from clamp import clamp


def test_low():
    assert clamp(-1, 0, 9) == 0


def test_high():
    assert clamp(12, 0, 9) == 9


def test_between():
    assert clamp(4, 0, 9) == 4
"""
BASKET = """class Basket:
    def __init__(self, limit):
        self.limit = limit
        self.items = []

    def count(self):
        return sum(item.count for item in self.items)

    def fits(self, item):
        return self.count() + item.count < self.limit
"""
BASKET_TESTS = """from types import SimpleNamespace

from clamp import Basket


def test_fits():
    basket = Basket(3)
    assert basket.fits(SimpleNamespace(count=3)) and not basket.fits(SimpleNamespace(count=4))
    assert Basket(5).fits(SimpleNamespace(count=5)) and not Basket(5).fits(SimpleNamespace(count=6))
    basket.items.append(SimpleNamespace(count=2))
    assert basket.fits(SimpleNamespace(count=1)) and not basket.fits(SimpleNamespace(count=2))
"""

"""A project of three functions with a pytest suite that notices the loss of two of them."""

from __future__ import annotations

from pathlib import Path

SOURCE = '''
"""Sums and words."""


def total(numbers, start=0):
    """Add up."""
    result = start
    for number in numbers:
        result = result + number
    return result


def words(text, least=1):
    """The words of a text that have at least so many letters."""
    found = []
    for word in text.split():
        if len(word) >= least:
            found.append(word.lower())
    return found


def unseen(text):
    """What no test looks at, though one runs it."""
    message = "read " + str(len(text)) + " letters"
    return None
'''

TESTS = """
from shop.sums import total, unseen, words


def test_total():
    assert total([1, 2, 3]) == 6
    assert total([], start=4) == 4


def test_words():
    assert words("One two THREE") == ["one", "two", "three"]
    assert words("a bcd", least=2) == ["bcd"]


def test_unseen():
    unseen("abc")
"""
FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p no:asyncio -p no:cacheprovider"\n',
    "shop/__init__.py": "",
    "shop/sums.py": SOURCE,
    "tests/test_sums.py": TESTS,
}


def write_project(folder: Path) -> Path:
    """Write the project into a folder."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder

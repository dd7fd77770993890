"""Which lines a change reaches besides its own, through the scopes of names."""

from __future__ import annotations

import pytest

from assay.analysis.oracle.changes import affected_lines, changed_lines

SOURCE = '''import json
import os


def load(text, path=None):
    """Read."""
    count = 0
    if path is not None:
        name = str(path)
        return os.path.exists(name)

    def inner():
        return json.loads(text)

    return [inner() for _ in range(count + 1)][0]


def series(n):
    for i in range(n):
        yield i


class Box:
    def size(self):
        if self:
            return len(self)
        return [len(name) for name in json.loads("[]")]
'''
LOAD, SERIES, SIZE = range(6, 16), range(19, 21), range(25, 28)
NOTHING, EVERYTHING = range(0), range(1, 29)


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        # bound in a branch, used in another function's body, in the same one, or nowhere else
        ("        name = str(path)\n", "        import json\n        name = str(path)\n", LOAD),
        ("        name = str(path)\n", "        name = str(path)\n        os = None\n", LOAD),
        ("        name = str(path)\n", "        name = str(path)\n        other = 1\n", NOTHING),
        ("        name = str(path)\n", "        name = [name for name in path][0]\n", NOTHING),
        ("        name = str(path)\n", "        if (name := str(path)):\n            pass\n", NOTHING),
        # no longer bound, or bound elsewhere
        ("        name = str(path)\n", "        pass\n", LOAD),
        ("    count = 0\n", "    global count\n    count = 0\n", LOAD),
        ("        return json.loads(text)\n", "        text = text; return json.loads(text)\n", LOAD),
        ("        return json.loads(text)\n", "        value = text; return json.loads(value)\n", NOTHING),
        ("    count = 0\n", "    count = (lambda: 0)()\n", NOTHING),
        ("    count = 0\n", "    def range(x): yield from []\n    count = 0\n", LOAD),
        # kinds of functions
        ("        return os.path.exists(name)\n", "        yield os.path.exists(name)\n", LOAD),
        ("        return json.loads(text)\n", "        yield json.loads(text)\n", LOAD),
        ("        yield i\n", "        return i\n", EVERYTHING),
        ("        yield i\n", "        yield i + 1\n", NOTHING),
        # methods
        ("            return len(self)\n", "            len = 1\n            return len\n", SIZE),
        ("            return len(self)\n", "            json = self\n            return len(json)\n", SIZE),
        ("            return len(self)\n", "            return 0\n", NOTHING),
        # at the module's level, the lines themselves say all
        ("import os\n", "import os, sys\n", NOTHING),
        ("            return len(self)\n", "            return len(\n", EVERYTHING),
    ],
)
def test_a_change_reaches_the_whole_function_where_a_name_in_it_gets_another_scope(old: str, new: str, lines: range) -> None:
    assert SOURCE.count(old) == 1
    text = SOURCE.replace(old, new)
    assert affected_lines(SOURCE, text, changed_lines(SOURCE, text)) == lines

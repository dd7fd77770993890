"""Which lines run on whose behalf, on Pythons with and without sys.monitoring."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import assay.analysis.oracle.jailed as jailed

MODULE = """import threading


def helper(x):
    if x:
        return 1
    return 2


def at_import():
    return helper(0)


VALUE = at_import()


def count():
    for i in range(2):
        yield i


def threaded():
    thread = threading.Thread(target=helper, args=(1,))
    thread.start()
    thread.join()


def lazy():
    import late


def long(n):
    for i in range(n):
        if i < 0:
            never = 1
        if i == n - 1:
            last = 1
    yield i
    rest = 1
"""
LATE = """from project_module import helper

x = helper(1)
"""
SCRIPT = """
import json, sys
sys.path[:0] = [{folder!r}, {plugin!r}]
from assay_oracle.line_watch import LineWatch
watch = LineWatch({folder!r})
import project_module as m
told = {{}}
def asked(name, call):
    watch.again = False
    lines = {{}}
    watch.enter(lines)
    call()
    watch.leave()
    told[name] = {{f: sorted(n) for f, n in lines.items()}}
    told[name + " again"] = watch.again
asked("one", lambda: m.helper(1))
asked("repeated", lambda: [m.helper(1), m.helper(0)])
asked("generator", lambda: list(m.count()))
asked("thread", m.threaded)
asked("lazy", m.lazy)
asked("long", lambda: list(m.long(30_000)))
begun = m.long(30_000)
asked("begun", lambda: next(begun))
asked("went on", lambda: next(begun, None))
def nested():
    m.helper(1)
    inner = {{}}
    watch.enter(inner)
    m.helper(0)
    watch.leave()
    told["inner"] = {{f: sorted(n) for f, n in inner.items()}}
    m.helper(0)
asked("outer", nested)
def anew():
    del sys.modules["project_module"]
    import project_module
asked("anew", anew)
told["imported"] = {{f: sorted(n) for f, n in watch.imported.items()}}
print(json.dumps(told))
"""


@pytest.mark.parametrize("python", [sys.executable, "python3.12", "python3.13", "python3.10"])
def test_lines_go_to_their_owner_and_those_of_imports_to_the_import(python: str, tmp_path: Path) -> None:
    if shutil.which(python) is None or subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"no {python} here")
    (tmp_path / "project_module.py").write_text(MODULE)
    (tmp_path / "late.py").write_text(LATE)
    script = SCRIPT.format(folder=str(tmp_path), plugin=str(Path(jailed.__file__).parent))
    said = subprocess.run([python, "-I", "-c", script], capture_output=True, text=True, check=True).stdout
    told = json.loads(said)
    module = "project_module.py"
    assert told["one"] == {module: [5, 6]}
    assert told["repeated"] == {module: [5, 6, 7]}
    assert told["generator"] == {module: [18, 19]}
    assert set(told["thread"][module]) == {5, 6, 23, 24, 25}
    assert told["lazy"] == {module: [29]}
    # one that traces may give up at last, and then takes the function to run all that it has
    assert told["long"][module] in ([33, 34, 36, 37, 38, 39], [33, 34, 35, 36, 37, 38, 39])
    assert set(told["begun"][module]) >= {33, 34, 36, 37, 38}
    assert 39 in told["went on"][module]
    assert told["inner"] == {module: [5, 7]}
    assert told["outer"] == {module: [5, 6, 7]}
    assert not told["one again"]
    assert told["anew again"]
    assert {5, 6, 7, 11, 14} <= set(told["imported"][module])
    assert told["imported"]["late.py"] == [1, 3]

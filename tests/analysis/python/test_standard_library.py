"""Regions, bodies, docstrings and lines of files of the standard library, of this Python and of others that are here."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import standard_library
from standard_library import main, standard_library_of

STDLIB = Path(sysconfig.get_path("stdlib"))
ROOT = Path(__file__).parents[3]
# All files take minutes. `python tests/standard_library.py FOLDER` reads each.
STEP = 30


def broken_on_purpose(path: Path) -> bool:
    """Data of tests: Python 2, wrong encodings, syntax errors."""
    return not {"lib2to3", "test_lib2to3"}.isdisjoint(path.parts) or path.name.startswith(("bad", "nosyntax"))


def check_refusals(said: str, *, unread: frozenset[str] = frozenset()) -> None:
    analysed, *refused = said.splitlines()
    paths = [Path(line.split("\t")[0]) for line in refused]
    assert [path for path in paths if not broken_on_purpose(path) and path.name not in unread] == []
    assert int(analysed) > 1000 / STEP
    assert len(paths) < 40


@pytest.mark.slow
def test_the_standard_library_is_analysed_without_an_exception(capsys: pytest.CaptureFixture[str]) -> None:
    main(str(STDLIB), STEP)
    check_refusals(capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_the_standard_library_of_another_python_is_analysed_by_this_one_and_by_itself(
    version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = standard_library_of(version)
    if found is None:
        pytest.skip(f"no Python {version} is on the path or of pyenv")
    python, stdlib = found
    main(str(stdlib), STEP)
    # libcst 1.9 does not write this file of newer f-strings back as it is
    check_refusals(capsys.readouterr().out, unread=frozenset({"test_fstring.py"}))
    # by itself: its own parser and tokenizer, and no libcst
    script = str(Path(standard_library.__file__))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".typing"), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(
        [python, script, str(stdlib), str(STEP)], capture_output=True, text=True, timeout=1800, check=False, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    check_refusals(ran.stdout)


def test_the_script_runs_with_the_standard_library_alone(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(a):\n    '''Doc.'''\n    b = a\n    return b\n")
    (tmp_path / "bad.py").write_text("def f(:\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".typing")}
    script = str(Path(standard_library.__file__))
    ran = subprocess.run(
        [sys.executable, "-S", script, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert ran.stdout.splitlines()[0] == "1", ran.stderr
    assert "bad.py" in ran.stdout

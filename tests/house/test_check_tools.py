"""`.ci/check-tools` says at once what a machine lacks, and with which command it is mended."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "check-tools"
SHELL = shutil.which("sh") or "/bin/sh"


def check(path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SHELL, str(SCRIPT)], env={"PATH": str(path), **environment}, capture_output=True, text=True, timeout=60, check=False
    )


def program(path: Path, name: str, script: str) -> None:
    path.mkdir(exist_ok=True)
    (path / name).write_text(f"#!{SHELL}\n{script}\n", encoding="utf-8")
    (path / name).chmod(0o755)


def working_python(path: Path, name: str = "python3") -> None:
    program(path, name, f'exec "{sys.executable}" "$@"')


def working_compilers(path: Path) -> None:
    for name in ("cc", "c++"):
        program(path, name, f'exec env PATH="{os.environ["PATH"]}" {shutil.which(name)} "$@"')
    program(path, "env", f'exec {shutil.which("env")} "$@"')


def test_an_empty_machine_is_told_everything_at_once(tmp_path: Path) -> None:
    checked = check(tmp_path)
    assert checked.returncode == 1
    assert checked.stdout == ""
    assert "Missing: Python 3.11 or newer. No python3 was found." in checked.stderr
    assert "Missing: a C and C++ compiler" in checked.stderr
    assert "sudo apt install build-essential" in checked.stderr


def test_an_old_python_is_named_with_its_version(tmp_path: Path) -> None:
    program(tmp_path, "python3", 'case "$2" in *print*) echo 3.9.2;; *) exit 1;; esac')
    checked = check(tmp_path)
    assert checked.returncode == 1
    assert "python3 is 3.9.2." in checked.stderr


@pytest.mark.parametrize("name", ["python3.11", "python3.12", "python3.13", "python3.14"])
def test_a_newer_python_of_another_name_is_found_behind_an_old_one(tmp_path: Path, name: str) -> None:
    program(tmp_path, "python3", 'case "$2" in *print*) echo 3.9.2;; *) exit 1;; esac')
    working_python(tmp_path, name)
    working_compilers(tmp_path)
    checked = check(tmp_path)
    assert (checked.returncode, checked.stdout) == (0, f"{name}\n"), checked.stderr


def test_a_python_without_venv_is_told_the_package_that_brings_it(tmp_path: Path) -> None:
    program(tmp_path, "python3", f'case "$2" in *ensurepip*) exit 1;; *) exec "{sys.executable}" "$@";; esac')
    working_compilers(tmp_path)
    checked = check(tmp_path)
    assert checked.returncode == 1
    assert f"sudo apt install python3.{sys.version_info.minor}-venv" in checked.stderr
    assert "compiler" not in checked.stderr


@pytest.mark.parametrize(("name", "language"), [("cc", "C"), ("c++", "C++")])
def test_a_compiler_that_is_there_but_fails_is_missing(tmp_path: Path, name: str, language: str) -> None:
    working_python(tmp_path)
    working_compilers(tmp_path)
    program(tmp_path, name, "exit 1")
    checked = check(tmp_path)
    assert checked.returncode == 1
    assert f"Missing: a {language} compiler" in checked.stderr


def test_the_python_that_was_asked_for_is_never_replaced_by_another(tmp_path: Path) -> None:
    working_python(tmp_path)
    working_compilers(tmp_path)
    checked = check(tmp_path, PYTHON="python3.9")
    assert checked.returncode == 1
    assert "PYTHON=python3.9 is not a Python that runs." in checked.stderr

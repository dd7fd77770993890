"""`.ci/check-tools` says at once what a machine lacks, and with which command it is mended; `.ci/install` is quiet."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / ".ci" / "check-tools"
INSTALL = SCRIPT.with_name("install")
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
    assert "Missing: Python 3.11.2 or newer. No python3 was found." in checked.stderr
    assert "Missing: a C and C++ compiler" in checked.stderr
    assert "sudo apt install build-essential" in checked.stderr


def test_an_old_python_is_named_with_its_version_unless_there_is_a_newer_one_of_another_name(tmp_path: Path) -> None:
    program(tmp_path, "python3", 'case "$2" in *print*) echo 3.9.2;; *) exit 1;; esac')
    working_compilers(tmp_path)
    checked = check(tmp_path)
    assert (checked.returncode, "python3 is 3.9.2." in checked.stderr) == (1, True), checked.stderr
    working_python(tmp_path, "python3.14")
    checked = check(tmp_path)
    assert (checked.returncode, checked.stdout) == (0, "python3.14\n"), checked.stderr


def test_a_python_without_venv_is_told_the_package_that_brings_it(tmp_path: Path) -> None:
    program(tmp_path, "python3", f'case "$2" in *ensurepip*) exit 1;; *) exec "{sys.executable}" "$@";; esac')
    working_compilers(tmp_path)
    checked = check(tmp_path)
    assert checked.returncode == 1
    assert f"sudo apt install python3.{sys.version_info.minor}-venv" in checked.stderr
    assert "compiler" not in checked.stderr


def test_a_compiler_that_is_there_but_fails_is_missing(tmp_path: Path) -> None:
    working_python(tmp_path)
    working_compilers(tmp_path)
    program(tmp_path, "c++", "exit 1")
    checked = check(tmp_path)
    assert checked.returncode == 1
    assert "Missing: a C++ compiler" in checked.stderr


def test_the_python_that_was_asked_for_is_never_replaced_by_another(tmp_path: Path) -> None:
    working_python(tmp_path)
    working_compilers(tmp_path)
    checked = check(tmp_path, PYTHON="python3.9")
    assert checked.returncode == 1
    assert "PYTHON=python3.9 is not a Python that runs." in checked.stderr


def install(environment: Path, path: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Install with a Python that answers as the script has it: `$*` is what it is asked."""
    (environment / "bin").mkdir(parents=True)
    program(environment / "bin", "python", script)
    for name in ("dirname", "tail"):
        program(path, name, f'exec {shutil.which(name)} "$@"')
    return subprocess.run(
        [SHELL, str(INSTALL), str(environment / "bin" / "python"), ".[dev]"],
        env={"PATH": str(path)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def pip(lines: int, status: int) -> str:
    """A Python that has llama.cpp's binding, and whose pip says so many lines."""
    says = "".join(f"echo Collecting {n}; echo warning {n} >&2; " for n in range(lines))
    return f'case "$*" in *find_spec*) exit 0;; "-m pip install -e .[dev]") {says} exit {status};; esac'


def test_an_installation_says_one_line_and_keeps_what_pip_says_in_a_file(tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    installed = install(environment, tmp_path / "path", pip(3, status=0))
    log = environment / "pip.log"
    assert (installed.returncode, installed.stderr) == (0, "")
    assert installed.stdout == f"Installing into {environment}: a few minutes. What pip says is in {log}\n"
    assert log.read_text() == "".join(f"Collecting {n}\nwarning {n}\n" for n in range(3))


def test_an_installation_that_fails_names_the_file_and_shows_its_end(tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    installed = install(environment, tmp_path / "path", pip(100, status=3))
    *end, nothing, last = installed.stderr.splitlines()
    assert installed.returncode == 3
    assert end == [f"{word} {n}" for n in range(90, 100) for word in ("Collecting", "warning")]
    assert (nothing, last) == ("", f"pip has failed; these are its last lines, all that it said is in {environment / 'pip.log'}")


def test_before_llama_is_built_it_is_said_how_long_that_takes_and_what_is_missing_for_it(tmp_path: Path) -> None:
    # a Python that works, but for llama.cpp's binding
    without_llama = 'case "$*" in *find_spec*) exit 1;; *pip*) exit 0;; *) exec ' + f'"{sys.executable}" "$@";; esac'
    refused = install(tmp_path / "refused", tmp_path / "path", without_llama)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "Missing: a C and C++ compiler" in refused.stderr
    working_compilers(tmp_path / "path")
    installed = install(tmp_path / "environment", tmp_path / "path", without_llama)
    assert (installed.returncode, installed.stderr) == (0, "")
    (line,) = installed.stdout.splitlines()
    assert "3 to 15 minutes, once, as llama.cpp is built from source" in line

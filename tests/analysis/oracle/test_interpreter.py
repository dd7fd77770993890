"""Which interpreter runs a project's tests, and what of the machine it shows them, where the project's author made the environment."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import socket
import sys
import venv
from dataclasses import replace
from pathlib import Path

import pytest
from shop_project import isolated

from assay.analysis.oracle.interpreter import _PROBE_LIMITS, UnusableInterpreter, interpreter_of, mounts_of, probe
from assay.analysis.sandbox.isolation.levels import Isolation
from assay.analysis.sandbox.isolation.view import within

OWN = Path(sys.executable).resolve()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a private key, and a Python that was installed into its .local."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    (home / ".ssh" / "key").write_text("private")
    (home / ".local" / "share").mkdir(parents=True)
    installation(home / ".local")
    return home


def installation(prefix: Path) -> Path:
    """Make what looks like an installation of Python; its program."""
    library = prefix / "lib" / "python3.11"
    library.mkdir(parents=True)
    (library / "os.py").touch()
    (prefix / "bin").mkdir(parents=True, exist_ok=True)
    program = prefix / "bin" / "python3.11"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def environment(folder: Path, home: str | bytes, program: Path = OWN) -> Path:
    """Make an environment whose settings name that home; its program."""
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_bytes(b"home = " + os.fsencode(home) + b"\n")
    (folder / "bin" / "python").symlink_to(program)
    return folder / "bin" / "python"


def folders_of(program: Path) -> tuple[Path, ...]:
    """What a jail shows of a Python, by the names that it has inside. Each is there under its real name, too."""
    mounts = mounts_of(program, Isolation.BUBBLEWRAP)
    assert {mount.source for mount in mounts} <= {mount.target for mount in mounts}
    assert all(mount.source == mount.source.resolve() and not mount.writable for mount in mounts)
    return tuple(mount.target for mount in mounts)


def test_the_projects_own_environment_goes_before_the_python_that_runs(tmp_path: Path) -> None:
    assert interpreter_of(tmp_path, {}) == Path(sys.executable)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").touch()
    assert interpreter_of(tmp_path, {}) == Path(sys.executable)
    (tmp_path / ".venv" / "pyvenv.cfg").unlink()
    (tmp_path / ".venv").rmdir()
    assert interpreter_of(tmp_path, {}) == Path(sys.executable)
    program = environment(tmp_path / ".venv", str(OWN.parent))
    assert interpreter_of(tmp_path, {}) == program


def test_environments_are_looked_for_where_they_are_activated_then_in_the_project_then_where_tools_keep_them(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    digest = base64.urlsafe_b64encode(hashlib.sha256(str(project.resolve()).encode()).digest()).decode()[:8]
    own, gone = Path(sys.prefix), tmp_path / "gone"
    environ = {"CONDA_DEFAULT_ENV": "science", "XDG_CACHE_HOME": str(tmp_path / "cache"), "UV_PROJECT_ENVIRONMENT": "made-by-uv"}
    environ |= {"VIRTUAL_ENV": str(tmp_path / "active"), "CONDA_PREFIX": str(tmp_path / "conda")}
    poetry = tmp_path / "cache" / "pypoetry" / "virtualenvs"
    made = [
        environment(place, str(OWN.parent))
        for place in (
            *(project / "made-by-uv", poetry / f"project-{digest}-py3.9", poetry / f"project-{digest}-py3.12"),
            *(project / "venv", project / ".venv", tmp_path / "conda", tmp_path / "active"),
        )
    ]
    environment(poetry / "project-AAAAAAAA-py3.13", str(OWN.parent))
    while made:
        expected = made.pop()
        assert interpreter_of(project, environ) == expected
        shutil.rmtree(expected.parent.parent)
    assert interpreter_of(project, environ) == Path(sys.executable)
    environment(project / ".venv", str(OWN.parent))
    assert interpreter_of(project, {"VIRTUAL_ENV": str(own), "CONDA_PREFIX": str(gone)}) == project / ".venv" / "bin" / "python"
    environment(tmp_path / "conda", str(OWN.parent))
    base = {"CONDA_PREFIX": str(tmp_path / "conda"), "CONDA_DEFAULT_ENV": "base"}
    assert interpreter_of(project, base) == project / ".venv" / "bin" / "python"


@pytest.mark.slow
def test_nobody_is_advised_to_install_anything_beside_assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = tmp_path / "bare"
    venv.create(bare, symlinks=True, with_pip=False)
    with pytest.raises(UnusableInterpreter, match="-m pip install pytest"):
        probe(bare / "bin" / "python", isolated())
    monkeypatch.setattr(sys, "prefix", str(bare))
    with pytest.raises(UnusableInterpreter, match="no environment of the project is found") as told:
        probe(bare / "bin" / "python", isolated())
    assert "install" not in str(told.value)


def test_an_environment_shows_itself_and_programs_and_libraries_of_its_python(home: Path, tmp_path: Path) -> None:
    base = installation(home / ".local" / "python")
    program = environment(tmp_path / "project" / ".venv", str(base.parent), base)
    prefix = base.parent.parent
    assert folders_of(program) == (tmp_path / "project" / ".venv", prefix / "bin", prefix / "lib")


def test_an_installation_among_private_files_shows_none_of_them(home: Path, tmp_path: Path) -> None:
    program = home / ".local" / "bin" / "python3.11"
    assert folders_of(environment(tmp_path / "env", str(program.parent), program))[1:] == (home / ".local" / "bin", home / ".local" / "lib")
    assert folders_of(program) == (home / ".local" / "bin", home / ".local" / "lib")


def test_a_python_that_is_a_link_to_an_installation_is_shown_under_both_names(home: Path, tmp_path: Path) -> None:
    base = installation(tmp_path / "python-3.11.9")
    (tmp_path / "python-3.11").symlink_to("python-3.11.9")
    shown = folders_of(environment(tmp_path / "env", str(tmp_path / "python-3.11" / "bin"), base))
    assert {tmp_path / name / part for name in ("python-3.11", "python-3.11.9") for part in ("bin", "lib")} < set(shown)


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("{home}/.ssh/x", "holds no Python"),
        ("/srv/nobody/x", "there is no folder"),
        ("../../elsewhere/x", "no absolute path"),
        ("/proc/self/cwd/bin", "no absolute path of files"),
        ("/usr/../{home}/.local/bin", "no absolute path of files"),
    ],
)
def test_a_home_that_is_no_python_is_refused_and_nothing_of_it_shown(home: Path, tmp_path: Path, named: str, why: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    home_of_python = named.format(loop=tmp_path / "loop", run=tmp_path / "run", home=home, missing=tmp_path / "missing")
    program = environment(tmp_path / "project" / ".venv", home_of_python)
    with pytest.raises(UnusableInterpreter, match=rf"{why}.*(--python)"):
        folders_of(program)


@pytest.mark.parametrize(
    "settings",
    [
        b"home = \xff\xfe",
        b"home = " + b"x" * 200_000,
    ],
)
def test_settings_that_cannot_be_meant_are_refused(tmp_path: Path, settings: bytes) -> None:
    program = environment(tmp_path / ".venv", "/usr/bin")
    (tmp_path / ".venv" / "pyvenv.cfg").write_bytes(settings)
    with pytest.raises(UnusableInterpreter, match="--python"):
        folders_of(program)


def test_a_link_to_a_program_shows_nothing_of_the_folders_around_it(home: Path, tmp_path: Path) -> None:
    (home / "bin").mkdir()
    (home / "bin" / "tool").write_text("#!/bin/sh\n")
    (home / "bin" / "tool").chmod(0o755)
    with pytest.raises(UnusableInterpreter, match="holds no Python"):
        folders_of(environment(tmp_path / ".venv", "/usr/bin", home / "bin" / "tool"))


@pytest.mark.parametrize(
    "links", [{"lib64": ".."}, {"bin": "../../home/.ssh"}, {"lib64": "/proc/self/cwd/home"}, {"lib": "../../home/.local/lib"}]
)
def test_a_python_whose_parts_are_links_out_of_it_is_refused(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    project = tmp_path / "project"
    base = installation(project / "python")
    program = environment(project / ".venv", str(base.parent), base)
    for name, leads_to in links.items():
        if (project / "python" / name).exists():
            shutil.rmtree(project / "python" / name)
        (project / "python" / name).symlink_to(leads_to)
    with pytest.raises(UnusableInterpreter, match=r"leads out of it|there is no folder|holds no Python"):
        folders_of(program)


def test_an_environment_that_is_the_project_is_refused(tmp_path: Path) -> None:
    environment(tmp_path / "project", str(OWN.parent))
    (tmp_path / "project" / ".venv").symlink_to(".")
    with pytest.raises(UnusableInterpreter, match="leads to"):
        interpreter_of(tmp_path / "project", {})


def test_an_installation_in_the_home_folder_itself_is_refused(home: Path, tmp_path: Path) -> None:
    program = installation(home)
    with pytest.raises(UnusableInterpreter, match="holds your home folder"):
        folders_of(environment(tmp_path / ".venv", str(program.parent), program))
    (home / "pyvenv.cfg").write_text("home = /usr/bin\n")
    with pytest.raises(UnusableInterpreter, match="holds your home folder"):
        folders_of(program)


@pytest.mark.parametrize("place", [".venv/lib", "python/lib", "python/bin"])
def test_a_folder_with_a_socket_or_a_pipe_in_it_is_refused(tmp_path: Path, place: str) -> None:
    base = installation(tmp_path / "python")
    program = environment(tmp_path / ".venv", str(base.parent), base)
    folder = tmp_path / place / "deeper"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe")
    with pytest.raises(UnusableInterpreter, match="a socket, a pipe or a device"):
        folders_of(program)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_an_installation_of_another_user_is_refused(tmp_path: Path) -> None:
    base = installation(tmp_path / "python")
    os.chown(tmp_path / "python" / "lib", 4321, 4321)
    with pytest.raises(UnusableInterpreter, match="belongs to the user 4321"):
        folders_of(environment(tmp_path / ".venv", str(base.parent), base))


def test_an_environment_that_is_a_link_out_of_the_project_is_used_only_where_the_user_names_it(tmp_path: Path) -> None:
    program = environment(tmp_path / "elsewhere", str(OWN.parent))
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".venv").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnusableInterpreter, match=r"leads to .*--python"):
        interpreter_of(tmp_path / "project", {})
    named = tmp_path / "project" / ".venv" / "bin" / "python"
    assert program.parent.parent in folders_of(named)


def lying(folder: Path, script: str) -> Path:
    """Make an environment with a program in the place of its Python."""
    (folder / "bin").mkdir(parents=True)
    folder.chmod(0o755)
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\n")
    program = folder / "bin" / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo no, never >&2; exit 3", "does not run as a Python: no, never$"),
        ("echo $* >&2; exit 3", "does not run as a Python: .{,80}…$"),
    ],
)
def test_what_is_no_python_is_refused(tmp_path: Path, script: str, reason: str) -> None:
    with pytest.raises(UnusableInterpreter, match=reason):
        probe(lying(tmp_path / "env", script), isolated())
    with pytest.raises(UnusableInterpreter, match="no such program"):
        probe(tmp_path / "env" / "bin" / "missing", isolated())


def test_a_program_that_never_answers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.analysis.oracle.interpreter._PROBE_LIMITS", replace(_PROBE_LIMITS, wall_s=1))
    with pytest.raises(UnusableInterpreter, match="was asked which Python it is, and gave no answer within 1 s"):
        probe(lying(tmp_path / ".venv", "exec sleep 600"), isolated())


@pytest.mark.parametrize(
    "said",
    [
        "[]",
        '{"python": 3, "pytest": "8.0", "plugins": [], "distributions": []}',
        '{"python": [3, 11, 1], "pytest": "' + "9" * 5000 + '", "plugins": [], "distributions": []}',
        '{"python": [3, 11, 1], "pytest": "8.0", "plugins": [[]], "distributions": []}',
        "[" * 5000,
    ],
)
def test_a_program_that_lies_about_being_a_python_is_refused(tmp_path: Path, said: str) -> None:
    program = lying(tmp_path / ".venv", f"cat {tmp_path}/.venv/said")
    (tmp_path / ".venv" / "said").write_text(said)
    with pytest.raises(UnusableInterpreter, match="does not run as a Python"):
        probe(program, isolated())


def test_what_runs_in_the_jail_reaches_no_socket_and_no_private_file_that_its_settings_name(home: Path, tmp_path: Path) -> None:
    """The whole attack, by a program in the place of the Python: what it sees is in its complaint."""
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(tmp_path)
        (tmp_path / "run").mkdir()
        server.bind("run/bus")
        server.listen()
        (tmp_path / "run" / "bus").chmod(0o777)
        for named in (tmp_path / "run" / "x", home / ".ssh" / "x"):
            project = tmp_path / named.parent.name.strip(".")
            environment(project / ".venv", str(named), Path("/bin/sh"))
            with pytest.raises(UnusableInterpreter, match="holds no Python"):
                probe(interpreter_of(project, {}), isolated())
        shown = folders_of(environment(tmp_path / "plain" / ".venv", str(OWN.parent)))
        assert not any(within(tmp_path / "run", folder) or within(home, folder) for folder in shown)

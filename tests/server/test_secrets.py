from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path, PureWindowsPath

import pytest

from assay.server.secrets import ignored_by_git, is_secret_path

git_is_here = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "app/.env.production",
        "deploy/production.env",
        ".ENV",
        "home/.ssh/config",
        "keys/id_rsa",
        "keys/id_ed25519_work",
        "tls/server.PEM",
        "tls/server.key",
        ".netrc",
        ".pgpass",
        ".npmrc",
        ".pypirc",
        "kubeconfig.yaml",
        ".kube/config",
        ".aws/credentials",
        "credentials.json",
        "config/secrets.yml",
        "config/secrets.py",
        "passwords.kdbx",
        "infra/prod.tfvars",
        ".git-credentials",
        "config/master.key",
        "my-service-account.p12",
    ],
)
def test_a_file_that_holds_secrets_is_known_by_its_name(path: str) -> None:
    assert is_secret_path(path)
    assert is_secret_path(Path(path))


@pytest.mark.parametrize(
    "path",
    [
        "",
        "server/environment.py",
        "secretary.py",
        "src/key.py",
        "keyboard.ts",
        ".env.example",
        "secrets.sample.yml.template",
        "id_rsa.pub",
        "pem.go",
        "docs/credentials/index.md",
        ".github/workflows/test.yml",
        "tests/test_env.py",
    ],
)
def test_other_files_are_not_held_back(path: str) -> None:
    assert not is_secret_path(path)


def test_a_path_of_windows_is_read_as_one() -> None:
    assert is_secret_path("C:\\Users\\me\\.ssh\\config")
    assert is_secret_path(PureWindowsPath("C:\\app\\.env"))
    assert not is_secret_path("C:\\app\\main.py")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    return tmp_path


@git_is_here
def test_what_git_ignores_is_found_whatever_its_name(repository: Path) -> None:
    ignored = [repository / "build" / "out.py", repository / "a.log", repository / "é ü\n.log"]
    seen = [repository / "main.py", repository / "sub" / "log.py"]
    assert ignored_by_git([*ignored, *seen]) == frozenset(ignored)
    assert ignored_by_git(seen) == frozenset()
    assert ignored_by_git([]) == frozenset()


@git_is_here
def test_files_of_several_repositories_and_of_none_are_told_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        subprocess.run(["git", "init", "-q", str(tmp_path / name)], check=True)
    (tmp_path / "one" / ".gitignore").write_text("x.py\n")
    (tmp_path / "two" / ".gitignore").write_text("y.py\n")
    paths = [tmp_path / folder / name for folder in ("one", "two", "none") for name in ("x.py", "y.py")]
    assert ignored_by_git(paths) == {tmp_path / "one" / "x.py", tmp_path / "two" / "y.py"}


@git_is_here
def test_a_path_behind_a_link_does_not_hide_the_others(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (repository / "link").symlink_to(elsewhere)
    assert ignored_by_git([repository / "link" / "x.py", repository / "a.log"]) == {repository / "a.log"}


@git_is_here
def test_no_program_that_a_workspace_names_is_run(repository: Path) -> None:
    hook = repository / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch '{repository}/ran'\n")
    hook.chmod(0o755)
    subprocess.run(["git", "-C", str(repository), "config", "core.fsmonitor", str(hook)], check=True)
    assert ignored_by_git([repository / "a.log"]) == {repository / "a.log"}
    assert not (repository / "ran").exists()


def test_without_git_nothing_counts_as_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    assert ignored_by_git([tmp_path / "a.log"]) == frozenset()

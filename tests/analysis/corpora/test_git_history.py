"""What commits made of the files of a repository, read without running anything of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.corpora.git_history import (
    FileEdit,
    GitError,
    Hunk,
    changed_by,
    committed,
    contents,
    hunks,
    open_repository,
    single_edits,
)
from assay.analysis.python.source_text import lines_of

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
WHEN = 1700000000


class Work:
    """A repository in which commits are made, by git itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        names = {f"GIT_{who}_{what}": "me@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        names |= {f"GIT_{who}_DATE": f"{WHEN} +0000" for who in ("AUTHOR", "COMMITTER")}
        environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": os.devnull} | names
        argv = ["git", "-c", "core.autocrlf=false", *arguments]
        return subprocess.run(argv, cwd=self.folder, env=environment, capture_output=True, check=True, timeout=60).stdout.decode()

    def commit(self, files: dict[str, bytes | str] | None = None) -> str:
        for path, data in (files or {}).items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data.encode() if isinstance(data, str) else data)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "some change")
        return self.git("rev-parse", "HEAD").strip()

    def object_of(self, name: str) -> tuple[str, Path]:
        """An object's id and its file."""
        found = self.git("rev-parse", name).strip()
        return found, self.folder / ".git" / "objects" / found[:2] / found[2:]


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "project")


def test_files_with_any_name_and_the_time_of_their_last_change(work: Work) -> None:
    assert committed(open_repository(work.folder)) == set()
    assert changed_by(open_repository(work.folder), "me@example.org", 10) == {}
    names = ["a b.py", "ü.py", "\x01123", "1", "in/deep.py"]
    work.commit(dict.fromkeys(names, "x"))
    repository, below = open_repository(work.folder), open_repository(work.folder / "in")
    assert committed(repository) == set(names)
    assert changed_by(repository, "me@example.org", 10) == dict.fromkeys(names, WHEN)
    assert changed_by(repository, "you@example.org", 10) == {}
    assert (committed(below), set(changed_by(below, "me@example.org", 10))) == ({"deep.py"}, {"deep.py"})


def test_edits_are_what_commits_changed_newest_first_byte_for_byte(work: Work) -> None:
    old = "\ufeffdef f():\r\n    return 1\r\n\x0c\n# end"
    new = old.replace("1", "'é'")
    work.commit({"a.py": old, "deep/b c.py": "x = 1\n"})
    first = work.commit({"a.py": new, "added.py": "y = 1\n"})
    (work.folder / "added.py").unlink()
    second = work.commit({"deep/b c.py": "x = 2\n", "a.txt": "no Python"})
    edits = list(single_edits(work.folder / "deep"))
    assert edits == [FileEdit(second, "deep/b c.py", "x = 1\n", "x = 2\n"), FileEdit(first, "a.py", old, new)]
    assert hunks(edits[1]) == [Hunk(2, "    return 1\r\n", "    return 'é'\r\n")]


def test_a_file_that_does_not_count_hides_no_edit_and_is_none(work: Work) -> None:
    work.commit({"a.py": "x = 1\n", "tests/test_a.py": "y = 1\n"})
    work.commit({"a.py": "x = 2\n", "tests/test_a.py": "y = 2\n"})
    assert not list(single_edits(work.folder))
    (edit,) = single_edits(work.folder, counts=lambda path: not path.startswith("tests/"))
    assert (edit.path, edit.old, edit.new) == ("a.py", "x = 1\n", "x = 2\n")


def test_a_renamed_file_has_its_new_name_and_no_edit_where_nothing_else_changed(work: Work) -> None:
    lines = "".join(f"line_{i} = {i}\n" for i in range(20))
    work.commit({"old.py": lines})
    work.git("mv", "old.py", "middle.py")
    work.commit()
    work.git("mv", "middle.py", "new.py")
    work.commit({"new.py": lines.replace("line_7 = 7", "line_7 = 8")})
    (edit,) = single_edits(work.folder)
    assert (edit.path, hunks(edit)) == ("new.py", [Hunk(8, "line_7 = 7\n", "line_7 = 8\n")])


def test_merges_links_modes_and_what_is_changed_with_another_file_are_no_edits(work: Work) -> None:
    (work.folder / "link.py").symlink_to("a.py")
    work.commit({"a.py": "x = 1\n", "b.js": "x = 1\n", "c.py": "x = 1\n"})
    work.git("checkout", "-q", "-b", "other")
    (work.folder / "link.py").unlink()
    (work.folder / "link.py").symlink_to("elsewhere.py")
    (work.folder / "a.py").chmod(0o755)
    work.commit({"b.js": "x = 2\n"})
    work.git("checkout", "-q", "main")
    on_main = work.commit({"a.py": "x = 3\n"})
    work.git("merge", "-q", "--no-edit", "other")
    work.commit({"a.py": "x = 4\n", "c.py": "x = 4\n"})
    work.commit({"c.py": "x = 5\n" * 60_000})
    assert [edit.commit for edit in single_edits(work.folder)] == [on_main]


def test_a_repository_that_can_not_be_read_is_refused_with_a_reason(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GitError, match=r"git can't read it: .*HEAD"):
        list(single_edits(work.folder))
    work.commit({"a.py": "x = 1\n"})
    work.commit({"a.py": "x = 2\n"})
    with pytest.raises(GitError, match="is not a folder"):
        open_repository(tmp_path / "nowhere")
    (tmp_path / "plain").mkdir()
    with pytest.raises(GitError, match="is not in a git repository"):
        open_repository(tmp_path / "plain")
    work.git("clone", "-q", "--depth=1", f"file://{work.folder}", str(tmp_path / "shallow"))
    with pytest.raises(GitError, match=r"is a shallow clone.*--unshallow"):
        open_repository(tmp_path / "shallow")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git is not on the path"):
        open_repository(work.folder)


def hostile(work: Work, marker: Path) -> None:
    """Everything in a repository that can name a program names one that leaves a mark."""
    program = work.folder / ".git" / "evil"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    program.chmod(0o755)
    work.commit({".gitattributes": "*.py diff=evil filter=evil merge=evil\n"})
    settings = {
        **dict.fromkeys(("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.gitProxy", "core.askPass"), program),
        **dict.fromkeys(("core.alternateRefsCommand", "diff.external", "diff.evil.command", "diff.evil.textconv"), program),
        **dict.fromkeys(("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "credential.helper", "gpg.program"), program),
        **dict.fromkeys(("pager.cat-file", "pager.rev-list", "remote.evil.uploadpack"), program),
        **dict.fromkeys(("log.showSignature", "remote.evil.promisor"), "true"),
        **dict.fromkeys(("protocol.allow", "protocol.ext.allow"), "always"),
        **{"core.hooksPath": work.folder / ".git", "alias.cat-file": f"!{program}", "remote.evil.url": f"ext::{program}"},
        **{"remote.evil.partialCloneFilter": "blob:none", "extensions.partialClone": "evil", "core.repositoryFormatVersion": "1"},
    }
    for name, value in settings.items():
        work.git("config", name, str(value))
    for hook in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change"):
        shutil.copy(program, work.folder / ".git" / "hooks" / hook)
        shutil.copy(program, work.folder / ".git" / hook)


def test_nothing_that_a_hostile_repository_names_is_run(work: Work, tmp_path: Path) -> None:
    marker = tmp_path / "was here"
    commits = [work.commit({"a.py": f"x = {value}\n"}) for value in range(3)]
    lost, file = work.object_of("HEAD:a.py")
    hostile(work, marker)
    file.unlink()
    repository = open_repository(work.folder)
    assert set(changed_by(repository, "me@example.org", 10)) == {"a.py", ".gitattributes"}
    assert committed(repository) == {"a.py", ".gitattributes"}
    assert [edit.commit for edit in single_edits(work.folder)] == [commits[1]]
    assert not marker.exists()
    for bare in (["status"], ["cat-file", "-p", lost]):
        subprocess.run(["git", *bare], cwd=work.folder, capture_output=True, check=False, timeout=60)
        assert marker.exists(), f"the trap of git {bare[0]} does not work"
        marker.unlink()


def test_a_damaged_object_costs_its_own_edits_only(work: Work) -> None:
    commits = [work.commit({"a.py": f"x = {value}\n"}) for value in range(4)]
    _, file = work.object_of("HEAD:a.py")
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:-8] + b"\0" * 8)
    assert [edit.commit for edit in single_edits(work.folder)] == [commits[2], commits[1]]


def test_a_file_of_the_repository_that_never_ends_ends_in_an_error(work: Work) -> None:
    work.commit({"a.py": "x = 1\n"})
    name, file = work.object_of("HEAD:a.py")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(GitError, match="had not finished reading after 1 s"):
        contents(open_repository(work.folder, timeout_s=1), [name])


LINES = st.lists(st.sampled_from(["a\n", "b\r\n", "c\r", "\n", "\x0cd\n", "e\u2028f\n"]), max_size=12)


@settings(deadline=None)
@given(LINES, LINES, st.sampled_from(["", "end"]), st.sampled_from(["", "end"]))
def test_hunks_turn_the_old_file_into_the_new_one(old: list[str], new: list[str], old_end: str, new_end: str) -> None:
    edit = FileEdit("", "", "".join(old) + old_end, "".join(new) + new_end)
    lines, made, done = lines_of(edit.old), "", 0
    assert "".join(lines) == edit.old
    for hunk in hunks(edit):
        assert hunk.old != hunk.new
        removed = lines_of(hunk.old)
        made += "".join(lines[done : hunk.old_line - 1])
        assert lines_of(made + "|")[-1] == "|"
        done = hunk.old_line - 1 + len(removed)
        assert lines[hunk.old_line - 1 : done] == removed
        made += hunk.new
    assert made + "".join(lines[done:]) == edit.new

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.corpora import edits as edits_module
from assay.analysis.corpora.edits import FileEdit, Hunk, SkippedChange, hunks, read_edits
from assay.analysis.corpora.git_history import GitError
from assay.analysis.python.source_text import lines_of

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


class Work:
    """A repository in which commits are made, by git itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, stdin: bytes | None = None) -> str:
        names = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": os.devnull} | names
        argv = ["git", "-c", "core.autocrlf=false", *arguments]
        return subprocess.run(
            argv, cwd=self.folder, env=environment, input=stdin, capture_output=True, check=True, timeout=60
        ).stdout.decode()

    def write(self, path: str, data: bytes | str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)

    def commit(self, text: str, *options: str) -> str:
        self.git("add", "-A")
        self.git(*options, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", text)
        return self.git("rev-parse", "HEAD").strip()


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "project")


def read(work: Work, **options: object) -> list[FileEdit | SkippedChange]:
    return list(read_edits(work.folder, **options))  # type: ignore[arg-type]


def test_edits_are_what_commits_changed_newest_first_byte_for_byte(work: Work) -> None:
    old = b"\xef\xbb\xbfdef f():\r\n    return 1\r\n\x0c\n# end"
    new = old.replace(b"1", "'é'".encode())
    work.write("a.py", old)
    work.write("deep/b c.py", "x = 1\n")
    work.commit("root")
    work.write("a.py", new)
    work.write("added.py", "y = 1\n")
    first = work.commit("One\n\nwith a body é\n")
    work.write("deep/b c.py", "x = 2\n")
    work.write("a.txt", "no Python")
    (work.folder / "added.py").unlink()
    second = work.commit("two")
    found = read(work)
    assert [(e.commit, e.path) for e in found] == [(second, "deep/b c.py"), (first, "a.py")]
    assert isinstance(found[1], FileEdit)
    assert found[1].message == "One\n\nwith a body é\n"
    assert (found[1].old.encode(found[1].old_encoding), found[1].new.encode(found[1].encoding)) == (old, new)
    assert hunks(found[1]) == [Hunk(2, 2, "    return 1\r\n", "    return 'é'\r\n")]
    assert read(work, max_commits=1) == found[:1]
    assert read(work, revision=first) == found[1:]
    assert [e.path for e in read_edits(work.folder / "deep")] == ["deep/b c.py", "a.py"]


def test_encodings_are_those_that_each_version_names(work: Work) -> None:
    work.write("a.py", b"# coding: latin-1\nx = '\xe9'\n")
    work.commit("root")
    work.write("a.py", "# coding: utf-8\nx = 'é'\n")
    work.commit("Umstellung ä", "-c", "i18n.commitEncoding=latin-1")
    work.write("a.py", b"x = '\xe9'\n")
    work.commit("broken")
    broken, edit = read(work)
    assert isinstance(edit, FileEdit)
    assert (edit.old_encoding, edit.encoding, edit.old[-4:], edit.new[-4:]) == ("iso-8859-1", "utf-8", "'é'\n", "'é'\n")
    assert isinstance(broken, SkippedChange)
    assert "encoding" in broken.reason


def test_a_message_is_decoded_as_its_commit_says(work: Work) -> None:
    work.write("a.py", "x = 1\n")
    work.commit("root")
    work.write("a.py", "x = 2\n")
    work.git("add", "-A")
    work.git("-c", "i18n.commitEncoding=latin-1", "commit", "-q", "-F", "-", stdin=b"L\xf6sung\n")
    (edit,) = read(work)
    assert isinstance(edit, FileEdit)
    assert edit.message == "Lösung\n"


def test_a_rename_is_told_and_no_edit_where_nothing_else_changed(work: Work) -> None:
    lines = "".join(f"line_{i} = {i}\n" for i in range(20))
    work.write("old.py", lines)
    work.commit("root")
    work.git("mv", "old.py", "middle.py")
    work.commit("only renamed")
    work.git("mv", "middle.py", "new.py")
    work.write("new.py", lines.replace("line_7 = 7", "line_7 = 8"))
    work.commit("renamed and edited")
    (edit,) = read(work)
    assert isinstance(edit, FileEdit)
    assert (edit.old_path, edit.path) == ("middle.py", "new.py")
    assert hunks(edit) == [Hunk(8, 8, "line_7 = 7\n", "line_7 = 8\n")]


def test_merges_links_modes_and_other_languages_are_no_edits(work: Work) -> None:
    work.write("a.py", "x = 1\n")
    work.write("b.js", "x = 1\n")
    (work.folder / "link.py").symlink_to("a.py")
    work.commit("root")
    work.git("checkout", "-q", "-b", "other")
    work.write("b.js", "x = 2\n")
    (work.folder / "link.py").unlink()
    (work.folder / "link.py").symlink_to("elsewhere.py")
    (work.folder / "a.py").chmod(0o755)
    work.commit("on a branch")
    work.git("checkout", "-q", "main")
    work.write("a.py", "x = 3\n")
    on_main = work.commit("on main")
    work.git("merge", "-q", "--no-edit", "other")
    assert [e.commit for e in read(work)] == [on_main]
    assert [e.path for e in read(work, suffixes=(".js",))] == ["b.js"]


def test_what_is_too_large_is_left_out_with_the_reason(work: Work) -> None:
    work.write("a.py", "x = 1\n")
    work.write("b.py", "x = 1\n")
    work.commit("root")
    work.write("a.py", "x = 1\n" * 100)
    work.write("b.py", "x = 2\n")
    work.commit("two files")
    left_out, edit = read(work, max_bytes=500)
    assert isinstance(left_out, SkippedChange)
    assert (left_out.path, left_out.reason) == ("a.py", "the new version has 600 bytes, more than 500")
    assert edit.path == "b.py"
    assert {type(e) for e in read(work, max_bytes=20)} == {SkippedChange}


def test_contents_are_read_in_parts_that_memory_holds(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in range(5):
        for name in "abc":
            work.write(f"{name}.py", f"{name} = {version}\n")
        work.commit(str(version))
    whole = read(work)
    assert len(whole) == 12
    monkeypatch.setattr(edits_module, "_BYTES_AT_ONCE", 500)
    monkeypatch.setattr(edits_module, "_COMMITS_AT_ONCE", 2)
    assert read(work) == whole


def test_a_repository_that_can_not_be_read_is_refused_with_a_reason(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GitError, match="no commit 'HEAD'"):
        read(work)
    work.write("a.py", "x = 1\n")
    work.commit("root")
    work.write("a.py", "x = 2\n")
    work.commit("two")
    with pytest.raises(GitError, match="no commit '--all'"):
        read(work, revision="--all")
    with pytest.raises(GitError, match="is not a folder"):
        list(read_edits(tmp_path / "nowhere"))
    (tmp_path / "plain").mkdir()
    with pytest.raises(GitError, match="is not in a git repository"):
        list(read_edits(tmp_path / "plain"))
    work.git("clone", "-q", "--depth=1", f"file://{work.folder}", str(tmp_path / "shallow"))
    with pytest.raises(GitError, match=r"is a shallow clone.*--unshallow"):
        list(read_edits(tmp_path / "shallow"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git is not on the path"):
        read(work)


def hostile(work: Work, marker: Path) -> None:
    """Everything in a repository that can name a program names one that leaves a mark."""
    program = work.folder / ".git" / "evil"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    program.chmod(0o755)
    work.write(".gitattributes", "*.py diff=evil filter=evil merge=evil\n")
    work.commit("attributes")
    settings = {
        "core.fsmonitor": program,
        "core.pager": program,
        "core.editor": program,
        "core.sshCommand": program,
        "core.gitProxy": program,
        "core.askPass": program,
        "core.alternateRefsCommand": program,
        "core.hooksPath": work.folder / ".git",
        "diff.external": program,
        "diff.evil.command": program,
        "diff.evil.textconv": program,
        "filter.evil.clean": program,
        "filter.evil.smudge": program,
        "filter.evil.process": program,
        "credential.helper": program,
        "gpg.program": program,
        "log.showSignature": "true",
        "pager.cat-file": program,
        "pager.rev-list": program,
        "alias.cat-file": f"!{program}",
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "remote.evil.url": f"ext::{program}",
        "remote.evil.uploadpack": program,
        "remote.evil.promisor": "true",
        "remote.evil.partialCloneFilter": "blob:none",
        "extensions.partialClone": "evil",
        "core.repositoryFormatVersion": "1",
    }
    for name, value in settings.items():
        work.git("config", name, str(value))
    for hook in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change"):
        shutil.copy(program, work.folder / ".git" / "hooks" / hook)
        shutil.copy(program, work.folder / ".git" / hook)


def test_nothing_that_a_hostile_repository_names_is_run(work: Work, tmp_path: Path) -> None:
    marker = tmp_path / "was here"
    work.write("a.py", "x = 1\n")
    work.commit("root")
    for value in (2, 3):
        work.write("a.py", f"x = {value}\n")
        last = work.commit(str(value))
    lost = work.git("rev-parse", f"{last}:a.py").strip()
    hostile(work, marker)
    (work.folder / ".git" / "objects" / lost[:2] / lost[2:]).unlink()

    found = read(work)
    assert [type(e) for e in found] == [SkippedChange, FileEdit]
    assert isinstance(found[0], SkippedChange)
    assert "partial clone" in found[0].reason
    assert not marker.exists()

    for bare in (["status"], ["cat-file", "-p", lost]):
        subprocess.run(["git", *bare], cwd=work.folder, capture_output=True, check=False, timeout=60)
        assert marker.exists(), f"the trap of git {bare[0]} does not work"
        marker.unlink()


def test_a_damaged_object_costs_its_own_edits_only(work: Work) -> None:
    for value in range(4):
        work.write("a.py", f"x = {value}\n")
        work.commit(str(value))
    name = work.git("rev-parse", "HEAD:a.py").strip()
    file = work.folder / ".git" / "objects" / name[:2] / name[2:]
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:-8] + b"\0" * 8)
    assert [type(e) for e in read(work)] == [SkippedChange, FileEdit, FileEdit]


def test_a_file_of_the_repository_that_never_ends_ends_in_an_error(work: Work) -> None:
    work.write("a.py", "x = 1\n")
    work.commit("root")
    work.write("a.py", "x = 2\n")
    work.commit("two")
    name = work.git("rev-parse", "HEAD:a.py").strip()
    file = work.folder / ".git" / "objects" / name[:2] / name[2:]
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(GitError, match="had not finished reading after 1 s"):
        read(work, timeout_s=1)


LINES = st.lists(st.sampled_from(["a\n", "b\r\n", "c\r", "\n", "\x0cd\n", "e\u2028f\n"]), max_size=12)


@settings(deadline=None)
@given(LINES, LINES, st.sampled_from(["", "end"]), st.sampled_from(["", "end"]))
def test_hunks_turn_the_old_file_into_the_new_one(old: list[str], new: list[str], old_end: str, new_end: str) -> None:
    edit = FileEdit("", "", "", "", "".join(old) + old_end, "".join(new) + new_end, "utf-8", "utf-8")
    lines, made, done = lines_of(edit.old), "", 0
    assert "".join(lines) == edit.old
    for hunk in hunks(edit):
        assert hunk.old != hunk.new
        removed = lines_of(hunk.old)
        made += "".join(lines[done : hunk.old_line - 1])
        assert lines_of(made + "|")[-1] == "|"
        assert len(lines_of(made)) == hunk.new_line - 1
        done = hunk.old_line - 1 + len(removed)
        assert lines[hunk.old_line - 1 : done] == removed
        made += hunk.new
    assert made + "".join(lines[done:]) == edit.new


def test_hunks_of_a_very_large_change_take_no_time() -> None:
    old = "".join(f"{i % 7}\n" for i in range(5000))
    new = "".join(f"{i % 5}\n" for i in range(5000))
    start = time.process_time()
    (hunk,) = hunks(FileEdit("", "", "", "", "same\n" + old, "same\n" + new, "utf-8", "utf-8"))
    assert time.process_time() - start < 1
    assert hunk.old_line == 2 + next(i for i in range(5000) if i % 7 != i % 5)

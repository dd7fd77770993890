"""Which files of a folder are read for a project memory."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from assay.inference.project_memory.project import ProjectTooLarge
from assay.suggestion.memory import folder, ignored
from assay.suggestion.memory.folder import as_code, code_in, files_in, is_own_code, listing
from assay.suggestion.memory.ignored import is_ignored, pattern_of, with_rules_of


def write(root: Path, *paths: str, text: str = "x = 1\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def test_own_code_is_read_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, "app/db.py", "web/main.ts", "build_tools/make.py", "app/build/step.py")
    write(tmp_path, "secrets.py", "app/credentials.py", "README.md", "data.json", "app/_vendor/six.py", "app/__pycache__/db.py")
    write(tmp_path, "node_modules/a/index.js", "web/node_modules/b/index.js", "build/lib/app/db.py", ".git/hooks/pre.py")
    write(tmp_path, ".venv/lib/site.py", "env/pyvenv.cfg", "env/lib/site.py")
    own = ["app/build/step.py", "app/db.py", "build_tools/make.py", "web/main.ts"]
    assert list(listing(tmp_path).files) == sorted(path for path, _ in files_in(tmp_path)) == own
    assert all(map(is_own_code, own)), "paths are judged without a disk, too"
    assert not any(map(is_own_code, ("secrets.py", "README.md", "build/lib/app/db.py", "web/node_modules/b/index.js")))


def test_what_git_ignores_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "made.py", "app/b.py", "app/made.py", "gen/c.py", "app/gen/d.py")
    write(tmp_path, ".gitignore", text="made.py\n/gen/\n")
    write(tmp_path, "app/.gitignore", text="!made.py\n")
    assert sorted(listing(tmp_path).files) == ["a.py", "app/b.py", "app/gen/d.py", "app/made.py"]
    write(tmp_path, "gen/more/e.py")
    write(tmp_path, ".git/info/exclude", text="/app/gen/\n")
    assert sorted(listing(tmp_path / "app").files) == ["b.py", "made.py"], "a repository's rules hold in its folders"
    assert sorted(listing(tmp_path / "gen").files) == ["c.py", "more/e.py"], "one that is ignored is read when it is opened itself"
    # Lines that are no patterns are passed over.
    (tmp_path / ".gitignore").write_text("\ufeffmade.py\n!\nfoo\\\n[z-a].py\ngen\napp\n", encoding="utf-8")
    assert list(listing(tmp_path).files) == ["a.py"]


def test_what_a_repository_excludes_for_itself_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "main/a.py", "main/hush.py", "tree/a.py", "tree/hush.py", "outer/sub/a.py", "outer/sub/hush.py")
    write(tmp_path, "main/.git/info/exclude", "outer/sub/.git/info/exclude", text="hush.py\n")
    # As `git worktree add` lays it out.
    write(tmp_path, "tree/.git", text=f"gitdir: {tmp_path}/main/.git/worktrees/tree\n")
    write(tmp_path, "main/.git/worktrees/tree/commondir", text="../..\n")
    assert list(listing(tmp_path / "main").files) == list(listing(tmp_path / "tree").files) == ["a.py"]
    assert list(listing(tmp_path / "outer").files) == ["sub/a.py"]


@pytest.mark.parametrize("named", [True, False], ids=["named", "usual"])
def test_what_the_user_has_git_ignore_everywhere_is_not_read(named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    write(tmp_path, "root/a.py", "root/app/private_notes.py", "root/.git/HEAD")
    write(home, "mine" if named else ".config/git/ignore", text="private_*\n")
    write(home, ".gitconfig", text="[core]\n\texcludesFile = ~/mine\n" if named else "")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    ignored._users_file.cache_clear()
    try:
        assert list(listing(tmp_path / "root").files) == ["a.py"]
    finally:
        ignored._users_file.cache_clear()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes files that only POSIX has")
@pytest.mark.parametrize(("name", "what"), [(".gitignore", "pipe"), (".git/info/exclude", "device"), (".git/commondir", "large")])
def test_a_file_of_rules_without_end_is_passed_over_at_once(tmp_path: Path, name: str, what: str) -> None:
    write(tmp_path, "a.py", ".git/info/else")
    if what == "pipe":
        os.mkfifo(tmp_path / name)
    elif what == "device":
        (tmp_path / name).symlink_to("/dev/zero")
    else:
        with (tmp_path / name).open("wb") as file:
            file.truncate(1 << 34)
    assert list(listing(tmp_path).files) == ["a.py"]


@pytest.mark.parametrize(("name", "content"), [(".git", b"gitdir: a\0b\n"), (".git/commondir", b"a\0b\n"), (".gitignore", b"a\0.py\n")])
def test_a_line_that_names_no_file_is_passed_over(tmp_path: Path, name: str, content: bytes) -> None:
    write(tmp_path, "a.py", "hush.py")
    if name == ".git/commondir":
        write(tmp_path, ".git/info/exclude", text="hush.py\n")
    (tmp_path / name).write_bytes(content)
    assert list(listing(tmp_path).files) == (["a.py"] if name == ".git/commondir" else ["a.py", "hush.py"])


def test_a_disk_is_not_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.py", "b/c/d.py", "b/c/d/e.py")
    monkeypatch.setattr(folder, "MAX_DEPTH", 2)
    assert sorted(listing(tmp_path).files) == ["a.py", "b/c/d.py"], "what lies too deep is not read"
    for limit, most, why in (("MAX_ENTRIES", 3, "more than 3 files"), ("MAX_LISTING_S", 0.0, "takes longer than")):
        with monkeypatch.context() as patched:
            patched.setattr(folder, limit, most)
            with pytest.raises(ProjectTooLarge, match=why):
                listing(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes files that only POSIX has")
def test_code_that_became_a_pipe_or_a_link_since_it_was_listed_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "device.py").symlink_to("/dev/zero")
    write(tmp_path, "secrets.txt")
    (tmp_path / "link.py").symlink_to(tmp_path / "secrets.txt")
    assert [code_in(tmp_path / name) for name in ("pipe.py", "device.py", "link.py")] == [None, None, None]
    write(tmp_path, "root/a.py", "elsewhere/b.py")
    (tmp_path / "root/b.py").symlink_to(tmp_path / "elsewhere/b.py")
    (tmp_path / "root/more").symlink_to(tmp_path / "elsewhere")
    assert list(listing(tmp_path / "root").files) == ["a.py"], "links are not followed"


def test_a_folder_is_watched_as_a_whole_unless_something_in_it_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "app/a/b.py", "app/__pycache__/x.pyc", "web/src/c.ts", "web/node_modules/d/e.js")
    watched = dict(listing(tmp_path).watched)
    assert watched == {tmp_path: False, tmp_path / "app": True, tmp_path / "web": False, tmp_path / "web/src": True}


def test_what_no_person_writes_is_no_code(tmp_path: Path) -> None:
    (tmp_path / "binary.py").write_bytes(b"x = 1\0")
    assert code_in(tmp_path / "binary.py") is None
    assert code_in(tmp_path / "missing.py") is None
    assert as_code("a" * 6_000) is None
    assert as_code("a = 1\n" * 100_000) is None
    assert as_code("a = 1\n") == "a = 1\n"


# Lines of the templates for many languages, and what else git knows.
LINES = (
    """
*.py[cod]|**/node_modules/**|docs/_build/|.idea/**/workspace.xml|cmake-build-*/|*.egg-info/|*.py,!**/keep/*.x.py|.*.sw[a-p]|__*.*__|*$py.class
/a/b|a/b/|a/**/b|/**|**|**/|*|*/|a/**,!a/b.x|a/*,!a/b|a/**/**/b|**/a/**/b/**|/a*b*c/**/d?/*.x|a**b|**a/b|[!a]b|[^a-c]*|[]a]x|[a-]x|[\\]a]x|\\*a
\\#a|#a|\\!a|!a|a\\ |a |\\a|/|//|a//b|[z-a]|[a|a\\|[!]|?|??|a?b|.*|*,!*/,!*.py|[Bb]in/|*- [Bb]ackup ([0-9]).x|**/*.x|/.|./a|a/.
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
PATHS = (
    """
a.py|a.pyc|keep/a.x.py|b/keep/a.x.py|b/keep/a.y.py|keep/b/c.x.py|web/node_modules/x/y.js|docs/_build/a|x/docs/_build/a|.idea/a/workspace.xml
.idea/workspace.xml|cmake-build-x/a|x/cmake-build-|e.egg-info/a|.a.swp|__a.b__|a$py.class|a/b|x/a/b|a/x/b/c|a/x/y/b|a/b.x|axbyc/d/dx/e.x
axbyc/dx/e.x|xa/b|ab|bb|]x|ax|-x|*a|#a|!a|a b|abc/a b|ac|Bin/x|c- Backup (3).x|.hidden|a/.|long/long/b.py|a.x
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


def ignored_by_git(root: Path, paths: list[str]) -> dict[str, bool]:
    git = ["git", "-C", str(root), "-c", f"core.excludesFile={os.devnull}", "check-ignore"]
    asked = [*git, "--no-index", "--stdin", "-z", "--verbose", "--non-matching"]
    said = subprocess.run(asked, input="\0".join(paths).encode(), capture_output=True, check=False).stdout.decode().split("\0")
    rows = [said[start : start + 4] for start in range(0, len(said) - 1, 4)]
    return {path: bool(source) and not pattern.startswith("!") for source, _, pattern, path in rows}


def ignored_here(root: Path, paths: list[str]) -> dict[str, bool]:
    """As a walk through the folder asks: nothing below an ignored folder."""
    rules, found = with_rules_of((), root, [".gitignore"]), {".": False}
    for path in paths:
        found[path] = found[Path(path).parent.as_posix()] or is_ignored(root / path, rules, is_folder=(root / path).is_dir())
    del found["."]
    return found


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A repository with many names, and its folders and files in order."""
    root = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for path in PATHS:
        folder = root.joinpath(path).parent
        if not any(each.is_file() for each in (folder, *folder.parents)) and not (root / path).exists():
            folder.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("")
    return root, sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if ".git" not in path.parts)


def test_what_is_ignored_is_what_git_ignores(tree: tuple[Path, list[str]]) -> None:
    root, paths = tree
    for lines in LINES:
        (root / ".gitignore").write_text(lines.replace(",", "\n") + "\n")
        assert ignored_here(root, paths) == ignored_by_git(root, paths), lines


LONG = "a" * 250
DEEP = "/".join([LONG] * 16)
FOLDERS = "/".join(["aaaa"] * 100)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("a*a*a*" + "a" * 80 + "b", LONG),
        ("*a" * 240 + "b", DEEP),
        ("*" + "[!b]" * 100 + "b", LONG),
        ("a/**/a/**/a/**/a/**/b", "/".join(["a"] * 1_000)),
        ("**/" + "*a/" * 50 + "**/" + "*a/" * 50 + "b", FOLDERS),
        ("**/*" + "a" * 120 + "/*" + "a" * 125 + "/*" + "a" * 125 + "b", DEEP),
        (" " * 1_000_000 + "x", LONG),
    ],
)
def test_no_pattern_takes_long_for_any_path(line: str, path: str) -> None:
    began = time.perf_counter()
    for _ in range(10):
        pattern = pattern_of(line)
        assert pattern is None or not pattern.matches(path)
    # 15 ms at most on an idle core, and years where a star multiplies the time.
    assert time.perf_counter() - began < 2

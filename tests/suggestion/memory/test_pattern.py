"""Whether a line of a .gitignore is about a path, as git itself says."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.suggestion.memory.ignored import is_ignored, pattern_of, with_rules_of

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


@pytest.mark.parametrize("lines", LINES)
def test_what_is_ignored_is_what_git_ignores(tree: tuple[Path, list[str]], lines: str) -> None:
    root, paths = tree
    (root / ".gitignore").write_text(lines.replace(",", "\n") + "\n")
    assert ignored_here(root, paths) == ignored_by_git(root, paths)


PIECES = st.sampled_from(["a", "b", "*", "**", "?", "[ab]", "[!a]", ".x", "\\a", "[a-]", "[]a]", "."])
NAMES = st.sampled_from(["**", "*", "a", "b.x"]) | st.lists(PIECES, min_size=1, max_size=4).map("".join)
PATTERNS = st.builds(
    lambda no, start, names, end: no + start + "/".join(names) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(NAMES, min_size=1, max_size=4),
    st.sampled_from(["", "/", " "]),
)
# Git's own pages take these stars for one. Git 2.39 takes them for more: "abc" is one of "a**/**".
ODD = re.compile(r"[^/*!]\*\*+/|\*{3,}")


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.lists(PATTERNS.filter(lambda line: not ODD.search(line)), min_size=1, max_size=4))
def test_any_lines_say_what_git_says(tree: tuple[Path, list[str]], lines: list[str]) -> None:
    root, paths = tree
    (root / ".gitignore").write_text("\n".join(lines) + "\n")
    assert ignored_here(root, paths) == ignored_by_git(root, paths)


LONG = "a" * 250
DEEP = "/".join([LONG] * 16)
FOLDERS = "/".join(["aaaa"] * 100)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("a*a*a*" + "a" * 80 + "b", LONG),
        ("*a" * 240 + "b", DEEP),
        ("*" + "?" * 120 + "b", LONG),
        ("*" + "[!b]" * 100 + "b", LONG),
        ("a/**/a/**/a/**/a/**/b", "/".join(["a"] * 1_000)),
        ("**/a*aab/**/a*aab/**/b", FOLDERS),
        ("**/" + "*a/" * 50 + "**/" + "*a/" * 50 + "b", FOLDERS),
        ("**/*" + "a" * 120 + "/*" + "a" * 125 + "/*" + "a" * 125 + "b", DEEP),
        (" " * 499 + "x", LONG),
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

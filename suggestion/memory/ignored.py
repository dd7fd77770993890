"""What git ignores in a folder, by its .gitignore files."""

from __future__ import annotations

from pathlib import Path

from pathspec import GitIgnoreSpec

GITIGNORE = ".gitignore"

# The folder that patterns count from, and the patterns; those of an inner folder come later and count more.
Rules = tuple[tuple[Path, GitIgnoreSpec], ...]


def rules_above(root: Path) -> Rules:
    """The rules that hold in a folder from above it: those of the repository that it is in."""
    repository = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)
    if repository is None:
        return ()
    above = reversed(root.relative_to(repository).parents) if root != repository else ()
    rules = _with_file((), repository, repository / ".git" / "info" / "exclude")
    for folder in above:
        rules = with_rules_of(rules, repository / folder)
    return rules


def with_rules_of(rules: Rules, folder: Path) -> Rules:
    """The rules that hold in a folder, given those of the folder above."""
    return _with_file(rules, folder, folder / GITIGNORE)


def is_ignored(path: Path, rules: Rules, *, is_folder: bool) -> bool:
    """Whether git ignores a path. What is in an ignored folder is not asked for: git does not look there."""
    for base, spec in reversed(rules):
        found = spec.check_file(path.relative_to(base).as_posix() + "/" * is_folder).include
        if found is not None:
            return found
    return False


def _with_file(rules: Rules, base: Path, file: Path) -> Rules:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return rules
    return (*rules, (base, GitIgnoreSpec.from_lines(lines))) if lines else rules

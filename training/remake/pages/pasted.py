"""Puts what a benchmark printed, sections of Markdown under titles of three signs, into blocks of a page.

    python -m training.remake.pages.pasted TREE PAGE PRINTED TASKS BLOCK=TITLE …

TASKS: those that it is of, separated by commas.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ..evidence import fill
from ..present import present


def sections(printed: str) -> dict[str, str]:
    """What stands under each title."""
    _, *parts = re.split(r"^### (.+)$", printed, flags=re.MULTILINE)
    return {title.strip(): body.strip() for title, body in zip(parts[::2], parts[1::2], strict=True)}


def main() -> None:
    """Fill the blocks."""
    tree, page, printed, tasks, *wanted = sys.argv[1:]
    found = sections(Path(printed).read_text(encoding="utf-8"))
    titles = {block: title for block, _, title in (one.partition("=") for one in wanted)}
    if missing := [title for title in titles.values() if title not in found]:
        sys.exit(f"{printed} has no section {', '.join(missing)}: it has {', '.join(found)}")
    contents = {block: found[title] for block, title in titles.items()}
    fill(Path(tree), page, contents, present().named(*tasks.split(",")))


if __name__ == "__main__":
    main()

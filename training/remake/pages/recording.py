"""What `make demo` shows, in the README and in the page on the commands.

    python -m training.remake.pages.recording TREE PRINTED

The same places are shown whatever comes of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ..evidence import fill
from ..present import present

README = ("bank_statement.py:97",)
COMMANDS = ("expiring_cache.py:64", "intervals.py:36", *README, "geometry.py:63")


def excerpt(printed: str, places: tuple[str, ...], *, lines_after: bool, evidence: bool) -> str:
    """The heading, some places and the closing lines of what the demo printed.

    lines_after: with the lines behind the suggestion. evidence: with the lines on each calibrator. Raises ValueError where the demo did not
    print a place.
    """
    heading, *parts = printed.strip().split("\n\n")
    *shown, summary = parts
    found = {part.split()[1]: part for part in shown}
    if missing := [place for place in places if place not in found]:
        raise ValueError(f"the demo showed no {', '.join(missing)}")
    chosen = [found[place] if lines_after else _without_lines_after(found[place]) for place in places]
    closing = [line for line in summary.split("\n") if evidence or not line.startswith("Evidence for ")]
    between = "\n\n…\n\n" if lines_after else "\n…\n"
    return "```\n$ make demo\n" + heading + "\n\n" + "\n\n".join(chosen) + between + "\n".join(closing) + "\n```"


def _without_lines_after(place: str) -> str:
    """Up to the suggestion, and the verdict."""
    *lines, verdict = place.split("\n")
    end = max((number for number, line in enumerate(lines) if "»" in line), default=len(lines) - 1)
    return "\n".join([*lines[: end + 1], verdict])


def main() -> None:
    """Fill the blocks."""
    tree, printed = Path(sys.argv[1]), Path(sys.argv[2]).read_text(encoding="utf-8")
    named = present().named()
    fill(tree, "README.md", {"demo": excerpt(printed, README, lines_after=False, evidence=False)}, named)
    fill(tree, "docs/commands.md", {"demo": excerpt(printed, COMMANDS, lines_after=True, evidence=True)}, named)


if __name__ == "__main__":
    main()

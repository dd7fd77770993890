"""How often the server says rightly what became of a suggestion: the tables of docs/outcomes.md.

    python benchmarks/outcomes.py [--sessions N] [--seed N] [--client CLIENT …]

A simulated editor (outcomes_editor.py) with the embedded model behind a real server plays sessions of one place each. It notes what was on
its screen and what its user did with it (outcomes_actions.py, drawn evenly), and the log of events is then compared with these notes.
There are three clients: "all signals" reports what Assay's own plugins report; "command" runs the command of what was accepted whole, as
any client with inline completions does; "nothing" reports nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "server"))
sys.path.insert(0, str(ROOT / "benchmarks"))

from client import client_of  # noqa: E402
from machine import described  # noqa: E402
from outcomes_actions import ACTIONS  # noqa: E402
from outcomes_editor import STYLES, Editor, Style  # noqa: E402

from assay.calibration.log.event_log import EventLog  # noqa: E402
from assay.calibration.log.events import RetentionChecked, ShowingEnded, ShowingSeen  # noqa: E402
from assay.calibration.log.retention import MIN_KEPT_SHARE, SEARCH_FACTOR, retained_share, text_to_search, tokens_of  # noqa: E402
from assay.calibration.metrics.bins import wilson  # noqa: E402
from assay.inference.opening import EMBEDDED  # noqa: E402

# Code that the model was not trained on is not needed: what it suggests has to be plausible, not right.
SOURCES = (
    "textwrap.py",
    "shlex.py",
    "calendar.py",
    "csv.py",
    "bisect.py",
    "fnmatch.py",
    "statistics.py",
    "string.py",
    "sched.py",
    "queue.py",
)


def places(rng: random.Random) -> tuple[str, int, Literal["line", "block"]]:
    """A file with a line cut off, or with all behind a header gone, where that is, and what is to be asked for."""
    folder = Path(sysconfig.get_path("stdlib"))
    lines = (folder / rng.choice(SOURCES)).read_text(encoding="utf-8").split("\n")
    while True:
        number = rng.randrange(10, len(lines) - 10)
        line = lines[number]
        if len(line.strip()) < 12 or line.lstrip().startswith(("#", '"', "'")) or not line.isascii():
            continue
        block = line.endswith(":")
        if block:
            indent = len(line) - len(line.lstrip())
            end = next(
                (n for n in range(number + 1, len(lines)) if lines[n].strip() and not lines[n].startswith(" " * (indent + 1))), len(lines)
            )
            before, behind = [*lines[:number], line], lines[end:]
        else:
            if rng.random() < 0.7:  # there are more lines than headers
                continue
            cut = rng.randrange(len(line) - len(line.lstrip()) + 3, len(line) - 4)
            before, behind = [*lines[:number], line[:cut]], lines[number + 1 :]
        text = "\n".join(before[-25:])
        return text + "\n" + "\n".join(behind[:10]), len(text), "block" if block else "line"


async def play(style: Style, sessions: int, seed: int, log: Path) -> Editor:
    rng = random.Random(seed)
    async with client_of(Path(EMBEDDED)) as client:
        await client.initialize(options={"memory": "project", "log.path": str(log), "showUncalibrated": True, "showAbove": 0.0})
        await client.ready()
        editor, played = Editor(client, style, rng), 0
        while played < sessions:
            text, cursor, kind = places(rng)
            client.notify("workspace/didChangeConfiguration", {"settings": {"kind": kind}})
            editor.open(text, cursor)
            await editor.ask()
            if editor.screen is None:
                continue
            editor.lines[editor.screen.rest.strip().count("\n") > 0] += 1
            await editor.look()
            await ACTIONS[played % len(ACTIONS)](editor)
            played += 1
            await asyncio.sleep(0.05)
            # the next file takes the cursor, and what is still on the screen goes
            editor.over("ignored")
        editor.truth |= {} if editor.screen is None else {editor.screen.id: "superseded"}
        await client.leave()
    return editor


def found_in(log: Path) -> tuple[dict[str, str], dict[str, float], set[str]]:
    """By showing: how it ended, the latest share at a save, and those that were shown."""
    endings: dict[str, str] = {}
    shares: dict[str, float] = {}
    shown: set[str] = set()
    undone: set[str] = set()
    with EventLog(log) as events:
        for row in events.rows():
            match row.event:
                case ShowingEnded() if row.showing is not None:
                    assert row.showing not in endings, "a showing ends once"
                    endings[row.showing] = row.event.ending.value
                case RetentionChecked(after_s=None, share=float(share), why=why) if row.showing is not None:
                    shares[row.showing] = share
                    if why == "undone":
                        undone.add(row.showing)
                case ShowingSeen() if row.showing is not None:
                    shown.add(row.showing)
                case _:
                    pass
    return {name: ending + ", undone" * (name in undone) for name, ending in endings.items()}, shares, shown


def rate(hits: int, n: int) -> str:
    low, high = wilson(hits, n) if n else (0.0, 1.0)
    return f"{hits} of {n}" + (f", {hits / n:.1%} ({low:.1%} to {high:.1%})" if n else "")


def report(style: Style, editor: Editor, log: Path) -> None:
    endings, shares, shown = found_in(log)
    pairs = Counter((truth, endings.get(name, "none")) for name, truth in editor.truth.items())
    columns = sorted({found for _, found in pairs})
    print(f"\n### {style}\n\nRows: what the user did. Columns: what the log says.\n")
    print(f"| | {' | '.join(columns)} | right |\n|:---|{'---:|' * len(columns)}:---|")
    for truth in sorted({truth for truth, _ in pairs}):
        n = sum(count for (each, _), count in pairs.items() if each == truth)
        cells = " | ".join(str(pairs[truth, column] or "") for column in columns)
        print(f"| {truth} | {cells} | {rate(pairs[truth, truth], n)} |")
    right = sum(count for (truth, found), count in pairs.items() if truth == found)
    print(f"\nAll: {rate(right, sum(pairs.values()))}. Of {editor.lines.total()} first suggestions {editor.lines[True]} had several lines.")
    unseen = endings.keys() - editor.truth.keys()
    print(f"Showings in the log that never came to the screen: {len(unseen)} of {len(endings)}, said to be shown {len(unseen & shown)}.")
    for kept in (True, False):
        names = [name for name, truth in editor.kept.items() if truth is kept and name in shares]
        asked = sum(truth is kept for truth in editor.kept.values())
        hits = sum((shares[name] >= MIN_KEPT_SHARE) is kept for name in names)
        print(f"{'Kept' if kept else 'Not kept'}, and so it is said at the save: {rate(hits, len(names))}; {asked - len(names)} not said.")


def by_chance(rng: random.Random, lines: int = 20_000) -> None:
    """How often a dismissed line would count as kept because of what stands at another place of the same file."""
    files = [
        path.read_text(encoding="utf-8", errors="replace").split("\n") for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    ]
    long = [file for file in files if len(file) >= 20]
    pairs: list[tuple[str, str]] = []
    while len(pairs) < lines:
        file = rng.choice(long)
        here, there = rng.randrange(len(file) - 8), rng.randrange(len(file) - 8)
        line, other = file[here].strip(), "\n".join(file[there : there + 6]).strip()
        if abs(here - there) >= 8 and len(tokens_of(line)) >= 3 and not line.startswith("#") and other and file[there].strip() != line:
            pairs.append((line, other))
    print("\n### By chance\n\n| tokens looked at, for each of the line | kept |\n|---:|:---|")
    for room in (1.0, SEARCH_FACTOR, 2.0, 3.0):
        hits = sum(retained_share(line, text_to_search(line, "", other, room)) >= MIN_KEPT_SHARE for line, other in pairs)
        print(f"| {room:g} | {rate(hits, lines)} |")


async def main(sessions: int, seed: int, styles: Sequence[Style]) -> None:
    print(f"{described('llama-cpp-python', 'pygls')}\n{sessions} sessions with each client, seed {seed}.")
    with tempfile.TemporaryDirectory() as folder:
        for style in styles:
            log = Path(folder) / f"{STYLES.index(style)}.sqlite3"
            editor = await play(style, sessions, seed, log)
            report(style, editor, log)
            sys.stdout.flush()
    by_chance(random.Random(seed))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=380, help="with each client (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    parser.add_argument("--client", nargs="+", choices=STYLES, default=STYLES, help="(default: all)")
    given = parser.parse_args()
    asyncio.run(main(given.sessions, given.seed, given.client))

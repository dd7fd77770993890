"""How long the parse guard takes for a suggestion, beside reading the whole file again with tree-sitter, also with the tree that it knows.

    python benchmarks/parse_guard.py FILE [FILE …] [--keys N] [--seed N]

At random lines of files that are repeated up to 5,000 lines, each line is typed key by key; at each key the rest of the line is judged. The
first key at a line reads what is around it; the others know that.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

from assay.analysis.lines.grammars import parser_of
from assay.suggestion.cursor import Cursor
from assay.suggestion.languages import language_of
from assay.suggestion.syntax.guard import breaks

LINES = 5_000
REACH = 17_920, 7_680  # of the editor's window


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--keys", type=int, default=8)
    parser.add_argument("--places", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    drawn, took = random.Random(asked.seed), defaultdict[str, list[float]](list)
    for path in asked.files:
        measure(path, asked.places, asked.keys, drawn, took)
    print("| what | n | p50, ms | p95, ms | p99, ms |\n|:---|---:|---:|---:|---:|")
    for name, times in took.items():
        times.sort()
        print(f"| {name} | {len(times)} | " + " | ".join(f"{times[int(len(times) * at)]:.2f}" for at in (0.5, 0.95, 0.99)) + " |")


def measure(path: Path, places: int, keys: int, drawn: random.Random, took: dict[str, list[float]]) -> None:
    language = language_of(path)
    lines = list(islice(cycle(path.read_text().splitlines(keepends=True)), LINES))
    parser = parser_of(language)
    numbers = [number for number, line in enumerate(lines) if len(line.strip()) > keys]
    for number in drawn.sample(numbers, min(places, len(numbers))):
        line, before, after = lines[number].rstrip("\n"), "".join(lines[:number]), "\n" + "".join(lines[number + 1 :])
        indent = len(line) - len(line.lstrip())
        whole = (before + line[:indent] + after).encode()
        tree = parser.parse(whole)
        for key in range(keys):
            start, rest = line[: indent + key], line[indent + key :]
            cursor = Cursor((before + start)[-REACH[0] :], after[: REACH[1]], "line", language)
            for name, text in (("right", rest), ("broken", rest + ")")):
                _timed(took[f"guard, {name} text, {'first key' if key == 0 else 'other keys'}"], lambda: breaks(text, cursor))  # noqa: B023
        changed, at = (before + line + after).encode(), len((before + line[:indent]).encode())
        old, size = tree.copy(), len(line[indent:].encode())
        old.edit(at, at, at + size, (number, indent), (number, indent), (number, indent + size))
        _timed(took["tree-sitter, the whole file with its tree"], lambda: parser.parse(changed, old))  # noqa: B023
        _timed(took["tree-sitter, the whole file"], lambda: parser.parse(changed))  # noqa: B023


def _timed(times: list[float], work: Callable[[], object]) -> None:
    begun = time.perf_counter()
    work()
    times.append((time.perf_counter() - begun) * 1e3)


if __name__ == "__main__":
    main()

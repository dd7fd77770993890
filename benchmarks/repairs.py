"""How often the line before a bug is among the repairs of the line with it, by source: bugs are put into single lines of real functions.

    python benchmarks/repairs.py [--count N] [--seed N] [--model FILE] [--memory file|off] [--out FILE] FOLDER …

FOLDER: has Python files, such as an installed package that the model was not trained on. At most two bugs are put into a file; of each
kind there are as many as there can be. A repair counts where it gives the file before the bug, white space at the ends of lines aside. The
first table has them by the gain in log-probability, the second one in the order of `assay repair`, by gain and size
(suggestion/repair/order.py); a source's own candidates are in that order, too. The rules run these very kinds of bug backwards, so it is no
wonder that the line is among what they give. Intervals are 95 %, with files as independent. Prints Markdown. FILE gets a line of JSON for
each bug.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.analysis.bugs.injection import inject
from assay.analysis.bugs.registry import KINDS
from assay.analysis.morphisms.morphism import Refused
from assay.analysis.python.lines import UnreadableSource, sample_lines
from assay.calibration.metrics.intervals import rate_interval
from assay.inference.model import Model
from assay.inference.opening import open_model
from assay.suggestion.memory.memories import Memories
from assay.suggestion.repair.asking import Asking
from assay.suggestion.repair.order import Order, by_gain, by_gain_and_size
from assay.suggestion.repair.propose import propose
from assay.suggestion.repair.repairs import Repair
from assay.suggestion.repair.request import request_for
from assay.suggestion.repair.sources.registry import SOURCES

RANKS = (1, 3, 8)
# A removed guard is a line less.
ONE_LINE = tuple(kind for kind in KINDS if kind != "removed_guard")
MAX_PER_FILE = 2
MAX_BYTES = 60_000
ALL = 10_000
# Of which candidates the tables tell, by their sources.
OF: dict[str, Callable[[set[str]], bool]] = {
    **{source.name: lambda sources, name=source.name: name in sources for source in SOURCES if source.name != "instruct"},
    "the model": lambda sources: sources != {"rules"},
    "all": bool,
}


@dataclass(frozen=True, slots=True)
class Bug:
    """A file with a bug in one line (from 0), and the file before."""

    file: str
    kind: str
    line: int
    wrong: str
    right: str


def bugs(folders: list[Path], count: int, seed: int) -> Iterator[Bug]:
    files = [file for folder in folders for file in sorted(folder.rglob("*.py")) if file.stat().st_size < MAX_BYTES]
    random.Random(seed).shuffle(files)
    left = dict.fromkeys(ONE_LINE, -(-count // len(ONE_LINE)))
    for file in files:
        text, found = file.read_text(encoding="utf-8", errors="replace"), 0
        try:
            lines = sample_lines(text, str(seed))
        except UnreadableSource:
            continue
        for line in lines:
            for kind in sorted(left, key=left.__getitem__, reverse=True):
                if left[kind] and found < MAX_PER_FILE and (bug := bug_at(file, text, kind, (line.start, line.end), seed)):
                    left[kind], found = left[kind] - 1, found + 1
                    yield bug
                    break
        if not any(left.values()):
            return


def bug_at(file: Path, text: str, kind: str, line: tuple[int, int], seed: int) -> Bug | None:
    try:
        step = inject(text, f"{seed}:{line[0]}", line, kind=kind)
    except (Refused, UnreadableSource):
        return None
    return Bug(str(file), kind, text.count("\n", 0, line[0]), step.of(text), text)


def repaired(model: Model, bug: Bug, memories: Memories | None) -> dict[str, Any]:
    """All repairs at a bug, with their measures, and whether they are right. ms: of the processor's time."""
    remember = None if memories is None else lambda before, after: memories.at(before, after, scope="file")
    begun = time.process_time()
    request = request_for(Asking(model, remember=remember), bug.wrong, bug.line, bug.line + 1, language="python")
    found = propose(request, most=ALL).found
    spent = (time.process_time() - begun) * 1e3
    told = [{"measures": repair.suggestion.measures, "sources": repair.sources, "right": is_right(bug, repair)} for repair in found]
    return {"file": bug.file, "kind": bug.kind, "line": bug.line, "ms": spent, "repairs": told}


def is_right(bug: Bug, repair: Repair) -> bool:
    lines, place = bug.wrong.split("\n"), repair.suggestion.range
    lines[place.start.line : place.end.line + 1] = repair.suggestion.text.split("\n")
    return [line.rstrip() for line in lines] == [line.rstrip() for line in bug.right.split("\n")]


def table(found: list[dict[str, Any]], order: Order) -> Iterator[str]:
    yield "| candidates of | " + " | ".join(f"rank ≤ {rank}" for rank in RANKS) + " | anywhere | how many |"
    yield "|:---|" + "---:|" * (len(RANKS) + 2)
    files = np.unique([one["file"] for one in found], return_inverse=True)[1]
    for name, belongs in OF.items():
        chosen = [[repair for repair in one["repairs"] if belongs(set(repair["sources"]))] for one in found]
        ranks = [rank_of(repairs, order) for repairs in chosen]
        shares = [share([rank <= most for rank in ranks], files) for most in (*RANKS, ALL)]
        yield f"| {name} | " + " | ".join(shares) + f" | {np.mean([len(repairs) for repairs in chosen]):.1f} |"


def rank_of(repairs: list[dict[str, Any]], order: Order) -> float:
    ordered = sorted(repairs, key=lambda repair: -order(repair["measures"]))
    return next((rank for rank, repair in enumerate(ordered, 1) if repair["right"]), math.inf)


def share(hits: list[bool], files: NDArray[np.intp]) -> str:
    interval = rate_interval(np.array(hits), files)
    between = "" if interval is None else f" ({interval.low:.2f}-{interval.high:.2f})"
    return f"{np.mean(hits):.2f}{between}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model")
    parser.add_argument("--memory", choices=("file", "off"), default="file")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    records = []
    with open_model(arguments.model, **({} if arguments.model else {"threads": 1})) as model:
        memories = Memories(model) if arguments.memory == "file" else None
        for bug in bugs(arguments.folders, arguments.count, arguments.seed):
            records.append(repaired(model, bug, memories))
            if arguments.out:
                with arguments.out.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(records[-1]) + "\n")
    spent = np.median([record["ms"] for record in records])
    print(f"{len(records)} bugs in {len({record['file'] for record in records})} files, {spent:.0f} ms of the processor each (median).")
    for order in (by_gain, by_gain_and_size):
        print(f"\n{order.__name__}:\n")
        print("\n".join(table(records, order)))

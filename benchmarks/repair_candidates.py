"""How often a bug is undone by a candidate at its line, how many candidates a line of code has, and how long they take.

    python benchmarks/repair_candidates.py FOLDER --files 40 --sites 6

puts bugs of each kind at random places of random Python files of the folder and looks for the original among the candidates.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

import numpy as np

from assay.analysis.bugs.registry import KINDS, bug
from assay.analysis.morphisms.morphism import Refused, rewrite
from assay.analysis.python.lines import sample_lines
from assay.analysis.python.source_text import UnreadableSource, decoded
from assay.analysis.repairs.candidates import candidates

MOST = (8, 32, 10**6)


def undone(source: str, kind: str, sites: int, rng: random.Random) -> list[list[bool]]:
    """For each bug whether the original is among so many candidates as MOST says."""
    found = []
    places = bug(kind).sites(source)
    for site in rng.sample(places, min(sites, len(places))):
        try:
            step = rewrite(bug(kind), source, site, rng)
            wrong = step.of(source)
            found.append([source in {c.of(wrong) for c in candidates(wrong, "python", (step.start, step.start), most=m)} for m in MOST])
        except (Refused, UnreadableSource):
            continue
    return found


def counted(source: str) -> list[tuple[int, float]]:
    """For one line of each documented function: its candidates, and the processor's seconds."""
    found = []
    for line in sample_lines(source, "0"):
        start = time.process_time()
        many = len(candidates(source, "python", (line.start, line.start), most=MOST[-1]))
        found.append((many, time.process_time() - start))
    return found


def main() -> None:
    """Print a table of kinds, and a line on numbers and times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--sites", type=int, default=6)
    parser.add_argument("--max-bytes", type=int, default=14_000)
    options = parser.parse_args()
    own = (p for p in sorted(options.folder.rglob("*.py")) if "test" not in str(p) and "site-packages" not in p.parts)
    paths = [p for p in own if 3000 < p.stat().st_size < options.max_bytes]
    random.Random(1).shuffle(paths)
    by_kind: dict[str, list[list[bool]]] = {kind: [] for kind in KINDS}
    lines: list[tuple[int, float]] = []
    for path in paths[: options.files]:
        try:
            source, _ = decoded(path.read_bytes())
            lines += counted(source)
            for kind in KINDS:
                by_kind[kind] += undone(source, kind, options.sites, random.Random(path.name))
        except UnreadableSource:
            continue
    for kind, found in by_kind.items():
        print(kind, len(found), *(f"{m}: {sum(column)}" for m, column in zip(MOST, zip(*found, strict=True), strict=False)))
    for name, values in zip(("candidates", "seconds"), zip(*lines, strict=True), strict=False):
        print(name, len(values), *(round(float(np.quantile(values, q)), 4) for q in (0.5, 0.95)), round(float(max(values)), 4))


if __name__ == "__main__":
    main()

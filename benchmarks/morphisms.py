"""Every morphism at every site of benchmarks' canonical solutions, checked by execution: the table of docs/morphisms.md.

    python benchmarks/morphisms.py [--data DIR] [--jobs N] [--every N] [--most N] [--bugs]

Equivalent morphisms must keep the outcome of every test, and of every call with what it returns, prints, raises and leaves in its
arguments, calls with arguments of the wrong types included. Any that does not is printed. `--every 10` takes each tenth program, `--most 2`
two random sites for each morphism and program, `--bugs` the kinds of bug instead of the morphisms.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from program_outcomes import Program, Runner, humaneval, mbpp, told_apart  # noqa: E402

from assay.analysis.bugs.registry import KINDS, bug  # noqa: E402
from assay.analysis.morphisms.morphism import Morphism, Refused, rewrite  # noqa: E402
from assay.analysis.morphisms.registry import morphisms  # noqa: E402
from assay.analysis.python.source_text import UnreadableSource  # noqa: E402

Counts = dict[str, Counter[str]]


def chosen(bugs: bool) -> list[Morphism]:
    if bugs:
        return [bug(kind) for kind in KINDS]
    return [*morphisms("python", equivalent=True), *morphisms("python", equivalent=False)]


def checked(programs: Sequence[Program], most: int | None, bugs: bool) -> tuple[Counts, list[str]]:
    """Counts by morphism, and counterexamples, of some programs."""
    counts: Counts = {one.name: Counter() for one in chosen(bugs)}
    wrong: list[str] = []
    with Runner() as runner:
        for program in programs:
            before = runner.outcomes(program)
            if before is None or told_apart(before, runner.outcomes(program) or {}):
                counts["unstable"] = counts.get("unstable", Counter()) + Counter({"programs": 1})
                continue
            for one in chosen(bugs):
                check_morphism(runner, program, before, one, counts[one.name], wrong, most)
    return counts, wrong


def check_morphism(
    runner: Runner, program: Program, before: dict[str, str], one: Morphism, count: Counter[str], wrong: list[str], most: int | None
) -> None:
    try:
        sites = one.sites(program.source)
    except UnreadableSource:
        count["unreadable"] += 1
        return
    count["sites"] += len(sites)
    tried = 0
    for site in random.Random(program.id).sample(sites, len(sites)):
        try:
            after = rewrite(one, program.source, site, random.Random(f"{program.id}:{site.start}")).of(program.source)
        except Refused:
            count["refused"] += 1
            continue
        count["applied"] += 1
        tried += 1
        if most is not None and tried > most:
            continue
        count["executed"] += 1
        outcomes = runner.outcomes(program, after)
        if outcomes is None:
            count["unknown"] += 1
            continue
        apart = told_apart(before, outcomes)
        count["kept"] += not apart
        count["confirmed by tests"] += any(name.startswith(("test", "import")) for name in apart)
        count["confirmed by any call"] += bool(apart)
        if apart and one.equivalent:
            told = "\n".join(f"{name}: {before.get(name)!r} -> {outcomes.get(name)!r}" for name in apart[:3])
            wrong.append(f"{one.name} at {site} of {program.id}\n{told}\n{after}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--most", type=int)
    parser.add_argument("--bugs", action="store_true")
    arguments = parser.parse_args()
    failed = False
    for name, programs in (("HumanEval", humaneval(arguments.data)), ("MBPP", mbpp(arguments.data))):
        programs = programs[:: arguments.every]
        total: Counts = {}
        parts = [programs[i :: arguments.jobs * 8] for i in range(arguments.jobs * 8)]
        with ProcessPoolExecutor(arguments.jobs) as pool:
            for counts, wrong in pool.map(checked, parts, repeat(arguments.most), repeat(arguments.bugs)):
                for one, count in counts.items():
                    total[one] = total.get(one, Counter()) + count
                failed = failed or bool(wrong)
                for text in wrong:
                    print(text, flush=True)
        print(f"\n{name}, n = {len(programs)} programs, {total.pop('unstable', Counter())['programs']} of them unstable and left out\n")
        print(
            "| morphism | sites | refused | applied | executed | unknown | kept | some test changes | some call changes |\n|:---|"
            + "---:|" * 8
        )
        for one, c in total.items():
            columns = ("sites", "refused", "applied", "executed", "unknown", "kept", "confirmed by tests", "confirmed by any call")
            print(f"| {one} | {' | '.join(f'{c[column]:,}' for column in columns)} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

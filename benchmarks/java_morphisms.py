"""The morphisms for Java at the sites of the HumanEval-X solutions: how many apply, compile, and keep what the tests say.

    python benchmarks/java_morphisms.py humaneval_java.jsonl.gz [--most 300]

Prints a table. Needs javac and java.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from java_morphisms import EQUIVALENT, OTHER, applied
from java_runner import Runner, runner

from assay.analysis.morphisms.morphism import Morphism


def row(jvm: Runner, one: Morphism, items: list[tuple[str, str]], most: int) -> str:
    """Sites, rewrites, and of the rewrites that were run (at most so many, drawn) how many compile and how many keep the tests' result."""
    sites = sum(len(one.sites(program)) for program, _ in items)
    made = [(i, after) for i, (program, _) in enumerate(items) for _, _, after in applied(program, [one])]
    some = made if one.equivalent else random.Random(1).sample(made, min(most, len(made)))
    before = jvm.run([program + tests for program, tests in items])
    after = jvm.run([text + items[i][1] for i, text in some])
    compiled = sum(report.ending != "uncompilable" for report in after)
    same = sum(report == before[i] for (i, _), report in zip(some, after, strict=True))
    return f"| `{one.name}` | {sites} | {len(made)} | {len(some)} | {compiled} | {same} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("problems", type=Path, help="HumanEval-X for Java: humaneval_java.jsonl.gz")
    parser.add_argument("--most", type=int, default=300, help="programs run for each morphism that is not equivalent (default: 300)")
    options = parser.parse_args()
    with gzip.open(options.problems, "rt", encoding="utf-8") as lines:
        problems = [json.loads(line) for line in lines]
    items = [(p["declaration"] + p["canonical_solution"] + "\n", p["test"]) for p in problems]
    print("| morphism | sites | applied | run | compile | same result |\n|:---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder, runner(Path(folder), seconds=2) as jvm:
        for one in [*EQUIVALENT, *OTHER]:
            print(row(jvm, one, items, options.most), flush=True)


if __name__ == "__main__":
    main()

"""Programs in Java and JavaScript a second: HumanEval-X's canonical solutions in our sandbox, and as its authors run them, in turn.

    python benchmarks/sandbox_languages.py [--data FOLDER] [--programs N] [--rounds 3]

Their way is written anew: program and test in one file, `javac` and `java`, or `node`, for each, exit status 0 is a pass; nothing is
isolated. Ours: a jail and a runtime of its own for each program, compiler and judge warm, the verdict apart from the program. Solutions
that are wrong upstream are left out. One worker; ratios are taken within each round. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from machine import described  # noqa: E402
from sandbox import spread  # noqa: E402

from assay.analysis.sandbox.isolation.jail import Jail  # noqa: E402
from assay.analysis.sandbox.isolation.levels import Isolation  # noqa: E402
from assay.analysis.sandbox.judging.java import JavaSandbox  # noqa: E402
from assay.analysis.sandbox.judging.javascript import JavaScriptSandbox  # noqa: E402

Pair = tuple[str, str]
# a console.assert that fails prints, and hides that they are wrong
WRONG_UPSTREAM = {"JavaScript/112", "JavaScript/155"}


def read(file: Path, most: int | None) -> list[Pair]:
    """Programs with their tests."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][:most]
    return [(row["prompt"] + row["canonical_solution"], row["test"]) for row in rows if row["task_id"] not in WRONG_UPSTREAM]


def java_alone(program: str, test: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "Main.java").write_text(f"{program}\n{test}", encoding="utf-8")
        commands = (["javac", "Main.java"], ["java", "-ea", "-cp", ".", "Main"])
        return all(subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0 for command in commands)


def node_alone(program: str, test: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test.js").write_text(f"{program}\n{test}", encoding="utf-8")
        return subprocess.run(["node", "test.js"], cwd=folder, capture_output=True, check=False).returncode == 0


def per_second(run: Callable[[str, str], bool], pairs: list[Pair]) -> float:
    run(*pairs[0])
    began = time.perf_counter()
    passed = [run(*pair) for pair in pairs]
    took = time.perf_counter() - began
    if not all(passed):
        sys.exit(f"sandbox_languages: {passed.count(False)} canonical solutions did not pass: such figures would compare nothing")
    return len(pairs) / took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data" / "humaneval-x", help="HumanEval-X's files (%(default)s)"
    )
    parser.add_argument("--programs", type=int, help="only the first N (all)")
    parser.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    arguments = parser.parse_args()
    print(described())
    print("\n| language | way | n | programs/s, median (lowest to highest) | to its authors' |\n|---|---|---|---|---|")
    for language, file, alone, ours in (
        ("Java", "humaneval_java.jsonl.gz", java_alone, JavaSandbox),
        ("JavaScript", "humaneval_js.jsonl.gz", node_alone, JavaScriptSandbox),
    ):
        pairs = read(arguments.data / file, arguments.programs)
        with ExitStack() as stack:
            ways: dict[str, Callable[[str, str], bool]] = {"its authors'": alone}
            for level in (Isolation.BUBBLEWRAP, Isolation.LANDLOCK):
                if reason := Jail(level).defect():
                    print(f"{level}: not here: {reason}", file=sys.stderr)
                    continue
                sandbox = stack.enter_context(ours(Jail(level)))
                ways[f"ours, {level}"] = lambda program, test, sandbox=sandbox: bool(sandbox.check(program, test).label)
            speeds: dict[str, list[float]] = {way: [] for way in ways}
            for number in range(arguments.rounds):
                for way in [*ways][number % len(ways) :] + [*ways][: number % len(ways)]:
                    speeds[way].append(per_second(ways[way], pairs))
        for way, found in speeds.items():
            ratios = [own / other for own, other in zip(found, speeds["its authors'"], strict=True)]
            print(f"| {language} | {way} | {len(pairs)} | {spread(found, 1)} | {spread(ratios, 2)} |", flush=True)


if __name__ == "__main__":
    main()

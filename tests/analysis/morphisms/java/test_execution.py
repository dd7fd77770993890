"""What the morphisms for Java make of programs, compiled and run: the equivalent ones change nothing that a program prints or throws."""

from __future__ import annotations

import gzip
import json
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from operator import ne
from pathlib import Path

import pytest
from java_morphisms import EQUIVALENT, OTHER, applied
from needs import DATA, needs, needs_data

from assay.analysis.morphisms.morphism import chain

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "programs").glob("*.java"))
HUMANEVAL = "humaneval-x/humaneval_java.jsonl.gz"
MOST_MS = "3000"

pytestmark = [pytest.mark.slow, needs("" if shutil.which("javac") and shutil.which("java") else "there is no javac here")]
published = needs_data(HUMANEVAL)


def humaneval() -> list[tuple[str, str]]:
    """(solution, tests) of each problem."""
    with gzip.open(DATA / HUMANEVAL, "rt", encoding="utf-8") as lines:
        items = [json.loads(line) for line in lines]
    return [(item["declaration"] + item["canonical_solution"] + "\n", item["test"]) for item in items]


def reports_of(folder: Path, programs: Sequence[str]) -> list[str]:
    """How each program ended, and what it printed. Each is a file with a class Main and no package; all of them have to compile."""
    sources = []
    for number, program in enumerate(programs):
        sources.append(folder / f"p{number}" / "Main.java")
        sources[-1].parent.mkdir(parents=True)
        sources[-1].write_text(f"package p{number}; {program}", encoding="utf-8", newline="")
    (folder / "sources").write_text("\n".join(map(str, [HERE / "Runner.java", *sources])))
    compiler = ["javac", "-proc:none", "-nowarn", "-Xlint:none", "-encoding", "UTF-8", "-d", str(folder), f"@{folder / 'sources'}"]
    compiled = subprocess.run(compiler, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stderr
    machine = ["java", "-Xmx1g", "-Xss2m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", str(folder)]
    subprocess.run([*machine, "Runner", MOST_MS, str(len(programs))], cwd=folder, check=True)
    return [(folder / f"{number}.txt").read_text(encoding="utf-8") for number in range(len(programs))]


def check_unchanged(folder: Path, items: Sequence[tuple[str, str]], changed: Sequence[tuple[int, str, str]]) -> None:
    """items: (program, what is added to run it). changed: (number of the item, what was done, the program after it)."""
    reports = reports_of(folder, [*(program + tests for program, tests in items), *(after + items[i][1] for i, _, after in changed)])
    before, after = reports[: len(items)], reports[len(items) :]
    assert all(report.startswith("ended\n") for report in before)
    wrong = [(what, report) for (i, what, _), report in zip(changed, after, strict=True) if report != before[i]]
    assert not wrong, wrong[0]


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_site_in_programs_made_to_break_the_morphisms_keeps_all_that_they_print(path: Path, end: str, tmp_path: Path) -> None:
    source = path.read_text(encoding="utf-8").replace("\n", end)
    made = applied(source, EQUIVALENT)
    assert len(made) > 30
    check_unchanged(tmp_path, [(source, "")], [(0, f"{one} {site}", after) for one, site, after in made])


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_six_equivalent_rewrites_one_after_another_keep_all_that_a_program_prints(path: Path, tmp_path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    changed = []
    for seed in range(20):
        after = source
        for step in chain(source, EQUIVALENT, str(seed), 6):
            after = step.of(after)
        changed.append((0, f"chain {seed}", after))
    check_unchanged(tmp_path, [(source, "")], changed)


@published
def test_every_site_in_humaneval_solutions_keeps_what_the_tests_say(tmp_path: Path) -> None:
    items = [item for n, item in enumerate(humaneval()) if n % 4 == 0 or "switch" in item[0]]
    changed = [(i, f"{one} {site}", after) for i, (program, _) in enumerate(items) for one, site, after in applied(program, EQUIVALENT)]
    counts = Counter(what.split()[0] for _, what, _ in changed)
    assert set(counts) == {one.name for one in EQUIVALENT}
    assert len(changed) > 600
    check_unchanged(tmp_path, items, changed)


@published
def test_every_change_of_a_condition_and_every_else_removed_compiles_and_most_change_what_the_tests_say(tmp_path: Path) -> None:
    items, jobs = humaneval(), list[tuple[str, str]]()
    for one in OTHER:
        made = [(i, after) for i, (program, _) in enumerate(items) for _, _, after in applied(program, [one])]
        jobs += [(items[i][0] + items[i][1], after + items[i][1]) for i, after in random.Random(1).sample(made, min(150, len(made)))]
    reports = reports_of(tmp_path, [program for job in jobs for program in job])
    assert sum(map(ne, reports[::2], reports[1::2])) > 0.5 * len(jobs)

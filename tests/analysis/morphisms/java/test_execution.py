"""What the morphisms for Java make of programs, compiled and run: the equivalent ones change nothing that a program prints or throws."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import ne
from pathlib import Path

import pytest
from java_morphisms import EQUIVALENT, OTHER, applied
from java_runner import Runner, javac_is_here, runner
from needs import DATA, needs, needs_data

from assay.analysis.morphisms.morphism import chain

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.java"))
HUMANEVAL = "humaneval-x/humaneval_java.jsonl.gz"

pytestmark = needs("" if javac_is_here() else "there is no javac here")
published = needs_data(HUMANEVAL)


@pytest.fixture(scope="module")
def jvm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with runner(tmp_path_factory.mktemp("runner"), seconds=3) as started:
        yield started


def humaneval() -> list[tuple[str, str]]:
    """(solution, tests) of each problem."""
    with gzip.open(DATA / HUMANEVAL, "rt", encoding="utf-8") as lines:
        items = [json.loads(line) for line in lines]
    return [(item["declaration"] + item["canonical_solution"] + "\n", item["test"]) for item in items]


def check_unchanged(jvm: Runner, items: Sequence[tuple[str, str]], changed: Sequence[tuple[int, str, str]]) -> None:
    """items: (program, what is added to run it). changed: (number of the item, what was done, the program after it)."""
    before = jvm.run([program + tests for program, tests in items])
    assert {report.ending for report in before} == {"ended"}
    after = jvm.run([program + items[i][1] for i, _, program in changed])
    wrong = [(what, report) for (i, what, _), report in zip(changed, after, strict=True) if report != before[i]]
    assert not wrong, wrong[0]


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_site_in_programs_made_to_break_the_morphisms_keeps_all_that_they_print(path: Path, end: str, jvm: Runner) -> None:
    source = path.read_text(encoding="utf-8").replace("\n", end)
    made = applied(source, EQUIVALENT)
    assert len(made) > 30
    check_unchanged(jvm, [(source, "")], [(0, f"{one} {site}", after) for one, site, after in made])


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_six_equivalent_rewrites_one_after_another_keep_all_that_a_program_prints(path: Path, jvm: Runner) -> None:
    source = path.read_text(encoding="utf-8")
    changed = []
    for seed in range(20):
        after = source
        for step in chain(source, EQUIVALENT, str(seed), 6):
            after = step.of(after)
        changed.append((0, f"chain {seed}", after))
    check_unchanged(jvm, [(source, "")], changed)


@pytest.mark.slow
@published
def test_every_site_in_humaneval_solutions_keeps_what_the_tests_say(jvm: Runner) -> None:
    items = [item for n, item in enumerate(humaneval()) if n % 4 == 0 or "switch" in item[0]]
    changed = [(i, f"{one} {site}", after) for i, (program, _) in enumerate(items) for one, site, after in applied(program, EQUIVALENT)]
    counts = Counter(what.split()[0] for _, what, _ in changed)
    assert set(counts) == {one.name for one in EQUIVALENT}
    assert len(changed) > 600
    check_unchanged(jvm, items, changed)


@pytest.mark.slow
@published
def test_every_change_of_a_condition_and_every_else_removed_compiles_and_most_change_what_the_tests_say(jvm: Runner) -> None:
    items, jobs = humaneval(), list[tuple[str, str]]()
    for one in OTHER:
        made = [(i, after) for i, (program, _) in enumerate(items) for _, _, after in applied(program, [one])]
        jobs += [(items[i][0] + items[i][1], after + items[i][1]) for i, after in random.Random(1).sample(made, min(150, len(made)))]
    before, after = jvm.run([job[0] for job in jobs]), jvm.run([job[1] for job in jobs])
    assert not [report for report in after if report.ending == "uncompilable"]
    assert sum(map(ne, before, after)) > 0.5 * len(jobs)

from __future__ import annotations

import random
from contextlib import suppress
from itertools import product

import pytest
from analyzed_program import PROGRAM, outcomes

from assay.analysis.bugs import KINDS, bug, inject
from assay.analysis.morphisms.morphism import Morphism, Refused, Site, chain
from assay.analysis.morphisms.registry import morphism, morphisms

EVERY = [one for language in ("python", "java") for equivalent in (True, False) for one in morphisms(language, equivalent=equivalent)]
EVERY += map(bug, KINDS)


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.name)
def test_the_example_of_a_morphism_is_what_it_does_and_at_a_site_of_another_source_it_refuses(one: Morphism) -> None:
    before, after = one.rule.EXAMPLE
    made = set[str]()
    for site, seed in product(one.sites(before), range(100)):
        with suppress(Refused):
            made.add(one.apply(before, site, random.Random(seed)))
    assert after in made
    with pytest.raises(Refused):
        one.apply(before, Site(0, 1, "x"), random.Random(0))


def test_a_chain_takes_another_morphism_before_one_that_it_had_keeps_all_outcomes_and_ends_where_none_applies() -> None:
    among = morphisms("python", equivalent=True)
    steps, after = chain(PROGRAM, among, "seed", 7), PROGRAM
    for step in steps:
        after = step.of(after)
    assert outcomes(after) == outcomes(PROGRAM)
    assert len({step.morphism for step in steps}) >= 6
    assert steps == chain(PROGRAM, among, "seed", 7) != chain(PROGRAM, among, "another", 7)
    assert chain("x = 1\n", among, "seed", 3) == []


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_a_bug_in_a_line_makes_one_other_line_of_it(kind: str | None) -> None:
    lines, start, fitting = PROGRAM.splitlines(keepends=True), 0, 0
    for at, line in enumerate(lines):
        end = start + len(line.rstrip("\n"))
        with suppress(Refused):
            step = inject(PROGRAM, "seed", (start, end), kind=kind)
            assert step == inject(PROGRAM, "seed", (start, end), kind=kind)
            assert not step.equivalent
            assert kind in (None, step.morphism)
            wrong = step.of(PROGRAM).splitlines(keepends=True)
            assert [number for number, pair in enumerate(zip(lines, wrong, strict=True)) if pair[0] != pair[1]] == [at]
            fitting += 1
        start += len(line)
    assert fitting >= (5 if kind is None else 0)


def test_what_there_is_not_is_named_with_what_there_is() -> None:
    with pytest.raises(ValueError, match="no morphisms for 'cobol'; there are some for python, java"):
        morphism("rename_variable", "cobol")
    with pytest.raises(ValueError, match=r"no morphism 'rename'.*; there are rename_variable"):
        morphism("rename", "python")
    with pytest.raises(ValueError, match="no bug 'typo'; there are swapped_arguments"):
        bug("typo")

from __future__ import annotations

import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from python_sources import sources
from scipy.stats import chisquare
from standard_library import compiles

from assay.analysis.python.regions import Region, candidates, context, deleted, drawn, weights
from assay.analysis.python.statements import parse_statements

SOURCE = '''
def total(prices, tax):
    """What is to be paid, which is long enough to be a region."""
    amount = sum(prices, start=0)  # before tax
    if tax > 0:
        amount = amount + amount * tax
        print("the tax was", tax)
    # said at the end
    return round(amount, ndigits=2)


class Shop:
    rate = "a statement of the class, not of a function"

    def close(self):
        if not self.open: return "it was closed before, nothing to do"
        def lock(door):
            door.turn(self.key, how_often=2)
        for door in self.doors: lock(door)
'''


def code(source: str, region: Region) -> str:
    return source[region.start : region.end]


def sample(source: str, seed: str, count: int) -> list[Region]:
    regions = candidates(source)
    return [regions[i] for i in drawn(weights(source, regions), seed, count)]


def test_candidates_are_runs_of_sibling_statements_of_functions_and_of_blocks_inside_them() -> None:
    assert [(r.function, r.statement, r.first_line, r.last_line) for r in candidates(SOURCE)] == [
        ("total", "assign", 4, 4),
        ("total", "assign", 4, 7),
        ("total", "assign", 4, 9),
        ("total", "if", 5, 7),
        ("total", "if", 5, 9),
        ("total", "assign", 6, 7),
        ("Shop.close", "if", 16, 16),
        ("Shop.close", "if", 16, 18),
        ("Shop.close", "if", 16, 19),
        ("Shop.close", "function", 17, 18),
        ("Shop.close", "function", 17, 19),
        ("Shop.close", "for", 19, 19),
        ("Shop.close.lock", "expression", 18, 18),
    ]


def test_a_region_is_whole_lines_with_their_comment_but_without_indentation_and_line_end() -> None:
    (first, *_) = candidates(SOURCE)
    assert code(SOURCE, first) == "amount = sum(prices, start=0)  # before tax"
    source = SOURCE.replace("\n", "\r\n").replace("tax\r\n", "tax \t\r\n")
    (first, *_) = candidates(source)
    assert code(source, first) == "amount = sum(prices, start=0)  # before tax"


def test_the_least_and_the_most_characters_are_both_allowed() -> None:
    lengths = (31, 32, 384, 385)
    source = "".join(f"def f{n}():\n    a = '{'x' * (n - 6)}'\n" for n in lengths)
    assert [r.end - r.start for r in candidates(source)] == [32, 384]


def test_eligible_lines_must_be_on_every_statement_that_makes_code() -> None:
    source = "def f(a):\n    global seen, and_more_names\n    seen = call(\n        a, 'some text')\n"
    source += "    if seen:\n        a = 'this is never executed by a test'\n"
    everything = candidates(source)
    assert candidates(source, eligible_lines=set()) == []
    covered = candidates(source, eligible_lines={4, 5})
    assert [(r.first_line, r.last_line) for r in covered] == [(2, 4), (2, 6), (3, 4), (3, 6), (5, 6)]
    assert {r.first_line for r in everything} - {r.first_line for r in covered} == {6}
    assert [(r.first_line, r.last_line) for r in candidates(source, eligible_lines={5, 6})] == [(5, 6), (6, 6)]


def brute_force_weights(source: str, regions: list[Region]) -> list[float]:
    containing = Counter(c for r in regions for c in range(r.start, r.end))
    return [sum(1 / containing[c] for c in range(r.start, r.end) if not source[c].isspace()) for r in regions]


@settings(max_examples=15, deadline=None)
@given(sources())
def test_weights_are_characters_shared_among_the_candidates_that_contain_them(source: str) -> None:
    regions = candidates(source, min_characters=8)
    found = weights(source, regions)
    assert found == pytest.approx(brute_force_weights(source, regions))
    inside = {c for r in regions for c in range(r.start, r.end) if not source[c].isspace()}
    assert sum(found) == pytest.approx(len(inside))


def test_the_first_region_drawn_has_the_probability_of_its_weight() -> None:
    regions = candidates(SOURCE)
    n = 3000
    counts = Counter(sample(SOURCE, str(seed), 1)[0] for seed in range(n))
    weight = weights(SOURCE, regions)
    expected = [n * w / sum(weight) for w in weight]
    assert chisquare([counts[r] for r in regions], expected).pvalue > 0.001
    uniform = [n / len(regions)] * len(regions)
    assert chisquare([counts[r] for r in regions], uniform).pvalue < 1e-9


def test_a_sample_is_the_same_for_the_same_seed_has_no_region_twice_and_begins_a_larger_one() -> None:
    many = sample(SOURCE, "a", 100)
    assert sorted(many, key=lambda r: (r.start, r.end)) == sorted(candidates(SOURCE), key=lambda r: (r.start, r.end))
    assert sample(SOURCE, "a", 4) == many[:4]
    assert sample(SOURCE, "b", 100) != many
    assert sample("x = 1\n", "a", 3) == []


@settings(max_examples=15, deadline=None)
@given(sources(), st.integers(0, 200))
def test_context_is_whole_lines_around_a_region_and_no_more_than_asked(source: str, characters: int) -> None:
    starts = parse_statements(source).starts
    for region in candidates(source, min_characters=8):
        before, after = context(source, region, characters)
        begin, end = region.start - len(before), region.end + len(after)
        assert source[begin:end] == before + code(source, region) + after
        assert begin in starts
        assert end in starts
        indentation, line_end = region.start - starts[region.first_line - 1], starts[region.last_line] - region.end
        assert len(before) <= max(characters, indentation)
        assert len(after) <= max(characters, line_end)
        if begin > starts[0]:
            one_more = max(start for start in starts if start < begin)
            assert region.start - one_more > characters
        if end < len(source):
            one_more = min(start for start in starts if start > end)
            assert one_more - region.end > characters


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(sources())
def test_the_file_without_a_region_compiles_and_is_else_what_it_was(source: str) -> None:
    assert compiles(source)
    starts = parse_statements(source).starts
    for region in candidates(source, min_characters=8)[::3]:
        text = deleted(source, region)
        before, after = source[: starts[region.first_line - 1]], source[starts[region.last_line] :]
        assert text.startswith(before)
        assert text.endswith(after)
        between = text[len(before) : len(text) - len(after)].split()
        assert between in ([], ["pass"], ["state:", "object"])
        assert compiles(text), (region, text)


def test_a_block_that_would_be_empty_gets_pass_with_its_indentation_and_line_end() -> None:
    source = "def f():\r\n\tif a:\r\n\t\tcall('a line of thirty-two')  # c\r\n\telse: b\r\n"
    (inner,) = (r for r in candidates(source) if r.statement == "expression")
    assert deleted(source, inner) == "def f():\r\n\tif a:\r\n\t\tpass\r\n\telse: b\r\n"
    (whole, *_) = (r for r in candidates(source) if r.statement == "if")
    assert deleted(source, whole) == "def f():\r\n\tpass\r\n"


NONLOCAL = """
def outer():
    count = a_function_of_a_long_name(1, 2, 3)
    def inner():
        nonlocal count
        count += 1
    inner()
    return count
"""


def test_a_name_that_only_the_region_binds_for_an_inner_nonlocal_stays_a_local_without_a_value() -> None:
    region = candidates(NONLOCAL)[0]
    text = deleted(NONLOCAL, region)
    assert "    count: object\n    def inner():" in text
    names: dict[str, object] = {}
    exec(text, names)
    with pytest.raises(NameError, match="free variable 'count'"):
        names["outer"]()  # type: ignore[operator]
    bound_elsewhere = NONLOCAL.replace("    inner()\n", "    inner()\n    count = 1\n")
    assert "object" not in deleted(bound_elsewhere, candidates(bound_elsewhere)[0])


def test_a_region_of_another_source_is_refused() -> None:
    region = candidates(SOURCE)[0]
    with pytest.raises(ValueError, match="no statement of total begins at offset"):
        deleted("def total():\n    pass\n", region)


@pytest.mark.slow
def test_a_body_of_500_statements_in_a_file_of_5000_lines_takes_seconds_at_most() -> None:
    body = "".join(f"    value_{i} = compute(value, {i})\n" for i in range(500))
    source = "".join(f"def f{n}(value):\n{body}" for n in range(10))
    start = time.process_time()
    regions = candidates(source)
    some = [regions[i] for i in drawn(weights(source, regions), "0", 100)]
    for region in some:
        deleted(source, region)
    assert time.process_time() - start < 5
    assert len(some) == 100
    # as many statements as fit, from every start
    assert 5000 * 9 < len(regions) < 5000 * 14

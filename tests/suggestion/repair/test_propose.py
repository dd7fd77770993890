from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace

import pytest
from tiny_gguf import TinyModel, scripted
from tiny_models import OpenTiny

from assay.analysis.grammars import parser_of
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import StopReason
from assay.inference.remote.model import RemoteModel
from assay.suggestion.positions import Position
from assay.suggestion.repair.asking import Asking
from assay.suggestion.repair.candidate import Candidate, Change
from assay.suggestion.repair.gathering import NATS_PER_SOURCE, by_gain_and_size
from assay.suggestion.repair.propose import propose
from assay.suggestion.repair.request import Failure, Request, request_for
from assay.suggestion.repair.sources import instruct
from assay.suggestion.repair.sources.registry import SOURCES, Source
from assay.suggestion.repair.verified import with_lines

from ...inference.completion_server import Speech, serving

CODE = """def clamp(value, low, high):
    if value < low:
        return low
    if value < high:
        return high
    return value
"""
WRONG = 3


def at(model: LlamaModel, text: str, first: int, end: int, language: str = "python") -> Request:
    return request_for(Asking(model), text, first, end, language=language)


def source(name: str, *lines: str, at: int = WRONG, is_drawn: bool = False) -> Source:
    def candidates(request: Request) -> Iterable[Candidate]:
        for line in lines:
            yield Candidate(Change(at, at + 1, (line,)), name, is_drawn)

    return Source(name, candidates)


@pytest.mark.slow
def test_repairs_come_by_gain_size_and_how_many_sources_gave_them(embedded: LlamaModel) -> None:
    made = propose(at(embedded, CODE, WRONG, WRONG + 1), most=100)
    assert (made.stopped_by, made.not_asked) == (None, {"instruct": instruct.why_not(at(embedded, CODE, WRONG, WRONG + 1))})
    found = made.found
    texts = [repair.suggestion.text for repair in found]
    assert "    if value > high:" in texts
    assert len(set(texts)) == len(texts)
    for repair in found:
        compile(with_lines(CODE, repair.suggestion), "repaired.py", "exec")
    measures = [repair.suggestion.measures for repair in found]
    keys = [by_gain_and_size(repair.suggestion.measures) + NATS_PER_SOURCE * len(repair.sources) for repair in found]
    assert keys == sorted(keys, reverse=True)
    assert len({len(repair.sources) for repair in found}) > 1
    assert [each["rank"] for each in measures] == list(range(1, len(found) + 1))
    for each in measures:
        assert each["logprob_gain"] == pytest.approx(each["total_logprob"] - each["old_logprob"])
        assert all(map(math.isfinite, each.values()))


def test_without_scores_what_several_sources_gave_and_what_is_small_comes_first(embedded: LlamaModel) -> None:
    sources = [
        source("one", "    if value < high and low:", "    if value > high:"),
        source("two", "    if value >= high:", "    if value > high:"),
    ]
    made = propose(at(embedded, CODE, WRONG, WRONG + 1), sources=sources, order=lambda _: -math.inf)
    assert [repair.suggestion.text.split("if ")[1] for repair in made.found] == ["value > high:", "value >= high:", "value < high and low:"]


def test_nothing_better_is_found_where_no_repair_gains_more_than_its_size_and_no_test_is_known_to_fail(embedded: LlamaModel) -> None:
    request = at(embedded, CODE, WRONG, WRONG + 1)
    unlikely = source("one", "    if 0 < value ** 7 + high or 3:")
    assert propose(request, sources=[unlikely]).nothing_better
    assert not propose(replace(request, failure=Failure("test_high")), sources=[unlikely]).nothing_better
    typo = at(embedded, CODE.replace("value < high", "value < hgih"), WRONG, WRONG + 1)
    assert not propose(typo, sources=[source("one", "    if value < high:")]).nothing_better
    assert not propose(request, sources=[]).nothing_better, "where there is no other, none is worse"


def test_sources_that_leave_the_line_as_it_is_count_against_its_repairs(embedded: LlamaModel) -> None:
    new, same = "    if value > high:", "    if value < high:"
    (repair,) = propose(at(embedded, CODE, WRONG, WRONG + 1), sources=[source("one", new), source("two", same)]).found
    assert (repair.suggestion.measures["source_agreement"], repair.suggestion.measures["stay_agreement"]) == (0.5, 0.5)


def test_a_repair_says_what_it_replaces_and_has_no_number_yet(embedded: LlamaModel) -> None:
    (repair,) = propose(at(embedded, CODE, WRONG, WRONG + 1), sources=[source("one", "    if value > high:")]).found
    assert (repair.suggestion.kind, repair.old) == ("repair", "    if value < high:")
    assert (repair.suggestion.range.start, repair.suggestion.range.end) == (Position(3, 0), Position(3, 20))
    assert (repair.suggestion.confidence.status, repair.suggestion.confidence.probability) == ("uncalibrated", None)
    json.dumps(repair.as_json(), allow_nan=False)
    # Lines end as the document's do, and columns are the client's.
    new = Source("one", lambda _: [Candidate(Change(0, 1, ("a = 1", "c = 3")), "one")])
    (repair,) = propose(at(embedded, "a = '𝒳'\r\nb = 2\r\n", 0, 1), sources=[new], encoding="utf-16").found
    assert (repair.suggestion.text, repair.suggestion.range.end) == ("a = 1\r\nc = 3", Position(0, 8))


def test_agreement_counts_sources_and_drawn_texts(embedded: LlamaModel) -> None:
    right, other = "    if value > high:", "    if value <= high:"
    sources = [
        source("drawn", right, right, other, "    if value < high:", is_drawn=True),
        source("quiet"),
        source("third", right),
    ]
    found = {repair.suggestion.text: repair for repair in propose(at(embedded, CODE, WRONG, WRONG + 1), sources=sources).found}
    assert found[right].sources == ("drawn", "third")
    assert found[right].suggestion.measures["source_agreement"] == 1.0
    assert found[right].suggestion.measures["draw_agreement"] == 0.5
    assert found[other].suggestion.measures["source_agreement"] == 0.5
    assert found[other].suggestion.measures["draw_agreement"] == 0.25
    assert found[right].suggestion.measures["edit_size"] == 2.0
    shares = [math.exp(each.suggestion.measures["agreement"]) for each in found.values()]
    assert sum(shares) == pytest.approx(1.0)
    # The surprise of a repair is that of the token that it changes.
    (suspect,) = propose(at(embedded, CODE, WRONG, WRONG + 1), sources=sources).suspects
    by_text = {token.text.strip(): token.surprise for token in suspect.tokens}
    assert found[right].suggestion.measures["surprise"] == by_text["<"]
    assert {each.suggestion.measures["line_surprise"] for each in found.values()} == {suspect.surprise}


def test_what_mends_a_file_that_does_not_parse_comes_first(embedded: LlamaModel) -> None:
    broken = CODE.replace("if value < high:", "if value > high")
    sources = [source("one", "    return value", "    if (value > high", "    if value > high:")]
    found = propose(at(embedded, broken, WRONG, WRONG + 1), sources=sources).found
    assert [repair.mends for repair in found] == [True] + [False] * (len(found) - 1)
    assert found[0].suggestion.text == "    if value > high:"


def test_time_and_cancel_end_it_with_what_is_there(embedded: LlamaModel) -> None:
    request = at(embedded, CODE, WRONG, WRONG + 1)
    over = propose(request, max_ms=0)
    assert (over.found, over.stopped_by) == ((), StopReason.TIME)
    asked = []

    def cancelled_after_the_first(_: Request) -> Iterable[Candidate]:
        asked.append(1)
        for line in ("    if value > high:", "    if value >= high:"):
            yield Candidate(Change(WRONG, WRONG + 1, (line,)), "slow")

    sources = [Source("slow", cancelled_after_the_first), source("never", "    if low:")]
    found = propose(request, sources=sources, cancel=lambda: bool(asked))
    assert [repair.suggestion.text for repair in found.found] == ["    if value > high:"]
    assert found.stopped_by is StopReason.CANCELLED


@pytest.mark.slow
def test_in_a_language_with_a_grammar_no_repair_breaks_the_file_and_what_mends_it_comes_first(embedded: LlamaModel) -> None:
    code = "function f(a) {\n  for (let k = 0; k < a.length; k++) {\n    g(a[k]);\n  }\n}\n"
    parser = parser_of("javascript")
    made = propose(at(embedded, code, 1, 2, "javascript"), most=100)
    assert {name for repair in made.found for name in repair.sources} <= {"fix_task", "line", "token"}, "the model's candidates alone"
    assert "javascript" in made.not_asked["rules"]
    for repair in made.found:
        assert not parser.parse(with_lines(code, repair.suggestion).encode()).root_node.has_error, repair.suggestion.text
    broken = code.replace("k++) {", "k++ {")
    sources = [source("one", "  for (;;) }", "  for (let k = 0; k < a.length; k++) {", "  )", at=1)]
    found = propose(at(embedded, broken, 1, 2, "javascript"), sources=sources)
    assert (found.found[0].mends, found.found[0].suggestion.text) == (True, "  for (let k = 0; k < a.length; k++) {")
    assert not found.parses


@pytest.mark.parametrize(("language", "count"), [("javascript", 1), ("python", 3)])
def test_where_indentation_says_nothing_what_differs_in_it_alone_is_one_repair(embedded: LlamaModel, language: str, count: int) -> None:
    # In Python a file that does not parse, in which indentation may be what is wrong.
    text = "  a = 1\n" if language != "python" else "  a = 1\n\nb = (\n"
    sources = [source("one", "  b = 1", "    b = 1", at=0), source("two", " b = 1", at=0)]
    found = propose(at(embedded, text, 0, 1, language), sources=sources).found
    assert len(found) == count
    assert found[0].sources == (("one", "two") if count == 1 else found[0].sources)


@pytest.mark.parametrize("written", [TinyModel(), TinyModel(fim=False, context_length=32)])
def test_no_text_is_too_odd_for_any_model(open_tiny: OpenTiny, written: TinyModel) -> None:
    model = open_tiny(written)
    for text in ("", "   ", "x" * 50_000, "def f(:\n  \x0c\n", "\ufeffx = 1\n", "a\rb\rc"):
        assert propose(at(model, text, 0, 1)).stopped_by is None


def test_several_lines_are_repaired_together_and_one_by_one(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b"\n\tb", b"\nc", prompt=b"\t"))
    request = at(model, "if x:\n\ty = 1\n\tz = 2\nw\n", 1, 3)
    found = propose(request, sources=[each for each in SOURCES if each.name == "line"], most=100)
    made = {(each.suggestion.range.start.line, each.suggestion.range.end.line, each.suggestion.text) for each in found.found}
    assert (1, 2, "\ta\n\tb") in made
    assert {(1, 1), (2, 2)} <= {(start, end) for start, end, _ in made}


@pytest.mark.parametrize("speech", [Speech(most_logprobs=5), Speech(kind="openai", most_logprobs=5, token_names=False)])
def test_of_a_server_that_tells_less_there_is_less(speech: Speech) -> None:
    sources = [*(each for each in SOURCES if each.name == "line"), source("one", "y", at=1)]
    with serving(speech) as address, RemoteModel(address, context_length=64) as model:
        found = propose(request_for(Asking(model), "a\nb\nc", 1, 2, language="python"), sources=sources)
    measures = [repair.suggestion.measures for repair in found.found if repair.suggestion.text == "y"]
    assert [("logprob_gain" in each) for each in measures] == [speech.kind == "vllm"]
    json.dumps(found.as_json(), allow_nan=False)


def test_where_nothing_could_check_a_repair_no_source_is_asked_and_it_is_said(tiny: LlamaModel) -> None:
    def candidates(request: Request) -> Iterable[Candidate]:
        raise AssertionError("a source was asked")

    with pytest.raises(ValueError, match="of a file of 2"):
        at(tiny, "a\nb", 0, 9)
    for text, language in (("- milk\n- bread\n", "markdown"), ("# milk\n# bread\n", "python")):
        found = propose(at(tiny, text, 0, 2, language), sources=[Source("one", candidates)])
        assert (found.found, found.not_asked) == ((), {})
        assert found.why_none
        assert found.as_json()["why_none"] == found.why_none

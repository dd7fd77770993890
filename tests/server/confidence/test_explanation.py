from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from synthetic_samples import MODEL, PROMPT, world

from assay.calibration.bands import BOUNDARIES, Boundaries, band_of
from assay.calibration.calibrator import Calibrator
from assay.calibration.control_characters import escaped
from assay.calibration.fitting.fit import fit
from assay.calibration.metrics.intervals import Interval
from assay.calibration.registry import Choice, Entry, Origin, Purpose, Registry, explain_choice, source_of
from assay.calibration.validation.figures import figure
from assay.calibration.validation.table import empty, rows_of
from assay.calibration.validation.words import MEANINGS
from assay.inference.completion.context import Excerpt
from assay.inference.completion.prompt import Context
from assay.inference.completion.settings import Settings
from assay.inference.model import Generation, Prompt, StopReason, Timings, Token
from assay.server.confidence.confidence_report import tasks_json
from assay.server.confidence.explanation import Explanation, Seen, code_span, explanation, fenced, hover_markdown, least_certain, seen_in
from assay.suggestion.context_report import context_json
from assay.suggestion.positions import Position, Range
from assay.suggestion.suggest import suggestion_of
from assay.suggestion.suggestion import Place, Suggestion

PURPOSE = Purpose(MODEL, PROMPT, "exact_match", "line", "python")
HERE = Range(Position(3, 1), Position(3, 1))
SPITEFUL = st.text(st.sampled_from("`~\n\r\t <>[]()!*_#|\\\x1b\u202eab"), min_size=1, max_size=20)


@pytest.fixture(scope="module")
def calibrator() -> Calibrator:
    return fit(world(900)[0], "exact_match", resamples=100).calibrator


def generation(*logprobs: float) -> Generation:
    tokens = tuple(Token(n, f"t{n}".encode(), logprob, -3.0, 0.5) for n, logprob in enumerate(logprobs or (-1.0, -0.5)))
    return Generation("x = 1", tokens, StopReason.LINE, Timings(3.0, 4.0, 10, 0))


def explained(registry: Registry, made: Generation | None = None, **changes: object) -> tuple[Suggestion, Choice, Explanation]:
    made = made or generation()
    suggestion = suggestion_of(made, Place("", "", HERE), purpose=PURPOSE, registry=registry)
    assert suggestion is not None
    choice = explain_choice(registry, PURPOSE)
    seen = (Seen("the text before the cursor", 423), Seen("a part of", 80, "src/`util`.py"))
    return suggestion, choice, explanation(suggestion, made, choice, seen)


def registry_of(calibrator: Calibrator, name: str = "mine.json") -> Registry:
    return Registry((Entry("user", Path(name), calibrator),), ())


def test_the_hover_begins_with_the_band_and_tells_every_number(calibrator: Calibrator) -> None:
    suggestion, choice, told = explained(registry_of(calibrator))
    first, *rest = hover_markdown(told).split("\n\n")
    evidence = calibrator.evidence
    assert suggestion.confidence.probability is not None
    assert first == f"**{suggestion.confidence.text}**"
    assert rest == [
        "Source: your own calibrators (`mine.json`).",
        f"Probability: {100 * suggestion.confidence.probability:.0f} %.",
        f"Calibrator: `mine.json` (user, informative), from {', '.join(f'`{name}`' for name in calibrator.features)}. "
        f"On {evidence.n} held-out samples of {evidence.groups} projects: base rate {100 * evidence.base_rate:.0f} %, "
        f"skill score {evidence.skill.value:.2f} ({evidence.skill.low:.2f} to {evidence.skill.high:.2f}), "
        f"calibration error (ECE) {evidence.ece.value:.3f}; noise alone gives {evidence.ece.noise_floor:.3f}.",
        f"Chosen because: `{choice.reason}`",
        "Least certain of 2 tokens: `t0` 37 % (best other token 5 %); `t1` 61 % (best other token 5 %).",
        "The model saw the text before the cursor (423 tokens), a part of ``src/`util`.py`` (80 tokens).",
        "Time: prompt 3 ms, generate 4 ms.",
    ]


@pytest.mark.parametrize(
    ("entry", "source"),
    [
        (("shipped", "/package/shipped/exact_match-line.json", "exact_match"), "shipped with Assay"),
        (("user", "/data/calibrators/mine.json", "exact_match"), "your own calibrators"),
        (("user", "/data/calibrators/kept-line.json", "kept"), "your own calibrators, fitted to your log"),
        (("project", "/shop/.assay/calibrators/repo.json", "exact_match"), "this project's own folder, .assay/calibrators"),
    ],
)
def test_where_a_number_comes_from_is_said_in_words(calibrator: Calibrator, entry: tuple[Origin, str, str], source: str) -> None:
    origin, path, event = entry
    assert source_of(Entry(origin, Path(path), replace(calibrator, event=event))) == source


def test_without_a_calibrator_there_is_the_reason_and_no_number() -> None:
    suggestion, choice, told = explained(Registry((), ()))
    assert told.calibrator is None
    assert told.chosen_because == choice.reason
    markdown = hover_markdown(told)
    assert markdown.startswith(f"**○ no evidence**\n\nNo number: `{suggestion.confidence.reason}`\n\n")
    assert "Calibrator" not in markdown
    assert "Probability:" not in markdown


def test_nothing_is_taken_of_a_calibrator_that_did_not_give_the_number(calibrator: Calibrator) -> None:
    suggestion, _, _ = explained(registry_of(calibrator))
    other = replace(calibrator, reason="another one")
    choice = explain_choice(registry_of(other), PURPOSE)
    for unknown in (choice, None, Choice(None, "there is no calibrator", ())):
        told = explanation(suggestion, generation(), unknown)
        assert (told.calibrator, told.chosen_because) == (None, "")


@given(st.lists(st.tuples(st.floats(-20, 0) | st.just(math.nan), st.none() | st.floats(-20, 0)), max_size=12), st.integers(0, 5))
def test_the_least_certain_tokens_are_the_lowest_the_lowest_first(numbers: list[tuple[float, float | None]], count: int) -> None:
    tokens = [Token(n, b"\xff", own, other, None) for n, (own, other) in enumerate(numbers)]
    found = least_certain(tokens, count)
    known = sorted(own for own, _ in numbers if not math.isnan(own))
    assert [one.probability for one in found] == [math.exp(own) for own in known[:count]]
    for one in found:
        own, other = numbers[one.index]
        assert one.probability == math.exp(own)
        assert one.best_other == (None if other is None else math.exp(other))
        assert one.text == "\ufffd"


@pytest.mark.parametrize(("logprob", "said"), [(-1e-9, ">99 %"), (-30.0, "<1 %"), (math.log(0.5), "50 %")])
def test_no_token_is_said_to_be_certain_or_impossible(logprob: float, said: str) -> None:
    assert f"`t0` {said}" in hover_markdown(explained(Registry((), ()), generation(logprob))[2])


@given(SPITEFUL)
def test_a_code_span_shows_its_text_and_ends_where_it_should(text: str) -> None:
    span = code_span(text)
    opening = re.match("`+", span)
    # as CommonMark reads it: up to the first run of as many backticks, less a space at each end
    inner = span[opening.end() : -opening.end()]
    assert span.endswith(opening.group())
    assert opening.group() not in re.findall("`+", inner)
    if inner[0] == inner[-1] == " " and inner.strip(" "):
        inner = inner[1:-1]
    assert not inner.startswith("`") or span[opening.end()] == " "
    assert "\n" not in span
    kept = re.sub("\r\n|\r|\n", "↵", text).replace("\t", "⇥")
    assert inner == escaped(kept)


@given(SPITEFUL, SPITEFUL)
@example("a\n```\n<b>\n````", "a")
def test_a_fence_holds_its_code_whatever_it_is(code: str, language: str) -> None:
    first, *inside, last = fenced(code, language).split("\n")
    assert re.fullmatch("`{3,}", last)
    assert first == last + re.sub("[^ab_#]", "", language)
    assert not any(re.fullmatch(rf" {{0,3}}`{{{len(last)},}}[ \t]*", line) for line in inside)
    assert "\n".join(inside) == escaped(re.sub("\r\n|\r", "\n", code))


def test_no_name_of_a_file_and_no_token_acts_in_the_hover(calibrator: Calibrator) -> None:
    evil = "[x](command:evil)`<img src=x>\n\n# big\u202e.json"
    made = replace(generation(), tokens=(Token(0, b"```\n<b>", -1.0, None, None),))
    told = explained(registry_of(calibrator, evil), made)[2]
    markdown = hover_markdown(replace(told, seen=(Seen("a part of", None, evil),)))
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", markdown)
    assert not re.search(r"[\[\]<>#`]", outside)
    assert "\u202e" not in markdown


def test_of_a_context_its_parts_are_told_and_not_their_texts() -> None:
    context = Context(Excerpt("import os\n", "x = ", ""), "a.py", (("b.py", "y = 2\n"),), ())
    assert seen_in(context_json(context, len, Prompt((), "infill"), None, Settings())) == (
        Seen("a part of", 6, "b.py"),
        Seen("the beginning of the file", 10),
        Seen("the text before the cursor", 4),
    )


def test_every_field_is_documented(calibrator: Calibrator) -> None:
    section = (Path(__file__).parents[3] / "docs" / "formats.md").read_text(encoding="utf-8").partition("## Explanation")[2]
    document = explained(registry_of(calibrator))[2].as_json()
    names = {*document, *document["calibrator"], *document["least_certain"][0], *document["seen"][0]}
    assert {name for name in names if f"`{name}`" not in section} == set()


def test_what_studies_say_of_the_calibrator_is_told_and_what_is_refuted(calibrator: Calibrator) -> None:
    plain = registry_of(calibrator)
    _, _, unsaid = explained(plain)
    assert unsaid.as_json()["calibrator"]["validation"] is None
    assert "alidated" not in hover_markdown(unsaid)
    refuted = figure("K2", Interval(0.1, 0.07, 0.14), 900, 12, "project", "<= 0.05")
    told_of = replace(empty(calibrator), figures=rows_of([refuted], "calibration", "run", "0" * 64))
    registry = Registry(tuple(replace(entry, validation=told_of) for entry in plain.entries), ())
    _, choice, told = explained(registry)
    sentence = MEANINGS["K2"].refuted
    assert f"\n\nValidated: 0 of 4 hold, 1 refuted, 3 not run. {sentence}\n\n" in hover_markdown(told)
    expected = {"summary": "validated: 0 of 4 hold, 1 refuted, 3 not run", "refuted": [sentence], "failures": "", "badges": {}}
    assert told.as_json()["calibrator"]["validation"] == expected
    (task,) = tasks_json({"line": choice})
    figures = task["calibrator"]["validation"].pop("figures")
    assert task["calibrator"]["validation"] == expected
    assert [(each["id"], each["reading"]) for each in figures if each["primary"] and each["n"]] == [("K2", "refuted")]


def test_where_a_primary_figure_is_refuted_the_hover_has_the_reason_in_place_of_the_number(calibrator: Calibrator) -> None:
    refuted = figure("F2", Interval(0.46, 0.44, 0.48), 900, 12, "project", "> 0.5")
    told_of = replace(empty(calibrator), figures=rows_of([refuted], "counterfeit", "run", "0" * 64))
    registry = Registry((Entry("user", Path("mine.json"), calibrator, told_of),), ())
    suggestion, choice, told = explained(registry)
    found = suggestion.confidence.reason
    assert found.startswith("The counterfeit study refutes F2, ")
    assert hover_markdown(told).startswith(f"**○ no evidence**\n\nSource: your own calibrators (`mine.json`).\n\nNo number: `{found}`")
    assert told.as_json()["calibrator"]["status"] == "refuted"
    (task,), (shown,) = tasks_json({"line": choice}), tasks_json({"line": choice}, show_refuted=True)
    assert (task["calibrator"]["status"], task["calibrator"]["reason"]) == ("refuted", found)
    assert shown["calibrator"]["status"] == "informative"


@pytest.mark.parametrize(("boundaries", "is_told"), [(BOUNDARIES, True), (Boundaries(0.999, 0.998), False)])
def test_how_many_wrong_suggestions_got_this_badge_is_told(calibrator: Calibrator, boundaries: Boundaries, is_told: bool) -> None:
    plain = registry_of(calibrator)
    suggestion, choice, _ = explained(plain)
    probability = suggestion.confidence.probability
    assert probability is not None
    word = band_of(probability).word
    found = [
        figure("F1", Interval(0.124, 0.1, 0.15), 900, 12, "project", "within ±0.03"),
        figure(f"F5.counterfeits_{word}", Interval(0.07, 0.04, 0.1), 90, 12, "project"),
    ]
    told_of = replace(empty(calibrator), figures=rows_of(found, "counterfeit", "run", "0" * 64))
    entry = replace(plain.entries[0], validation=told_of)
    confidence = replace(suggestion.confidence, band=band_of(probability, boundaries).word)
    told = explanation(replace(suggestion, confidence=confidence), generation(), replace(choice, entry=entry))
    markdown = hover_markdown(told)
    assert "On wrong suggestions its numbers are 12 points higher than a calibrated map's would be." in markdown
    assert ("Of wrong suggestions that still look right, 7 in 100 got this badge (" in markdown) == is_told

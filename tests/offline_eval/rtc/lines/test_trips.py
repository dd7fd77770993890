"""A line that goes around: what the model is shown, and what is kept of what it wrote."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sums_project import SOURCE

from assay.analysis.python.lines import Gap
from assay.inference.completion.settings import Settings
from assay.inference.model import Capabilities
from assay.inference.opening import ModelChoice
from assay.offline_eval.asked_line import Asking, OpenModel
from assay.offline_eval.model import model_of
from assay.offline_eval.rtc.lines.trips import MAX_CHARACTERS, UNINFORMED, Code, Draws, describe, description_of, logprob, rebuild
from assay.offline_eval.sets.lines import Place

one_line = st.text(st.characters(exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", exclude_categories=["Cs"]), max_size=60)


def place(line: str = "result = result + number") -> Place:
    start = SOURCE.index(line)
    return Place("shop", "shop/shop/sums.py", SOURCE, "total", SOURCE.count("\n", 0, start) + 1, (("line", Gap(start, start + len(line))),))


@given(one_line.filter(str.strip), one_line)
def test_the_comment_is_all_that_a_model_is_shown_besides_the_file(text: str, comment: str) -> None:
    code = Code(place(), text)
    shown = code.to_rebuild(comment, Settings())
    assert shown.truth == text
    lines = shown.text.split("\n")
    above = shown.text[: shown.gap.start].count("\n") - 1
    assert lines[above] == f"        {f'# {comment}'.rstrip()}"
    with_code = SOURCE.replace("result = result + number", text, 1)
    assert "\n".join(lines[:above] + lines[above + 1 :]) == with_code


def test_a_description_is_written_into_an_empty_comment_above_the_code() -> None:
    shown = Code(place(), "result += number").to_describe(Settings())
    assert shown.text[: shown.gap.start].endswith("    for number in numbers:\n        # ")
    assert shown.text[shown.gap.end :].startswith("\n        result += number\n    return result\n")
    assert shown.cursor.task == "line_rest"


@given(st.text())
def test_a_description_is_at_most_so_long_and_has_no_space_around_it(text: str) -> None:
    found = description_of(text)
    assert len(found) <= MAX_CHARACTERS
    assert found == found.strip()
    assert description_of(found) == found


def test_codes_have_one_name_for_one_text_at_one_place() -> None:
    assert Code(place(), "a").id == Code(place(), "a", ("told",)).id
    assert Code(place(), "a").id != Code(place(), "b").id
    assert Code(place(), "a").id.rsplit(":", 2)[0] == place().id


def test_several_rebuilds_are_drawn_and_one_is_greedy() -> None:
    assert Draws().rebuilding.temperature == 0
    assert (Draws().uninformed, Draws(backward=2).uninformed, Draws(backward=5).uninformed) == (1, 3, 5)
    assert Draws(backward=2).rebuilding.temperature > 0
    assert Draws(backward=2).question != Draws().question


@pytest.fixture(scope="module")
def opened() -> Iterator[OpenModel[Draws]]:
    model = model_of(ModelChoice(), ("line",), memory="file")
    found = Asking(model, {}, Path(), Draws(forward=2), describe).at(model.choice)
    yield found
    found.close()


def test_a_model_describes_a_line_and_rebuilds_it_the_same_way_each_time(opened: OpenModel[Draws]) -> None:
    code = Code(place(), "result = result + number")
    told = opened(code)
    assert len(told["descriptions"]) == 2
    rebuilding = replace(opened, asking=replace(opened.asking, ask=rebuild))
    described = replace(code, descriptions=("add the number", "add the number", "return it"))
    found = rebuilding(described)
    assert found["id"] == told["id"] == code.id
    assert [trip["comment"] for trip in found["trips"]] == list(described.descriptions)
    assert found["trips"][0] == found["trips"][1]
    assert found["uninformed"]["comment"] == UNINFORMED
    again = rebuilding(described)
    assert {**again, "timings": None} == {**found, "timings": None}
    for trip in (*found["trips"], found["uninformed"]):
        (one,) = trip["rebuilt"]
        assert trip["logprob"] < 0
        assert one["equal"] == (one["inserted"] == "result = result + number")


def test_the_log_probability_of_a_rebuild_is_that_of_the_same_text_as_a_code(opened: OpenModel[Draws]) -> None:
    """So that scores and rebuilds speak of the same distribution."""
    shown = Code(place(), "x").to_rebuild("add the number", Settings())
    memory = opened.memory_at(shown, place())
    (made,) = opened.written(shown, memory, 1, Draws().rebuilding)
    again = Code(place(), made.text).to_rebuild("add the number", Settings())
    assert logprob(opened, again, memory) == pytest.approx(math.fsum(token.logprob for token in made.tokens), abs=1e-3)


class WithoutReplay:
    """A server's model that can't score a given text."""

    capabilities = Capabilities(replay=False)


def test_of_a_model_that_scores_no_given_text_the_log_probability_is_unknown(opened: OpenModel[Draws]) -> None:
    unable = replace(opened, model=WithoutReplay())  # type: ignore[arg-type]
    assert logprob(unable, Code(place(), "x").to_rebuild("", Settings()), None) is None

from __future__ import annotations

import re
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.inference.completion.context import cut_step, excerpt_of, without_closers
from assay.inference.completion.prompt import prompt_at
from assay.inference.llamacpp.model import LlamaModel

LINE = st.text(alphabet=" \tabcdef()=é", max_size=40)
DOCUMENT = st.builds(lambda lines, newline: newline.join(lines), st.lists(LINE, max_size=30), st.sampled_from(["\n", "\r\n"])) | st.text(
    max_size=200
)
BUDGET = st.integers(0, 120)


def fit(count: Callable[[str], int], prefix: str, suffix: str, prefix_tokens: int, suffix_tokens: int) -> tuple[str, str]:
    found = excerpt_of(count, prefix, suffix, prefix_tokens, suffix_tokens)
    return found.before, found.suffix


def count_of(model: LlamaModel) -> Callable[[str], int]:
    return lambda text: len(model.tokenize(text))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DOCUMENT, DOCUMENT, BUDGET, BUDGET)
def test_both_parts_touch_the_cursor_and_show_all_that_fits(tiny: LlamaModel, prefix: str, suffix: str, before: int, after: int) -> None:
    shown_prefix, shown_suffix = fit(count_of(tiny), prefix, suffix, before, after)
    assert prefix.endswith(shown_prefix)
    assert suffix.startswith(shown_suffix)
    assert len(tiny.tokenize(shown_prefix)) <= before
    assert len(tiny.tokenize(shown_suffix)) <= after
    if before and len(tiny.tokenize(prefix)) <= before:
        assert shown_prefix == prefix
    if after and len(tiny.tokenize(suffix)) <= after:
        assert shown_suffix == suffix


def test_cuts_stand_between_lines_and_inside_one_that_is_over_the_budget(tiny: LlamaModel) -> None:
    text = "".join(f"name_{number} = {number}\n" for number in range(500))
    shown_prefix, shown_suffix = fit(lambda part: len(part) // 3, text + "x = ", ")\n" + text, 100, 60)
    assert re.match(r"name_\d+ = ", shown_prefix)
    assert shown_prefix.endswith("\nx = ")
    assert shown_suffix.startswith(")\nname_0")
    assert shown_suffix.endswith("\n")
    assert len(shown_prefix) // 3 > 25
    assert len(shown_suffix) // 3 > 40
    shown_prefix, shown_suffix = fit(count_of(tiny), "a\n" + "x, " * 1000, "y, " * 1000 + "\nb", 50, 40)
    assert 25 < len(tiny.tokenize(shown_prefix)) <= 50
    assert len(tiny.tokenize(shown_suffix)) == 40
    text = "x = 1\n" + "y, " * 1000
    shown = excerpt_of(count_of(tiny), text, "", 50, 0, anchored=True)
    assert 25 < len(tiny.tokenize(shown.prefix)) <= 50
    assert shown.begun == len(shown.prefix)


def test_the_cut_stays_in_place_while_text_is_typed() -> None:
    before = "".join(f"name_{number} = {number}\n" for number in range(100))
    starts = []
    for length in range(len(before) - 600, len(before)):
        shown, _ = fit(lambda part: len(part) // 3, before[:length], "", 200, 0)
        starts.append(length - len(shown))
    moves = sum(a != b for a, b in pairwise(starts))
    assert starts == sorted(starts)
    assert 1 <= moves <= 600 / cut_step(200) + 1


def test_between_two_steps_only_the_end_of_an_anchored_prompt_changes() -> None:
    text = "".join(f"name_{number} = {number}\n" for number in range(400))
    found = [excerpt_of(lambda part: len(part) // 3, text[:length], "", 320, 0, anchored=True) for length in range(1, len(text))]
    begins = [length - excerpt.begun for length, excerpt in enumerate(found, 1)]
    above = {start: excerpt.prefix[: len(excerpt.prefix) - excerpt.begun] for start, excerpt in zip(begins, found, strict=True)}
    assert begins == sorted(begins)
    assert all(start == 0 or text[start - 1] == "\n" for start in begins)
    assert all(e.prefix.startswith(above[start]) for start, e in zip(begins, found, strict=True)), "the start moves only with the middle"
    assert 1 <= len([start for start in above if start > cut_step(320)]) <= len(text) / cut_step(320)
    assert all(excerpt.begun <= cut_step(320) + 20 and len(excerpt.prefix) // 3 <= 320 for excerpt in found)
    # Lines stand before the middle, too, as soon as there are some.
    assert all(above[start] for start, excerpt in zip(begins, found, strict=True) if excerpt.prefix.count("\n") > 2)


@pytest.mark.parametrize("line", ["x = 1\n", "z"])
def test_a_document_of_a_megabyte_takes_milliseconds(tiny: LlamaModel, line: str) -> None:
    text = line * (1_000_000 // len(line))
    begun = time.thread_time()  # of the processor: other tests run beside this one
    shown_prefix, shown_suffix = fit(count_of(tiny), text, text, 560, 240)
    assert time.thread_time() - begun < 0.25
    assert shown_prefix
    assert shown_suffix


def test_what_an_editor_closed_on_the_line_is_left_out_of_a_suffix(tiny: LlamaModel) -> None:
    assert without_closers('x = f(["', '"]) \r\nnext') == "\r\nnext"
    assert without_closers("x = f(", ") + 1\nnext") == ") + 1\nnext"
    assert without_closers("f(\n    a,\n    ", ")\nnext") == ")\nnext"
    assert tiny.layout == "anchored"
    assert prompt_at(tiny, "x = f(", ")\nnext") == prompt_at(tiny, "x = f(", "\nnext")
    assert prompt_at(tiny, "x = f(", ")\nnext", kind="block") != prompt_at(tiny, "x = f(", "\nnext", kind="block")

"""The fix task, asked as the study of counterfeits asks it."""

from __future__ import annotations

from assay.inference.completion.mending import mending_prompt
from assay.inference.completion.prompt import prompt_at
from assay.inference.completion.settings import Settings
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.stopping.stop import LINE
from assay.suggestion.cursor import Cursor
from assay.suggestion.repair.asking import Asking
from assay.suggestion.repair.request import Request
from assay.suggestion.repair.sources import fix_task

BEFORE = "def clamp(value, low, high):\n    if value < low:\n        return low\n    "
AFTER = "\n        return high\n    return value\n"


def test_the_first_answer_is_the_greedy_one_and_each_draw_has_its_seed(embedded: LlamaModel) -> None:
    how = {"draws": 2, "temperature": 0.6}
    cursor = Cursor(BEFORE, AFTER)
    found = fix_task.mended_lines(embedded, cursor, "if value < high:", Settings(), seed=7, **how)
    prompt = mending_prompt(embedded, prompt_at(embedded, BEFORE, AFTER), "if value < high:")
    assert found[0] == embedded.generate(prompt, stop=LINE, max_tokens=64).text.strip()
    assert len(found) == 3
    assert fix_task.mended_lines(embedded, cursor, "if value < high:", Settings(), seed=8, **how)[1] == found[2]


def test_a_prompt_that_is_too_long_and_a_cancelled_one_give_no_lines(embedded: LlamaModel) -> None:
    cursor = Cursor(BEFORE, AFTER)
    assert fix_task.mended_lines(embedded, cursor, "x " * 5_000, Settings(), draws=1, temperature=0.6, seed=0) == [None, None]
    over = fix_task.mended_lines(embedded, cursor, "if x:", Settings(), draws=1, temperature=0.6, seed=0, cancel=lambda: True)
    assert over == [None, None]


def test_a_candidate_keeps_the_indentation(embedded: LlamaModel) -> None:
    lines = tuple(f"{BEFORE}if value < high:{AFTER}".split("\n"))
    request = Request(Asking(embedded), lines, 3, 4, asked=(3,), draws=1)
    made = [candidate.change.of(lines)[3] for candidate in fix_task.candidates(request)]
    assert made
    assert all(line.startswith("    ") and not line.startswith("     ") for line in made)


def test_a_model_that_was_not_trained_to_mend_is_not_asked(tiny: LlamaModel, embedded: LlamaModel) -> None:
    assert fix_task.why_not(Request(Asking(tiny), ("x",), 0, 1)) == "the model was not trained to mend lines"
    assert fix_task.why_not(Request(Asking(embedded), ("x",), 0, 1)) == ""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.inference.completion.context import cut_step, excerpt_of, fit_extra, head_characters
from assay.inference.llamacpp.model import LlamaModel

IMPORTS = "import os\nimport sys\n\nLIMIT = 3\n\n\n"
BODY = "".join(f"def function_{number}(value):\n    return value + {number}\n\n\n" for number in range(200))
LINE = st.sampled_from(["import os", "", "x = 1", "    return é", "class A:", "def f():", "  ", "\t# a", "y" * 30])
DOCUMENT = st.builds(lambda lines, newline: newline.join(lines), st.lists(LINE, max_size=60), st.sampled_from(["\n", "\r\n", "\r"]))
BUDGET = st.integers(0, 200)
tiny_ones = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_the_head_of_a_file_stays_in_front_of_a_prefix_that_is_cut_and_of_no_other(tiny: LlamaModel) -> None:
    def count(text: str) -> int:
        return len(tiny.tokenize(text))

    found = excerpt_of(count, IMPORTS + BODY + "function_", "", 300, 0, head_tokens=100)
    assert found.head == "import os\nimport sys\n\nLIMIT = 3\n"
    assert found.prefix.endswith("\nfunction_")
    assert found.before == f"{found.head}\n{found.prefix}"
    assert count(found.before) <= 300
    assert found.suffix == ""
    assert excerpt_of(count, IMPORTS + BODY, "", 300, 0, head_tokens=15).head == "import os\n", "over its budget it is cut between lines"
    assert excerpt_of(count, IMPORTS + BODY, "", 300, 0).head == ""
    whole = excerpt_of(count, IMPORTS + "x", "", 300, 0, head_tokens=100)
    assert (whole.head, whole.before) == ("", IMPORTS + "x")
    assert excerpt_of(count, BODY, "", 300, 0, head_tokens=100).head == "", "the file begins with a definition"


def test_a_head_that_is_still_in_sight_is_not_shown_twice() -> None:
    """A banner of few tokens for its length: what is cut off is less than the head."""
    text = ("#" * 99 + "\n") * 20 + ("value = 1" + " " * 90 + "\n") * 5

    def count(text: str) -> int:
        return text.count("\n") * 2

    assert excerpt_of(count, text, "", 150, 0, head_tokens=60).before == text[-len(excerpt_of(count, text, "", 150, 0).before) :]


@pytest.mark.parametrize("definition", ["@cache\ndef f():", "async def f():", "export default function f() {", "func main() {"])
def test_the_head_ends_where_definitions_begin(definition: str) -> None:
    found = excerpt_of(len, f"import a\n{definition}\n" + BODY, "", 200, 0, head_tokens=100)
    assert found.head == "import a\n"


@tiny_ones
@given(DOCUMENT, st.text(max_size=20), BUDGET, BUDGET)
def test_head_and_prefix_fit_and_do_not_overlap(tiny: LlamaModel, before: str, after: str, budget: int, head_tokens: int) -> None:
    found = excerpt_of(lambda text: len(tiny.tokenize(text)), before, after, budget, budget, head_tokens=head_tokens)
    assert before.startswith(found.head)
    assert before.endswith(found.prefix)
    assert len(found.head) + len(found.prefix) <= len(before)
    assert len(tiny.tokenize(found.before)) <= budget
    assert len(tiny.tokenize(found.head)) <= head_tokens
    assert found.suffix == excerpt_of(lambda text: len(tiny.tokenize(text)), "", after, budget, budget).suffix


@tiny_ones
@given(
    st.lists(LINE, min_size=1, max_size=30), st.sampled_from(["\n", "\r\n"]), st.integers(0, 40), st.integers(0, 60), st.integers(1, 200)
)
def test_a_text_cut_at_steps_is_as_whole(
    tiny: LlamaModel, lines: list[str], newline: str, budget: int, head_tokens: int, steps: int
) -> None:
    text = (newline.join(lines) + newline) * (1 + 4000 // (len(newline.join(lines)) + 1))
    left_out = min(steps * cut_step(40), len(text) - 32 * 40) // cut_step(40) * cut_step(40)
    head = text[: head_characters(head_tokens)]

    def count(text: str) -> int:
        return len(tiny.tokenize(text))

    whole = excerpt_of(count, text, "", budget, 0, head_tokens=head_tokens)
    assert excerpt_of(count, text[left_out:], "", budget, 0, head, head_tokens) == whole
    assert excerpt_of(count, text, "", budget, 0, head, head_tokens) == whole


def test_pieces_of_other_files_are_kept_in_order_until_the_budget_is_spent() -> None:
    extra = [("a.py", "one\ntwo\n"), ("b.py", "three\nfour\nfive\n"), ("c.py", "six\n")]
    assert fit_extra(len, extra, "me.py", 1000) == tuple(extra)
    assert fit_extra(len, extra, "me.py", 0) == ()
    assert fit_extra(len, extra, "me.py", 20) == ()
    assert fit_extra(len, extra, "me.py", 46) == (("a.py", "one\ntwo\n"), ("b.py", "three\nfour\n"))

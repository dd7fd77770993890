from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_gguf import FIM_MIDDLE, FIM_PREFIX, FIM_SUFFIX, TinyModel, scripted

from assay.inference.completion.completion import (
    Kind,
    Settings,
    block_indent,
    complete,
    function_indent,
    next_lines,
    prompt_at,
    task_of,
    without_overlap,
)
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import StopReason
from assay.inference.opening import EMBEDDED, open_model

from ..conftest import OpenTiny


@pytest.mark.parametrize(
    ("prefix", "suffix", "kind", "task"),
    [
        ("", "", "line", "line"),
        ("x\n    ", "  \ny", "line", "line"),
        ("x = ", "", "line", "line_rest"),
        ("x = ", " \t\r\ny", "line", "line_rest"),
        ("print(", ")\n", "line", "line_middle"),
        ("    ", "x", "line", "line_middle"),
        ("a\rb = ", "", "line", "line_rest"),
        ("a = 1\r", "", "line", "line"),
        ("print(", ")\n", "block", "block"),
        ("print(", ")\n", "function", "function"),
    ],
)
def test_the_task_is_read_off_the_cursors_line(prefix: str, suffix: str, kind: Kind, task: str) -> None:
    assert task_of(prefix, suffix, kind) == task


@pytest.mark.parametrize(
    ("prefix", "columns"),
    [
        ("", 0),
        ("x = 1", 0),
        ("def f():\n    ", 4),
        ("def f():\n    x = 1\n    y", 4),
        ("def f():\n", 1),
        ("def f():", 1),
        ("def f():  # why\n", 1),
        ("    if x:\n\n", 5),
        ("    if x:\n        ", 8),
        ("\tx", 8),
        ("def f():\n    return 1\n", 0),
    ],
)
def test_a_block_is_as_deep_as_its_line_and_deeper_than_what_opens_it(prefix: str, columns: int) -> None:
    assert block_indent(prefix) == columns


@pytest.mark.parametrize(
    ("prefix", "columns"),
    [
        ("def f():\n    ", 1),
        ("class A:\n    def f(self):\n        if x:\n            ", 5),
        ("class A:\n    async def f(\n        self,\n    ) -> int:\n        for x in y:\n            z\n            ", 5),
        ("def f():\n    x = 1\n\ny = ", 0),
        ("if x:\n    y\n    ", 4),
        ("def f(a, ", 1),
        ("    pub(crate) async fn f() {\n        ", 5),
        ("def f():\n    def g():\n        pass\n    ", 1),
        ("def f():\n    # function of x\n    if x:\n        ", 1),
        ("", 0),
    ],
)
def test_a_function_is_as_deep_as_its_body_wherever_in_it_the_cursor_stands(prefix: str, columns: int) -> None:
    assert function_indent(prefix) == columns


def test_the_next_lines_are_those_below_the_cursors_that_are_not_blank() -> None:
    assert next_lines("rest\r\n\r\n  \r\n  a \r\nb\r\nc", 2) == ("  a", "b")
    assert next_lines("rest", 2) == ()
    assert next_lines("\na", 2) == ("a",)
    assert next_lines("\n" * 100_000 + "a", 1) == (), "far below is not next"


@pytest.mark.parametrize(
    ("text", "rest", "left"),
    [
        ("x)", ")", "x"),
        ("x", ")", "x"),
        ("f()", ")", "f()"),
        ("f(x))", ")", "f(x)"),
        ("x))", "))", "x"),
        ("h(x))", "))", "h(x)"),
        ('hello")', '")', "hello"),
        ("a=1, b=2)", ", b=2)", "a=1"),
        ("x,", ", y):", "x"),
        ("value", "e + 1", "value"),
        ("foo", "foo(x)", ""),
        ("foo", "foobar", "foo"),
        ("a ", " + b", "a"),
        ("items[0]", "]", "items[0]"),
        ("", ")", ""),
        ("x", "", "x"),
    ],
)
def test_what_stands_behind_the_cursor_is_not_repeated(text: str, rest: str, left: str) -> None:
    assert without_overlap(text, rest) == left


@given(st.text("ab()[], _", max_size=12), st.text("ab()[], _", max_size=12))
def test_only_a_true_overlap_is_left_out(text: str, rest: str) -> None:
    left = without_overlap(text, rest)
    assert text.startswith(left)
    assert rest.startswith(text[len(left) :])


def test_a_fingerprint_changes_with_everything_that_decides() -> None:
    settings = [Settings(), Settings(prefix_tokens=1), Settings(suffix_tokens=1), Settings(line_tokens=1), Settings(block_tokens=1)]
    prints = {setting.fingerprint(layout, 1024) for setting in settings for layout in ("psm", "left_to_right")}
    assert len(prints) == 10
    assert all(len(one) == 16 for one in prints)
    assert Settings().fingerprint("psm", 1024) == Settings().fingerprint("psm", 4096)
    # A context that the budgets don't fit into shows the model less.
    assert len({Settings().fingerprint("psm", context) for context in (1024, 963, 10)}) == 3
    assert Settings().fingerprint("spm", 964) == "d04595af9fabae2f", "the shipped calibrators hold for this prompt"


def test_the_budget_of_a_function_decides_only_where_functions_are_asked_for() -> None:
    short = Settings(function_tokens=1)
    for kind in ("line", "block"):
        assert short.fingerprint("spm", 4096, kind) == Settings().fingerprint("spm", 4096, kind)
    assert short.fingerprint("spm", 4096, "function") != Settings().fingerprint("spm", 4096, "function")
    assert len({Settings().fingerprint("spm", 4096, kind) for kind in ("line", "block", "function")}) == 3
    assert Settings().fingerprint("spm", 1024, "function") != Settings().fingerprint("spm", 4096, "function")


def test_a_line_is_completed_to_its_end(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"1", b"2", b"\n", b"z"))
    generation = complete(model, "first = 0\nx = ?", "\nnext")
    assert (generation.text, generation.stopped_by) == ("12", StopReason.LINE)


def test_in_the_middle_of_a_line_the_rest_is_not_repeated(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b")", b"\n"))
    generation = complete(model, "print(?", ")\n")
    assert generation.text == "a"
    assert b"".join(token.text for token in generation.tokens) == b"a)\n"
    assert complete(model, "print(?", "\n").text == "a)"


def test_a_model_that_is_asked_suffix_first_writes_on_behind_the_prefix(open_tiny: OpenTiny) -> None:
    model = open_tiny(replace(scripted(b" one", b"\n", fim=True), metadata={"assay.fim.layout": "spm"}))
    generation = complete(model, "x =? ", "\ny = 2\n")
    assert model.layout == "spm"
    assert (generation.text, generation.stopped_by) == ("one", StopReason.LINE)
    typed = complete(model, "x =? x =?", "\ny = 2\n")
    assert typed.timings.reused_tokens >= generation.timings.prompt_tokens


def test_a_block_ends_with_its_indentation(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b"\n    b", b"\n  c", b"d"))
    generation = complete(model, "def f():\n    ?", "\n", kind="block")
    assert (generation.text, generation.stopped_by) == ("a\n    b", StopReason.BLOCK)


def test_a_line_that_a_budget_ends_is_not_shown(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"1", b"2", b"\n"))
    generation = complete(model, "x = ?", "\n", settings=Settings(line_tokens=2))
    assert (generation.text, generation.stopped_by) == ("", StopReason.TOKENS)
    assert b"".join(token.text for token in generation.tokens) == b"12"


def test_a_line_that_runs_into_a_loop_is_not_shown(open_tiny: OpenTiny) -> None:
    generation = complete(open_tiny(scripted(b"x", b".parent", b".parent")), "x = ?", "\n")
    assert (generation.text, generation.stopped_by) == ("", StopReason.REPETITION)
    assert len(generation.tokens) < Settings().line_tokens


def test_a_block_that_a_budget_ends_is_cut_back_with_its_tokens(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b"\n    b", b"\n    c", b"("))
    generation = complete(model, "def f():\n    ?", "\n", kind="block", settings=Settings(block_tokens=4))
    assert (generation.text, generation.stopped_by) == ("a\n    b", StopReason.TOKENS)
    assert b"".join(token.text for token in generation.tokens) == b"a\n    b"


def test_nothing_is_left_of_a_block_that_a_budget_ends_in_its_first_statement(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b"(", b"\n    b", b","))
    generation = complete(model, "def f():\n    ?", "\n", kind="block", settings=Settings(block_tokens=4))
    assert (generation.text, len(generation.tokens)) == ("", 4)


def test_a_block_that_repeats_itself_keeps_the_first_round(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b"\n    first(x)", b"\n    second(y)", b"\n    first(x)"))
    generation = complete(model, "def f():\n    ?", "\n", kind="block")
    assert (generation.text, generation.stopped_by) == ("a\n    first(x)\n    second(y)", StopReason.REPETITION)
    assert b"".join(token.text for token in generation.tokens) == b"a\n    first(x)\n    second(y)"


def test_a_block_ends_before_the_line_behind_it(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b"\n    total = 0", b"\n    c"))
    generation = complete(model, "def f():\n    ?", "\n\n    total = 0\n", kind="block")
    assert (generation.text, generation.stopped_by) == ("a", StopReason.SUFFIX)
    assert [token.text for token in generation.tokens] == [b"a"]


def test_a_function_goes_on_to_the_end_of_its_body(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b"\n    b", b"\nc"))
    place = "def f():\n    if x:\n        ?"
    assert complete(model, place, "\n", kind="block").text == "a"
    generation = complete(model, place, "\n", kind="function")
    assert (generation.text, generation.stopped_by) == ("a\n    b", StopReason.BLOCK)


@given(st.text("ab =(\n\t", max_size=20), st.text("ab )\r\n", max_size=10), st.sampled_from(" \t"), st.sampled_from(["line", "block"]))
def test_typing_the_space_before_a_word_does_not_change_the_prompt(
    tiny: LlamaModel, prefix: str, suffix: str, space: str, kind: Kind
) -> None:
    prefix = prefix.rstrip(" \t")
    assert prompt_at(tiny, prefix + space, suffix, kind=kind) == prompt_at(tiny, prefix, suffix, kind=kind)


@pytest.mark.parametrize(
    ("prefix", "written", "text"),
    [
        ("x =?", b" one", " one"),
        ("x =? ", b" one", "one"),
        ("x =? ", b"one", "one"),
        ("x =? ", b"  one", " one"),
        ("x =? ", b"\tone", "\tone"),
        ("x =?\t", b"\tone", "one"),
        ("x =? ", b" ", ""),
    ],
)
def test_the_space_that_was_typed_is_not_written_again(open_tiny: OpenTiny, prefix: str, written: bytes, text: str) -> None:
    generation = complete(open_tiny(scripted(written, b"\n")), prefix, "\n")
    assert generation.text == text
    assert generation.tokens[0].text == written


def test_the_space_that_a_block_begins_behind_counts_as_its_indentation(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b" a", b"\n    b", b"\n   c", b"d", prompt=b" "))
    generation = complete(model, "if x:\n    ", "\n", kind="block")
    assert (generation.text, generation.stopped_by) == ("a\n    b", StopReason.BLOCK)


def test_the_model_sees_the_same_of_either_kind_of_newline(tiny: LlamaModel) -> None:
    prefix, suffix = "def f():\n    x = 1\n    ", "\n\nf()\n"
    unix = complete(tiny, prefix, suffix)
    windows = complete(tiny, prefix.replace("\n", "\r\n"), suffix.replace("\n", "\r\n"))
    assert [token.id for token in unix.tokens] == [token.id for token in windows.tokens]
    assert windows.timings.reused_tokens == windows.timings.prompt_tokens - 1


@pytest.mark.parametrize("written", [TinyModel(), TinyModel(fim=False), TinyModel(context_length=64), TinyModel(context_length=8)])
def test_a_document_of_any_size_fits_every_model(open_tiny: OpenTiny, written: TinyModel) -> None:
    model = open_tiny(written)
    text = "value = compute(value, other)\n" * 400
    for kind in ("line", "block"):
        generation = complete(model, text + "value = ", text, kind=kind)
        assert generation.tokens
        assert generation.timings.prompt_tokens + len(generation.tokens) <= model.context_length


def test_a_file_that_spells_control_tokens_completes_normally(tiny: LlamaModel) -> None:
    prefix = f"PREFIX = '{FIM_PREFIX}'\nSUFFIX = '{FIM_SUFFIX}'\nx = "
    generation = complete(tiny, prefix, f"\nMIDDLE = '{FIM_MIDDLE}'\n")
    assert generation.tokens
    assert generation.stopped_by in {StopReason.LINE, StopReason.TOKENS, StopReason.END}


def test_budgets_and_cancelling_reach_the_model(tiny: LlamaModel) -> None:
    assert complete(tiny, "x = ", "", cancel=lambda: True).stopped_by is StopReason.CANCELLED
    assert complete(tiny, "y = ", "", max_ms=0).stopped_by is StopReason.TIME
    assert len(complete(tiny, "y = ", "", settings=Settings(line_tokens=1)).tokens) == 1


@pytest.mark.skipif(not EMBEDDED.is_file(), reason="the embedded model is not in this checkout")
def test_the_embedded_model_completes_a_line_of_python() -> None:
    with open_model(threads=1) as model:
        generation = complete(model, "import os\nimport sys\n\n\ndef main():\n    for name in os.listdir(path):\n        print(", ")\n")
        scores = model.score(model.fim("x = ", "\n"), model.tokenize("None"))
    assert generation.text.strip()
    assert generation.stopped_by in {StopReason.LINE, StopReason.END}
    assert all(score <= 0 for score in scores)

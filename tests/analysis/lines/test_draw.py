"""One small file in each language. The lines that may be drawn have the letters "may" in their code, and no others have."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.lines.draw import LANGUAGES, gap_of, sample_lines
from assay.analysis.python import lines as python
from assay.analysis.python.lines import UnreadableSource
from assay.suggestion.languages import language_of

EXAMPLES = {path.name: path.read_text(encoding="utf-8") for path in sorted((Path(__file__).parent / "examples").iterdir())}
TASKS = ("line", "line_rest", "line_middle")


def drawn(text: str, language: str) -> set[str]:
    """All lines that any seed draws."""
    return {text[line.start : line.end] for seed in range(100) for line in sample_lines(text, language, str(seed))}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_line_of_code_in_a_body_is_drawn_and_no_comment_import_string_or_closing_line(name: str) -> None:
    text = EXAMPLES[name]
    assert drawn(text, language_of(name)) == {line for line in text.splitlines() if "may" in line.lower()}


def test_there_is_an_example_in_each_language() -> None:
    assert {*map(language_of, EXAMPLES), "javascriptreact", "python"} == {*LANGUAGES}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_asked_for_is_a_line_its_rest_and_the_inside_of_a_bracket_pair(name: str) -> None:
    text, language = EXAMPLES[name], language_of(name)
    middles = 0
    for seed in map(str, range(40)):
        for line in sample_lines(text, language, seed):
            whole, rest, middle = (gap_of(text, language, line, task, seed) for task in TASKS)
            assert whole is not None
            assert text[whole.start : whole.end] == text[line.start : line.end].strip()
            assert rest is not None
            assert whole.start < rest.start < rest.end == whole.end
            if middle is not None:
                middles += 1
                assert text[middle.end] in ")]}"
                assert any(bracket in text[whole.start : middle.start] for bracket in "([{")
    assert middles


def test_brackets_in_strings_and_comments_are_no_pairs() -> None:
    text = 'function f(a) {\n  const b = "(not me)" + a; // (nor me)\n  const c = "(not me)" + a; // (nor me)\n  const d = 1;\n}\n'
    (line,) = sample_lines(text, "javascript", "0")
    assert gap_of(text, "javascript", line, "line_middle", "0") is None


def test_offsets_count_characters() -> None:
    text = EXAMPLES["basket.js"].replace("basket", "b🍎sket").replace("let mayWeigh = 0;", "let mayWeigh = weigh('ü🍏', 0);")
    assert drawn(text, "javascript") == {line for line in text.splitlines() if "may" in line.lower()}
    lines = [line for seed in map(str, range(60)) for line in sample_lines(text, "javascript", seed)]
    assert {text[gap.end] for line in lines if (gap := gap_of(text, "javascript", line, "line_middle", "0"))} <= {*")]}"}


def test_what_does_not_parse_is_not_drawn_from() -> None:
    prose = "Once upon a time there was a function, (and then {\n" * 20
    with pytest.raises(UnreadableSource, match="not rust that can be parsed"):
        sample_lines(prose, "rust", "0")


def test_around_what_the_parser_does_not_know_lines_are_drawn() -> None:
    text = EXAMPLES["basket.c"].replace("    double may_weigh = 0.0;", "    double may_weigh = 0.0;\n    @@ what is this @@;")
    found = drawn(text, "c")
    assert "    return may_weigh;" in found
    assert not any("@@" in line for line in found)


@pytest.mark.parametrize("language", ["plaintext", "cobol", "markdown"])
def test_an_unknown_language_has_no_places(language: str) -> None:
    assert sample_lines(EXAMPLES["basket.c"], language, "0") == []


PYTHON = '''def total(weights, start):
    """Adds them."""
    found = start
    for weight in weights:
        found += abs(weight)
    return found
'''


@given(seed=st.integers(0, 1000))
def test_python_is_drawn_as_ever(seed: int) -> None:
    lines = python.sample_lines(PYTHON, str(seed))
    assert sample_lines(PYTHON, "python", str(seed)) == lines
    for line in lines:
        assert gap_of(PYTHON, "python", line, "line", "7") == python.whole(PYTHON, line)
        assert gap_of(PYTHON, "python", line, "line_rest", "7") == python.rest(PYTHON, line, "7")
        assert gap_of(PYTHON, "python", line, "line_middle", "7") == python.middle(PYTHON, line, "7")

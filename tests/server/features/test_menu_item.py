from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from assay.calibration.confidence import Confidence
from assay.server.features.menu_item import Cursor, completion_list
from assay.suggestion.positions import Encoding, Position, Range, column_at, index_at
from assay.suggestion.suggestion import Suggestion

from ...suggestion.test_remainder import ENCODINGS

LINES = st.text(st.sampled_from("ab_1 \t.($é𝕏\x0c"), max_size=12)
TEXTS = st.text(st.sampled_from("ab_1 \t.($}\\é𝕏\n"), min_size=1, max_size=20)
SURE = Confidence("informative", "exact_match", 0.8, 0.7, 0.85, "likely", "c" * 16, "")


def suggestion(text: str, range: Range, confidence: Confidence = SURE) -> Suggestion:
    return Suggestion("0123456789ab", text, range, "line", confidence, {"length": 1.0}, {"prompt": 1.0})


def listed(made: Suggestion | None, cursor: Cursor, *, as_snippet: bool = False) -> list[types.CompletionItem]:
    found = completion_list(made, cursor, language="python", evidence="the evidence", accepted="assay.accepted", as_snippet=as_snippet)
    assert found.is_incomplete
    return list(found.items)


def item_for(before: str, text: str, *, as_snippet: bool = False, confidence: Confidence = SURE) -> types.CompletionItem:
    at = Position(3, len(before))
    (item,) = listed(suggestion(text, Range(at, at), confidence), Cursor(at, before, "utf-32"), as_snippet=as_snippet)
    return item


def put_in(line: str, item: types.CompletionItem, encoding: Encoding, text: str | None = None) -> str:
    """The line after the item's edit."""
    edit = item.text_edit
    start, end = (index_at(line, place.character, encoding) for place in (edit.range.start, edit.range.end))
    return line[:start] + (edit.new_text if text is None else text) + line[end:]


def as_a_client_expands(snippet: str, before: str) -> str:
    """Backslashes taken away, and the line's indentation before each further line that is not empty."""
    indent = re.match(r"[ \t]*", before)
    first, *rest = re.sub(r"\\(.)", r"\1", snippet).split("\n")
    return "\n".join([first, *(indent.group() + line if line else line for line in rest)])


@given(LINES, LINES, TEXTS, st.integers(0, 6), st.integers(0, 6), st.sampled_from(ENCODINGS))
def test_the_edit_makes_the_line_of_the_suggestion(before: str, after: str, text: str, back: int, ahead: int, encoding: Encoding) -> None:
    line = before + after
    start, end = max(0, len(before) - back), min(len(line), len(before) + ahead)
    at, first, last = (Position(7, column_at(line, index, encoding)) for index in (len(before), start, end))
    (item,) = listed(suggestion(text, Range(first, last)), Cursor(at, before, encoding))
    assert put_in(line, item, encoding) == line[:start] + text + line[end:]
    edited = item.text_edit.range
    assert (edited.start.line, edited.end.line) == (7, 7)
    assert edited.start.character <= at.character <= edited.end.character
    typed = line[index_at(line, edited.start.character, encoding) : len(before)]
    assert item.filter_text.startswith(typed)
    word = re.search(r"\w*\Z", before)
    assert typed.endswith(word.group())
    assert "\n" not in item.label + item.filter_text


@given(st.sampled_from(["", "  ", "\t", "    x = "]), TEXTS)
def test_a_snippet_becomes_the_text_in_a_client_that_indents_it(before: str, text: str) -> None:
    item = item_for(before, text, as_snippet=True)
    if item.insert_text_format is types.InsertTextFormat.PlainText:
        assert put_in(before, item, "utf-32") == before + text
        return
    expanded = put_in(before, item, "utf-32", as_a_client_expands(item.text_edit.new_text, before))
    assert [line.rstrip(" \t") for line in expanded.split("\n")] == [line.rstrip(" \t") for line in (before + text).split("\n")]


def test_what_a_menu_shows_of_a_suggestion() -> None:
    item = item_for("    retu", "rn x")
    assert item.label == item.filter_text == "return x"
    assert item.detail == "◆ likely 70-85 % exact match"
    assert item.label_details == types.CompletionItemLabelDetails(description="◆ likely 70-85 % exact match")
    assert item.documentation == types.MarkupContent(types.MarkupKind.Markdown, "```python\nrn x\n```\n\nthe evidence")
    assert item.text_edit == types.TextEdit(types.Range(types.Position(3, 4), types.Position(3, 8)), "return x")
    assert (item.insert_text_format, item.insert_text_mode) == (types.InsertTextFormat.PlainText, types.InsertTextMode.AsIs)
    assert (item.preselect, item.insert_text) == (False, None)
    assert item.command.command == "assay.accepted"
    assert [*item.command.arguments[0]] == ["id"]
    assert all("" < item.sort_text < other for other in ("0", "0000", "09.9999.a", "A", "_a", "zz")), "before what other servers offer"


@pytest.mark.parametrize(
    ("before", "text", "label"),
    [
        ("x =", " 1", "1"),
        ("if a", ":\n    b\n", "a: …"),
        ("", "\n\n    b", "b"),
        ("", "a  =\t1", "a = 1"),
        ("", "x\x1b[31m\u202ey", r"x\x1b[31m\u202ey"),
        ("", "y" * 61, "y" * 58 + " …"),
    ],
)
def test_the_label_is_the_first_line_that_says_something(before: str, text: str, label: str) -> None:
    assert item_for(before, text).label == label


def test_a_block_is_a_snippet_only_for_a_client_that_would_drop_its_lines() -> None:
    text = ":\n        pass\n    $x = {1}\\"
    assert item_for("    if a", text).insert_text_format is types.InsertTextFormat.PlainText
    item = item_for("    if a", text, as_snippet=True)
    assert item.insert_text_format is types.InsertTextFormat.Snippet
    assert item.insert_text_mode is types.InsertTextMode.AdjustIndentation
    assert item.text_edit.new_text == "a:\n    pass\n\\$x = {1\\}\\\\"


def test_nothing_is_listed_where_there_is_nothing_or_a_menu_could_not_hold_it() -> None:
    cursor = Cursor(Position(3, 4), "abcd", "utf-16")
    assert listed(None, cursor) == []
    for start, end in ((Position(2, 0), Position(3, 4)), (Position(3, 4), Position(4, 0)), (Position(3, 5), Position(3, 6))):
        assert listed(suggestion("x", Range(start, end)), cursor) == []

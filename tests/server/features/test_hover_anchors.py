from __future__ import annotations

from assay.calibration.confidence import uncalibrated
from assay.server.confidence.explanation import Explanation
from assay.server.documents.documents import Change, Document
from assay.server.features.hover_anchors import HoverAnchors
from assay.suggestion.positions import Position, Range

URI = "file:///a.py"
CODE = "import os\n\nprint(\n  os\n)\nend"


def told(number: int = 0) -> Explanation:
    return Explanation(f"{number:012}", "line", uncalibrated("exact_match"), None, "", 0, (), (), {})


def span(start_line: int, start: int, end_line: int, end: int) -> Range:
    return Range(Position(start_line, start), Position(end_line, end))


def document_of(text: str, uri: str = URI) -> Document:
    return Document(uri, "python", 1, text, "utf-16")


def edit(accepted: HoverAnchors, document: Document, *changes: Change) -> None:
    accepted.change(document.uri, [document.apply(change) for change in changes])


def lines_of(accepted: HoverAnchors, document: Document) -> list[int]:
    return [line for line in range(document.line_count) if accepted.at(document, line) is not None]


def test_a_hover_finds_it_where_edits_have_moved_it() -> None:
    accepted, document, other = HoverAnchors(), document_of(CODE), document_of(CODE, "file:///b.py")
    accepted.add(URI, CODE.index("print"), "print(\n  os\n)", told())
    accepted.add(other.uri, CODE.index("print"), "print(\n  os\n)", told(1))
    edit(accepted, document, Change("\n\n", span(0, 0, 0, 0)), Change("\n", span(4, 6, 4, 6)))
    assert lines_of(accepted, document) == [4, 5, 6, 7]
    assert accepted.at(other, 2) == told(1)
    edit(accepted, document, Change("", span(4, 0, 7, 1)))
    assert len(accepted) == 1


def test_a_hover_goes_when_too_little_is_left_of_what_was_accepted_and_comes_back_with_it() -> None:
    accepted, document = HoverAnchors(), document_of("x = total + count + 1\n")
    accepted.add(URI, 4, "total + count + 1", told())
    edit(accepted, document, Change("size", span(0, 12, 0, 17)))
    assert lines_of(accepted, document) == [0]
    edit(accepted, document, Change("(2", span(0, 19, 0, 20)))
    assert lines_of(accepted, document) == []
    edit(accepted, document, Change("1", span(0, 19, 0, 21)))
    assert lines_of(accepted, document) == [0]


def test_a_formatter_of_the_whole_file_leaves_a_hover_where_its_text_is_and_another_text_leaves_none() -> None:
    accepted, document = HoverAnchors(), document_of("a=1\nb=f(a,2)\nc=3\n")
    accepted.add(URI, 6, "f(a,2)", told())
    edit(accepted, document, Change("a = 1\n\nb = f(a, 2)\nc = 3\n"))
    assert lines_of(accepted, document) == [2]
    edit(accepted, document, Change("?"))
    assert len(accepted) == 0


def test_a_closed_document_is_forgotten_and_so_are_the_oldest() -> None:
    accepted, document, other = HoverAnchors(maximum=3), document_of("a\n" * 6), document_of("a", "file:///b.py")
    for line in range(5):
        accepted.add(URI, line * 2, "a", told(line))
    edit(accepted, document, Change("\n", span(0, 0, 0, 0)))
    accepted.add(other.uri, 0, "a", told(9))
    assert [accepted.at(document, line) for line in range(7)] == [None] * 4 + [told(3), told(4), None]
    accepted.forget(URI)
    assert len(accepted) == 1
    assert accepted.at(other, 0) == told(9)

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from offsets import offset_at

from assay.inference.opening import ModelChoice
from assay.server.documents.documents import Document, Documents
from assay.server.documents.notebooks import Cell, Notebooks
from assay.server.language_server import AssayServer
from assay.server.protocol.pygls_protocol import Protocol
from assay.suggestion.cursor import Window
from assay.suggestion.positions import Position

from ...suggestion.test_remainder import TEXTS
from ..client import span

BOOK = "file:///n.ipynb"
WHOLE = Window(before=1_000, after=1_000, step=1)
MARKUP, CODE = 1, 2


class Sent:
    """Where a protocol writes to: the messages that were shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def write(self, data: bytes) -> None:
        self.shown.append(json.loads(data.split(b"\r\n\r\n")[1])["params"]["message"])

    def close(self) -> None: ...


def protocol() -> tuple[Protocol, list[str]]:
    made = AssayServer(ModelChoice()).protocol
    made.initialized = True
    sent = Sent()
    made.set_writer(sent)
    return made, sent.shown


def tell(to: Protocol, method: str, params: Any) -> None:
    to.receive(json.dumps({"jsonrpc": "2.0", "method": f"notebookDocument/{method}", "params": params}).encode())


def item(name: str, text: str, language: str = "python") -> dict[str, Any]:
    return {"uri": f"cell:{name}", "languageId": language, "version": 1, "text": text}


def cell(name: str, kind: int = CODE) -> dict[str, Any]:
    return {"kind": kind, "document": f"cell:{name}", "metadata": {"a": [1]}, "executionSummary": {"executionOrder": 1}}


def opened(cells: list[dict[str, Any]], items: list[dict[str, Any]]) -> dict[str, Any]:
    book = {"uri": BOOK, "notebookType": "jupyter-notebook", "version": 1, "metadata": {}, "cells": cells}
    return {"notebookDocument": book, "cellTextDocuments": items}


def changed(**cells: Any) -> dict[str, Any]:
    return {"notebookDocument": {"uri": BOOK, "version": 2}, "change": {"cells": cells}}


def spliced(start: int, deleted: int, *cells: dict[str, Any], **structure: Any) -> dict[str, Any]:
    return changed(structure={"array": {"start": start, "deleteCount": deleted, "cells": list(cells)}, **structure})


def typed(name: str, text: str, line: int = 0, character: int = 0) -> dict[str, Any]:
    place = span(line, character, line, character)
    return changed(textContent=[{"document": {"uri": f"cell:{name}", "version": 2}, "changes": [{"range": place, "text": text}]}])


def around(of: Protocol, name: str, line: int = 0, character: int = 0) -> tuple[str, str]:
    document = of.documents.get(f"cell:{name}")
    assert document is not None
    prefix, suffix, cut = of.notebooks.around(document, Position(line, character), WHOLE)
    assert not cut
    return prefix, suffix


def a_notebook() -> tuple[Protocol, list[str]]:
    made, shown = protocol()
    cells = [cell("title", MARKUP), cell("a"), cell("shell"), cell("b"), cell("note", MARKUP), cell("c")]
    items = [item("title", "# T", "markdown"), item("a", "import os"), item("shell", "ls", "bash"), item("b", "x = 1\ny = 2")]
    tell(made, "didOpen", opened(cells, [*items, item("note", "words", "markdown"), item("c", "z")]))
    return made, shown


def test_a_code_cell_stands_between_the_code_cells_of_its_language() -> None:
    book, shown = a_notebook()
    assert around(book, "b", 1, 3) == ("import os\nx = 1\ny =", " 2\nz")
    assert around(book, "a", 0, 6) == ("import", " os\nx = 1\ny = 2\nz")
    assert around(book, "c") == ("import os\nx = 1\ny = 2\n", "z")
    assert around(book, "shell", 0, 2) == ("ls", "")
    assert around(book, "note", 0, 5) == ("words", "")
    assert not shown


@given(st.lists(TEXTS, min_size=1, max_size=5), st.data(), st.integers(0, 20), st.integers(0, 20), st.integers(1, 5), st.integers(0, 40))
def test_a_cell_is_seen_as_in_one_document(texts: list[str], data: st.DataObject, before: int, after: int, step: int, limit: int) -> None:
    documents = Documents("utf-16")
    notebooks = Notebooks(documents)
    for number, text in enumerate(texts):
        documents.open(f"cell:{number}", "python", 1, text)
    notebooks.open(BOOK, [Cell(f"cell:{number}", CODE) for number in range(len(texts))])
    number = data.draw(st.integers(0, len(texts) - 1))
    position = Position(data.draw(st.integers(0, 4)), data.draw(st.integers(0, 8)))
    document = documents.get(f"cell:{number}")
    assert document is not None
    window = Window(before, after, step)
    whole = "\n".join(texts)
    offset = len("".join(text + "\n" for text in texts[:number])) + offset_at(texts[number], position, "utf-16")
    expected = whole[window.start(offset) : offset], whole[offset : offset + after], window.start(offset) > 0
    assert notebooks.around(document, position, window) == expected
    assert notebooks.head(document, limit) == Document("u", "python", 1, whole, "utf-16").head(limit)


def test_cells_that_are_typed_in_added_moved_and_deleted_are_followed() -> None:
    book, shown = a_notebook()
    tell(book, "didChange", typed("a", "# first\n"))
    assert around(book, "b")[0] == "# first\nimport os\n"
    tell(book, "didChange", spliced(2, 0, cell("new"), didOpen=[item("new", "new")]))
    assert around(book, "b")[0] == "# first\nimport os\nnew\n"
    tell(book, "didChange", spliced(1, 2, cell("new"), cell("a")))
    assert around(book, "b")[0] == "new\n# first\nimport os\n"
    tell(book, "didChange", spliced(1, 1, didClose=[{"uri": "cell:new"}]))
    assert around(book, "b")[0] == "# first\nimport os\n"
    assert book.documents.get("cell:new") is None
    tell(book, "didChange", changed(data=[cell("a", MARKUP)]))
    assert around(book, "b")[0] == ""
    tell(book, "didChange", {"notebookDocument": {"uri": BOOK, "version": 9}, "change": {"metadata": {"x": 1}}})
    tell(book, "didSave", {"notebookDocument": {"uri": BOOK}})
    assert around(book, "b", 1, 0) == ("x = 1\n", "y = 2\nz")
    assert not shown
    tell(book, "didClose", {"notebookDocument": {"uri": BOOK}, "cellTextDocuments": [{"uri": "cell:a"}]})
    assert list(book.documents) == []
    assert book.notebooks.cells_of(BOOK) == []


def test_cells_that_come_as_plain_documents_work_as_such() -> None:
    made, shown = protocol()
    uri = "vscode-notebook-cell:/n.ipynb#W1"
    made.receive(
        json.dumps({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item("", "x") | {"uri": uri}}}).encode()
    )
    document = made.documents.get(uri)
    assert document is not None
    assert made.notebooks.around(document, Position(0, 1), WHOLE) == ("x", "", False)
    assert made.notebooks.around(document, Position(0, 1), Window(before=0, after=0, step=1)) == ("", "", True)
    assert not shown


@pytest.mark.parametrize(
    "params",
    [
        spliced(6, 1),
        spliced(0, 1, {"kind": 2}),
        changed(structure={}),
        {"notebookDocument": {"uri": BOOK, "version": 2}},
    ],
)
def test_a_change_that_can_not_be_followed_stops_the_notebook_until_it_is_opened_again(params: dict[str, Any]) -> None:
    book, shown = a_notebook()
    for _ in range(3):
        tell(book, "didChange", params)
        tell(book, "didChange", typed("a", "x"))
    (message,) = shown
    assert f"lost track of {BOOK}" in message
    assert list(book.documents) == []
    tell(book, "didOpen", opened([cell("a"), cell("b")], [item("a", "1"), item("b", "2")]))
    assert around(book, "b", 0, 1) == ("1\n2", "")
    tell(book, "didChange", params)
    assert len(shown) == 2


def test_a_cell_that_is_lost_is_left_out_and_the_others_go_on() -> None:
    book, shown = a_notebook()
    backwards = {"range": {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 1}}, "text": "x"}
    for _ in range(3):
        tell(book, "didChange", changed(textContent=[{"document": {"uri": "cell:a", "version": 2}, "changes": [backwards]}]))
    (message,) = shown
    assert "cell:a" in message
    assert around(book, "c")[0] == "x = 1\ny = 2\n"
    tell(book, "didChange", changed(textContent=[{"document": {"uri": "cell:a", "version": 3}, "changes": [{"text": "whole"}]}]))
    assert around(book, "c")[0] == "whole\nx = 1\ny = 2\n"


def test_a_change_of_a_notebook_that_is_not_open_is_told_once() -> None:
    made, shown = protocol()
    for _ in range(3):
        tell(made, "didChange", spliced(0, 0))
        tell(made, "didClose", {"notebookDocument": {"uri": BOOK}, "cellTextDocuments": []})
    (message,) = shown
    assert "not open" in message

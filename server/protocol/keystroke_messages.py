"""The messages of a keystroke, parsed directly from JSON: changes of documents, and requests for inline completions.

pygls goes through a dictionary and cattrs, which takes 10 times as long for an edit and twice as long for a file of 50,000 lines.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec

from ...suggestion.positions import UInteger
from ..documents.documents import Change
from ..documents.notebooks import Cell

Integer = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]


class _Params(msgspec.Struct, rename="camel"):
    """Field names are those of the protocol. Other fields are ignored."""


class _Identifier(_Params):
    uri: str


class _Versioned(_Params):
    uri: str
    version: Integer


class TextDocument(_Params):
    """A whole text."""

    uri: str
    language_id: str
    version: Integer
    text: str


class _Opened(_Params):
    text_document: TextDocument


class _Changed(_Params):
    text_document: _Versioned
    content_changes: list[Change]


class _Closed(_Params):
    text_document: _Identifier


class _Notebook(_Params):
    uri: str
    cells: list[Cell]


class _NotebookOpened(_Params):
    notebook_document: _Notebook
    cell_text_documents: list[TextDocument]


class _Splice(_Params):
    start: UInteger
    delete_count: UInteger
    cells: list[Cell] | None = None


class _Structure(_Params):
    array: _Splice
    did_open: list[TextDocument] | None = None
    did_close: list[_Identifier] | None = None


class _CellChanged(_Params):
    document: _Versioned
    changes: list[Change]


class Cells(_Params):
    """What changed of a notebook's cells."""

    structure: _Structure | None = None
    data: list[Cell] | None = None
    text_content: list[_CellChanged] | None = None


class _NotebookChange(_Params):
    cells: Cells | None = None


class _NotebookChanged(_Params):
    notebook_document: _Identifier
    change: _NotebookChange


class _NotebookClosed(_Params):
    notebook_document: _Identifier
    cell_text_documents: list[_Identifier]


class _Place(_Params):
    line: UInteger
    character: UInteger


class _Range(_Params):
    start: _Place
    end: _Place


class _Selected(_Params):
    range: _Range
    text: str


class _Context(_Params):
    trigger_kind: Literal[1, 2]
    selected_completion_info: _Selected | None = None


class InlineParams(_Params):
    """Where inline completions are asked for.

    context.trigger_kind: 1 invoked, 2 automatic; context.selected_completion_info: what the menu's selected item would put there.
    """

    text_document: _Identifier
    position: _Place
    context: _Context


class _Cancelled(_Params):
    id: int | str


class _Message(msgspec.Struct, tag_field="method", forbid_unknown_fields=True):
    """A whole message. A message with further fields, such as an id in a notification, is refused."""

    jsonrpc: Literal["2.0"]


class DidOpen(_Message, tag="textDocument/didOpen"):
    """The editor opened a document."""

    params: _Opened


class DidChange(_Message, tag="textDocument/didChange"):
    """The editor changed a document."""

    params: _Changed


class DidClose(_Message, tag="textDocument/didClose"):
    """The editor closed a document."""

    params: _Closed


class DidOpenNotebook(_Message, tag="notebookDocument/didOpen"):
    """The editor opened a notebook, with all its cells."""

    params: _NotebookOpened


class DidChangeNotebook(_Message, tag="notebookDocument/didChange"):
    """The editor changed the cells of a notebook, or texts in them."""

    params: _NotebookChanged


class DidCloseNotebook(_Message, tag="notebookDocument/didClose"):
    """The editor closed a notebook."""

    params: _NotebookClosed


class InlineCompletion(_Message, tag="textDocument/inlineCompletion"):
    """The editor asks for inline completions."""

    id: int | str
    params: InlineParams


class CancelRequest(_Message, tag="$/cancelRequest"):
    """The editor no longer wants an answer."""

    params: _Cancelled


Message = DidOpen | DidChange | DidClose | DidOpenNotebook | DidChangeNotebook | DidCloseNotebook | InlineCompletion | CancelRequest
METHODS = frozenset(kind.__struct_config__.tag for kind in get_args(Message))
# Those that change documents.
CHANGES = METHODS - {kind.__struct_config__.tag for kind in (InlineCompletion, CancelRequest)}
_DECODER = msgspec.json.Decoder(Message)


def read(body: bytes) -> Message | None:
    """Parse a body. None if it is another message, is malformed, or has what only Python's own decoder reads (a lone surrogate)."""
    try:
        message: Message = _DECODER.decode(body)
    except (ValueError, RecursionError):
        return None
    return message


def structure(data: dict[str, Any]) -> Message:
    """Parse a JSON object with one of METHODS. Raises ValueError, which says what is wrong with its params."""
    message: Message = msgspec.convert({key: data[key] for key in ("jsonrpc", "id", "method", "params") if key in data}, Message)
    return message

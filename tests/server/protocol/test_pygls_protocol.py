from __future__ import annotations

import json
from typing import Any

import pytest

from assay.inference.opening import ModelChoice
from assay.server.language_server import AssayServer
from assay.server.protocol import keystroke_messages as sync

URI = "file:///a.py"


def test_every_message_of_the_warm_up_can_be_read_and_changes_nothing() -> None:
    protocol = AssayServer(ModelChoice()).protocol
    protocol.warm_up()
    assert protocol.documents.get("") is None
    assert not protocol.initialized


def opened(text: str, **more: Any) -> dict[str, Any]:
    item = {"uri": URI, "languageId": "python", "version": 1, "text": text}
    return {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item, "of a later protocol": []}, **more}


@pytest.mark.parametrize("text", ["", "a\r\nb\rc\n\x00\ufeff\x0c\t", "漢字 😀 é", 'quo"te\\'])
def test_a_document_is_read_as_json_says(text: str) -> None:
    for body in (json.dumps(opened(text)), json.dumps(opened(text), ensure_ascii=False)):
        message = sync.read(body.encode())
        assert isinstance(message, sync.DidOpen)
        assert message.params.text_document.text == text
        assert sync.structure(json.loads(body)) == message


def test_what_only_pythons_decoder_reads_is_read_all_the_same() -> None:
    protocol = AssayServer(ModelChoice()).protocol
    protocol.initialized = True
    body = json.dumps(opened("x = '\ud800'", trace="field that no message has")).encode()
    assert sync.read(body) is None
    protocol.receive(body)
    document = protocol.documents.get(URI)
    assert document.text == "x = '\ud800'"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"method":"textDocument/didOpen"}',
        b'{"jsonrpc":"1.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"u"}}}',
        b'{"jsonrpc":"2.0","id":1,"method":"textDocument/didClose","params":{"textDocument":{"uri":"u"}}}',
        b'{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"\xff"}}}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_notification_of_a_document_is_left_to_be_looked_at_closely(body: bytes) -> None:
    assert sync.read(body) is None


def test_a_malformed_notification_says_where() -> None:
    for version, where in (("1", "params.textDocument.version"), (2**31, "params.textDocument.version")):
        message = opened("")
        message["params"]["textDocument"]["version"] = version
        with pytest.raises(ValueError, match=where):
            sync.structure(message)

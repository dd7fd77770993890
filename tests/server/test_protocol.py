from __future__ import annotations

from assay.inference.opening import ModelChoice
from assay.server.language_server import build_server


def test_every_message_of_the_warm_up_can_be_read_and_changes_nothing() -> None:
    protocol = build_server(ModelChoice()).protocol
    protocol.warm_up()
    assert protocol.documents.get("") is None
    assert not protocol.initialized

"""`assay/status`: what the server has and does."""

from __future__ import annotations

from typing import Any

from ..language_server import AssayServer

STATUS = "assay/status"


def status(ls: AssayServer, _: Any) -> dict[str, Any]:
    """What the server has and does: docs/formats.md."""
    return ls.status.full()

"""Requests of the model, made from the texts around a cursor."""

from __future__ import annotations

from typing import Any

from assay.inference.completion.task import Kind
from assay.server.model.request import GenerationRequest
from assay.suggestion.positions import Position, Range
from assay.suggestion.suggestion import Place

AT = Range(Position(0, 0), Position(0, 0))


def wanted(prefix: str, suffix: str = "", kind: Kind = "line", *, uri: str = "file:///a.py", **more: Any) -> GenerationRequest:
    """What is asked for between prefix and suffix. more: fields of the request."""
    return GenerationRequest(uri, Place(prefix, suffix, AT, kind), **more)

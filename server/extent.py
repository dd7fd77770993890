"""stub"""

from __future__ import annotations
from ..inference.completion import Kind


def kind_at(prefix: str, suffix: str, language: str, *, cut: bool = False) -> Kind:
    return "line"

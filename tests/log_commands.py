"""`assay logs …` in the process of the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import main


def run(*arguments: str | Path) -> int:
    return main(["logs", *map(str, arguments)])


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found

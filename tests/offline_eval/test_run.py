from __future__ import annotations

from pathlib import Path

import pytest

from assay.offline_eval.run import SCHEMA, Run


@pytest.mark.parametrize("name", ["shop", "a\x7fb", "tab\t\n\x01\x1f", 'quo"te\\', "\x80\x9f", "ünïcödé 𝕏", "\\u007f"])
def test_what_was_asked_is_read_again_whatever_a_folder_is_called(tmp_path: Path, name: str) -> None:
    asked = {"schema": SCHEMA, "model": "m", "model_name": "", "prompt": "p", "seed": 1, "folder": f"/{name}", "tasks": [name]}
    assert Run.begin(tmp_path / "run", asked).asked() == asked
    assert Run.begin(tmp_path / "run", asked).asked() == asked

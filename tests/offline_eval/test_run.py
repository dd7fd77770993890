from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from assay.offline_eval.run import SCHEMA, Run, RunError


@pytest.mark.parametrize("name", ["shop", "a\x7fb", "tab\t\n\x01\x1f", 'quo"te\\', "\x80\x9f", "ünïcödé 𝕏", "\\u007f"])
def test_what_was_asked_is_read_again_whatever_a_folder_is_called(tmp_path: Path, name: str) -> None:
    asked = {"schema": SCHEMA, "model": "m", "model_name": "", "prompt": "p", "seed": 1, "folder": f"/{name}", "tasks": [name]}
    assert Run.begin(tmp_path / "run", asked).asked() == asked
    assert Run.begin(tmp_path / "run", asked).asked() == asked


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"isolation": "none"}, "(isolation: bubblewrap -> none)"),
        ({"tasks": ["line", "block"], "seed": 5}, "(seed: 1 -> 5; tasks: line -> line, block)"),
        ({"content": "f1"}, "(the project's files, or what is installed for its tests)"),
        ({"content": "f1", "interpreter": "/b/python"}, "(interpreter: /a/python -> /b/python)"),
        ({"prompt": "q", "prompt_block": "r"}, "(how the model is asked)"),
        ({"reflective": 1}, "(reflective: none given -> 1)"),
    ],
)
def test_a_run_that_asked_something_else_is_refused_with_what_differs(tmp_path: Path, now: dict[str, Any], said: str) -> None:
    before = {"schema": SCHEMA, "model": "m", "model_name": "", "prompt": "p", "prompt_block": "p", "seed": 1}
    before |= {"isolation": "bubblewrap", "tasks": ["line"], "interpreter": "/a/python", "content": "e0"}
    Run.begin(tmp_path / "run", before)
    with pytest.raises(RunError, match=re.escape(said)):
        Run.begin(tmp_path / "run", before | now)

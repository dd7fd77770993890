"""The new study of docs/studies.md: what the page shows is one, as it stands there."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from assay import offline_eval
from assay.cli.main import main
from assay.offline_eval.command import STUDIES

from ..inference.chat_server import ChatSpeech, chatting

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

PAGE = Path(__file__).parents[2] / "docs" / "studies.md"
FUNCTIONS = {"halve": "x // 2", "negate": "-x"}


@pytest.fixture
def naming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of the study's items, with the study in its place."""
    study, command = re.findall(r"```python\n(.*?)```", PAGE.read_text().partition("## A new study")[2], re.DOTALL)
    folder = tmp_path / "naming"
    folder.mkdir()
    for name, text in {"__init__": "", "study": study, "command": command}.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(offline_eval, "__path__", [*offline_eval.__path__, str(tmp_path)])
    monkeypatch.setitem(STUDIES, "naming", "naming.study")
    for name in ("", ".study", ".command"):
        monkeypatch.delitem(sys.modules, f"assay.offline_eval.naming{name}", raising=False)
    data = tmp_path / "HumanEval.jsonl"
    data.write_text(
        "".join(
            json.dumps({"task_id": f"HumanEval/{number}", "prompt": f"def {name}(x):\n", "entry_point": name}
                       | {"canonical_solution": f"    return {code}\n", "test": "def check(candidate): pass\n"}) + "\n"
            for number, (name, code) in enumerate(FUNCTIONS.items())
        )
    )  # fmt: skip
    return data


def test_the_page_has_a_whole_study(naming: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = naming.parent / "run"
    with chatting(ChatSpeech(reply=lambda _: ["`halve`"])) as address:
        command = ["eval", "naming", "--model", address, "--data", str(naming), "--out", str(out), "--json"]
        assert main([*command, "--dry-run"]) == 0
        plan = json.loads(capsys.readouterr().out)
        assert (plan["calls"], "def f(x):" in plan["example"], out.exists()) == (2, True, False)
        assert (plan["schema"], plan["study"], plan["items"], plan["run"]) == ("assay/study-plan/1", "naming", 2, str(out))
        assert main(command) == 0
        answers = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
        assert [answer["right"] for answer in answers] == [True, False]
        assert main(command) == 0
        assert "2 functions done already" in capsys.readouterr().err
    assert main(["eval", "report", str(out)]) == 0
    assert "1 of 2 are as the author's." in (out / "report" / "report.md").read_text()

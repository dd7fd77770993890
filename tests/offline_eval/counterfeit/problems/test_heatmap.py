"""Several runs on the same and on other programs, side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from counterfeit_models import able, nonsense, published
from study_runs import figures_of

from assay.cli.main import main
from assay.inference.opening import ModelChoice
from assay.offline_eval.counterfeit.problems.asking import Options
from assay.offline_eval.counterfeit.problems.study import run_problems

from ....inference.chat_server import ChatSpeech, chatting


@pytest.mark.slow
def test_several_runs_make_a_table_of_generators_and_evaluators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, other = published(tmp_path / "set.jsonl", 12), published(tmp_path / "other.jsonl", 8)
    other.write_text(other.read_text().replace("some-7b", "some-34b"))
    speech = ChatSpeech(reply=able)
    with chatting(speech) as address:
        first = Options(tmp_path / "a", set=made, data=None, choice=ModelChoice(address), votes=1, reasoning="without")
        run_problems(first)
        run_problems(replace(first, out=tmp_path / "c", set=other))
        speech.reply = nonsense
        run_problems(replace(first, out=tmp_path / "b"))
        # the same problems and classes, and other texts
        texts = tmp_path / "texts.jsonl"
        texts.write_text(made.read_text().replace("return ", "return  "))
        run_problems(replace(first, out=tmp_path / "d", set=texts))
    assert main(["eval", "report", *(str(tmp_path / name) for name in "ad"), "--out", str(tmp_path / "none")]) == 0
    assert not [name for name in figures_of(tmp_path / "none") if name.startswith("HD/")]
    for names, message in (("aa", "is named twice"), ("az", "z: no such file or folder")):
        assert main(["eval", "report", *(str(tmp_path / name) for name in names)]) != 0
        assert message in capsys.readouterr().err
    assert main(["eval", "report", *(str(tmp_path / name) for name in "abc"), "--out", str(tmp_path / "all")]) == 0
    found = figures_of(tmp_path / "all")
    place = "H/J/vote/strict/balanced_accuracy"
    assert found[f"{place}/some-7b/acme/chat-tiny"]["value"] == 0.5
    assert found[f"{place}/some-7b/acme/chat-tiny (run 2)"]["value"] == 0.0
    assert found[f"{place}/some-34b/acme/chat-tiny"]["value"] == 0.5
    assert found[f"{place}/some-34b/acme/chat-tiny (run 2)"]["value"] is None
    # the second run has the programs of the first, the third has others
    assert {name: cell["value"] for name, cell in found.items() if name.startswith("HD/")} == {"HD/1/vote_without_reasoning": -0.5}

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from assay.inference.completion.settings import GREEDY, Sampling
from assay.inference.opening import ModelChoice
from assay.inference.project_memory.weights import SHIPPED
from assay.offline_eval.errors import UsageError
from assay.offline_eval.model import Changed, model_of, opened_on_one_thread
from assay.suggestion.memory.memories import own_weights


def test_a_workers_transformers_model_is_run_by_one_thread(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from tiny_hf import write_tiny_hf

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with opened_on_one_thread(ModelChoice(str(write_tiny_hf(tmp_path / "model")), {"device": "cpu"})):
            assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_a_workers_gguf_is_opened_without_torch(tiny_gguf: Path) -> None:
    program = (
        "import sys; from assay.inference.opening import ModelChoice; from assay.offline_eval.model import opened_on_one_thread\n"
        f"with opened_on_one_thread(ModelChoice({str(tiny_gguf)!r})): print('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip() == "False"


def test_a_worker_with_other_weights_of_the_project_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = model_of(ModelChoice(), ("line",))
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "other machine"))
    asked.open_in_worker().close()
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "another"))
    weights = json.loads(SHIPPED.read_text())
    weights["file"]["bias"] += 1
    own_weights(asked.id).parent.mkdir(parents=True)
    own_weights(asked.id).write_text(json.dumps(weights))
    with pytest.raises(Changed, match="weights of the project memory are others for the worker"):
        asked.open_in_worker()
    replace(asked, memory="off", weights="").open_in_worker().close()


def test_texts_that_are_drawn_have_a_prompt_of_their_own() -> None:
    greedy, drawn = (model_of(ModelChoice(), ("line",), sampling=sampling) for sampling in (GREEDY, Sampling(0.6)))
    assert greedy.sampled == greedy.prompts == drawn.prompts
    assert drawn.sampled["line"] not in (greedy.prompts["line"], model_of(ModelChoice(), ("line",), sampling=Sampling(0.8)).sampled["line"])
    assert greedy.mends


def test_a_model_is_asked_about_what_it_wrote_where_it_can_be_and_the_embedded_one_never(tiny_gguf: Path) -> None:
    named = ModelChoice(str(tiny_gguf))
    assert "ask_true_normalised" in model_of(named, ("line",), reflective=None).questions
    assert model_of(named, ("line",)).questions == {}
    assert model_of(ModelChoice(), ("line",), reflective=None).questions == {}
    with pytest.raises(UsageError, match=r"the embedded model answers no questions, .* leave --reflective out"):
        model_of(ModelChoice(), ("line",), reflective=True)

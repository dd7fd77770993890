"""The model that is asked in words: the same for the driver and each worker, and about each item as if it were the first."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_gguf import TinyModel, write_tiny_gguf

from assay.inference.asking.asker import Asker, Message
from assay.inference.opening import ModelChoice
from assay.offline_eval.asked_model import AskedModel, Asking, AsksItems, asked_model, how_asked, names_in_forms
from assay.offline_eval.model import Changed


@pytest.fixture
def model(tmp_path: Path) -> AskedModel:
    return asked_model(ModelChoice(str(write_tiny_gguf(tmp_path / "tiny.gguf", TinyModel(context_length=512)))))


def ask(asker: Asker, item: str) -> dict[str, Any]:
    (said,) = asker.say([Message("user", f"Say something of {item}.")], max_tokens=8)
    return {"id": item, "said": said.text, "logprobs": said.logprobs}


def test_a_worker_asks_about_each_item_as_if_it_were_the_first(model: AskedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = pickle.loads(pickle.dumps(Asking(model, ask)))()
    assert isinstance(worker, AsksItems)
    assert worker.model is not None
    read: list[int] = []
    forget = type(worker.model).forget
    monkeypatch.setattr(type(worker.model), "forget", lambda opened: (read.append(1), forget(opened)))
    first, between, again = (worker(item) for item in ("sums", "sums of sums", "sums"))
    assert first.pop("timings")["total_ms"] > 0
    again.pop("timings")
    assert first == again
    assert between["id"] == "sums of sums"
    assert len(read) == 3
    worker.close()


def test_a_worker_with_another_model_or_another_assay_refuses(model: AskedModel) -> None:
    with pytest.raises(Changed, match=r"was other \(text\) when the run began"):
        Asking(replace(model, id="other"), ask)()
    with pytest.raises(Changed, match=r"the driver 0\.0: install the same on both"):
        Asking(replace(model, version="0.0"), ask)()


def test_the_form_is_told_first_and_where_models_of_one_name_differ_in_it() -> None:
    runs = [
        {"model_name": name, "model": "ab", "prompt": "cd", "form": form} for name, form in (("a", "chat"), ("a", "text"), ("b", "text"))
    ]
    assert how_asked(runs[1]) == "asked in plain text: model a (fingerprint ab), prompts cd"
    assert names_in_forms(runs) == ["a in chat", "a in plain text", "b"]
    assert names_in_forms([runs[0], runs[0]]) == ["a", "a"]
    assert names_in_forms([runs[0], {"model_name": "a"}]) == ["a in chat", "a as recorded"]

"""A model is opened by its name in the list."""

from pathlib import Path

import pytest
from found_models import MODEL_LAYER, ollama_manifest, ollama_model, put

from assay.inference.backends import LLAMA_CPP
from assay.inference.embedded_model import EMBEDDED
from assay.inference.errors import AmbiguousModelName, NoModelOfThatName, NoSuchModel, UnusableModel
from assay.inference.found.candidate import Machine, this_machine
from assay.inference.found.find import find_models, named_path
from assay.inference.opening import ModelChoice, open_model


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OLLAMA_HOME", "LLAMA_CACHE", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "ASSAY_MODEL_FOLDERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "ollama"))
    return tmp_path


def test_every_name_of_the_list_opens_its_model(home: Path, tiny_gguf: Path) -> None:
    ollama_model(home / "ollama", tiny_gguf, "coder:1b")
    put(tiny_gguf, home / ".lmstudio/models/org/coder/coder.gguf")
    mine = put(tiny_gguf, home / "mine/coder.gguf")
    models = find_models(this_machine(), [mine.parent]).models
    assert len(models) == 3 + EMBEDDED.is_file()
    for model in models:
        for name in model.names:
            choice = ModelChoice(name, {"threads": 1})
            assert (choice.backend, Path(choice.located)) == (LLAMA_CPP, Path(model.where))
            with choice.open() as opened:
                assert opened.fingerprint.id == model.fingerprint


def test_a_tag_may_be_left_out_as_at_ollama(home: Path, tiny_gguf: Path) -> None:
    blob = ollama_model(home / "ollama", tiny_gguf, "coder:latest", "coder:1b")
    assert named_path("ollama:coder") == blob


def test_a_name_that_is_not_there_is_told_those_that_are_like_it(home: Path, tiny_gguf: Path) -> None:
    ollama_model(home / "ollama", tiny_gguf, "qwen2.5-coder:1.5b", "llama3:8b")
    with pytest.raises(NoModelOfThatName, match=r"Ollama has no such model\. There are: ollama:qwen2\.5-coder:1\.5b, .*assay model list"):
        open_model("ollama:qwen2.5-coder:7b")
    with pytest.raises(NoModelOfThatName, match=r"Jan has no model on this machine"):
        open_model("jan:coder")
    choice = ModelChoice("ollama:qwen2.5-coder:7b")
    assert (choice.backend, choice.located) == (LLAMA_CPP, "ollama:qwen2.5-coder:7b")


def test_a_name_of_two_models_and_of_half_a_model_are_refused(home: Path, tiny_gguf: Path) -> None:
    put(tiny_gguf, home / ".lmstudio/models/org/coder.gguf")
    put(tiny_gguf, home / ".cache/lm-studio/models/org/coder.gguf")
    with pytest.raises(AmbiguousModelName, match=r"names 2 models\. Give the path of one: .*org/coder\.gguf, "):
        open_model("lm-studio:org/coder")
    ollama_manifest(home / "ollama", ("registry.ollama.ai", "library", "half", "1b"), [(MODEL_LAYER, f"sha256:{'0' * 64}")])
    with pytest.raises(UnusableModel, match="ollama:half:1b: its blob is missing"):
        open_model("ollama:half:1b")


def test_paths_and_addresses_are_no_names(tmp_path: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for where in ("coder.gguf", "C:\\models\\coder.gguf", "http://127.0.0.1:8080", "ollama:", "someone:coder"):
        assert named_path(where, Machine(tmp_path)) is None
    monkeypatch.chdir(tmp_path)
    put(tiny_gguf, tmp_path / "ollama:coder")
    with open_model("ollama:coder", threads=1) as opened:
        assert opened.fingerprint.name == "tiny"
    with pytest.raises(NoSuchModel, match=r"or a name of assay model list"):
        open_model("someone:coder")

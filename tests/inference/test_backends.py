"""Which backend runs what a user names, and which options it takes."""

import inspect
from pathlib import Path

import pytest

from assay.inference.backends import BACKENDS, LLAMA_CPP, SERVER, TRANSFORMERS, Backend
from assay.inference.hf.model import HFModel
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.opening import FLAGS, ModelChoice, ModelOptions
from assay.inference.remote.model import RemoteModel


@pytest.mark.parametrize(
    ("where", "backend"),
    [
        (None, LLAMA_CPP),
        ("model.gguf", LLAMA_CPP),
        ("http://127.0.0.1:8080", SERVER),
        ("HTTPS://models.example/v1", SERVER),
        ("https.gguf", LLAMA_CPP),
    ],
)
def test_an_address_is_a_servers_and_a_file_llama_cpps(where: str | None, backend: Backend) -> None:
    assert ModelChoice(where).backend is backend


def test_a_folder_is_for_transformers(tmp_path: Path) -> None:
    assert ModelChoice(str(tmp_path)).backend is TRANSFORMERS


def test_every_option_belongs_to_a_backend_whose_model_takes_it() -> None:
    renamed = {("server", "n_ctx"): "context_length", ("server", "server_model"): "model", ("server", "key_files"): "key"}
    for backend, model in ((LLAMA_CPP, LlamaModel), (TRANSFORMERS, HFModel), (SERVER, RemoteModel)):
        parameters = inspect.signature(model).parameters
        for option in backend.options:
            assert renamed.get((backend.name, option), option) in parameters, (backend.name, option)
    assert set().union(*(backend.options for backend in BACKENDS)) == set(ModelOptions.__annotations__) == set(FLAGS)

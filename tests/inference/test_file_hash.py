"""A file's hash is computed once, written down where that took long, and never believed of a file that has changed."""

import hashlib
import inspect
import os
from pathlib import Path

import pytest

from assay.inference import file_hash
from assay.inference.backends import BACKENDS, LLAMA_CPP, SERVER, TRANSFORMERS
from assay.inference.file_hash import file_sha256, known_sha256
from assay.inference.hf.model import HFModel
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.opening import FLAGS, ModelChoice, ModelOptions
from assay.inference.remote.model import RemoteModel


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(file_hash, "_MIN_BYTES", 1000)
    return tmp_path / "cache"


def large(folder: Path, letter: str = "a") -> Path:
    path = folder / "large"
    path.write_text(letter * 1000, encoding="ascii")
    return path


def forget() -> None:
    """As in another process."""
    file_hash._hash_of.cache_clear()


def test_a_small_file_is_hashed_at_once_and_a_large_one_only_when_it_is_opened(tmp_path: Path, cache: Path) -> None:
    small = tmp_path / "small"
    small.write_text("a", encoding="ascii")
    assert known_sha256(small) == hashlib.sha256(b"a").hexdigest()
    path = large(tmp_path)
    assert known_sha256(path) == ""
    found = file_sha256(path)
    forget()
    assert known_sha256(path) == found == hashlib.sha256(b"a" * 1000).hexdigest()
    link = tmp_path / "link"
    link.symlink_to(path)
    assert known_sha256(link) == found
    assert len(list((cache / "hashes").iterdir())) == 1


def test_what_was_written_down_of_another_content_does_not_count(tmp_path: Path, cache: Path) -> None:
    path = large(tmp_path)
    file_sha256(path)
    large(tmp_path, "b")
    os.utime(path, ns=(0, 1))
    assert known_sha256(path) == ""
    assert file_sha256(path) == hashlib.sha256(b"b" * 1000).hexdigest()
    assert known_sha256(path) == file_sha256(path)
    (note,) = (cache / "hashes").iterdir()
    for damaged in ("", "1000:1 x", "\xff"):
        note.write_text(damaged, encoding="latin-1")
        assert known_sha256(path) == ""


def test_a_hash_is_given_where_it_can_not_be_written_down(tmp_path: Path, cache: Path) -> None:
    cache.write_text("a file where the folder would be", encoding="ascii")
    assert file_sha256(large(tmp_path)) == hashlib.sha256(b"a" * 1000).hexdigest()
    assert known_sha256(tmp_path / "nothing") == ""


def test_an_address_is_a_servers_a_file_llama_cpps_and_a_folder_transformers(tmp_path: Path) -> None:
    assert ModelChoice("HTTPS://models.example/v1").backend is SERVER
    assert ModelChoice("https.gguf").backend is ModelChoice(None).backend is LLAMA_CPP
    assert ModelChoice(str(tmp_path)).backend is TRANSFORMERS


def test_every_option_belongs_to_a_backend_whose_model_takes_it() -> None:
    renamed = {("server", "n_ctx"): "context_length", ("server", "server_model"): "model", ("server", "key_files"): "key"}
    for backend, model in ((LLAMA_CPP, LlamaModel), (TRANSFORMERS, HFModel), (SERVER, RemoteModel)):
        parameters = inspect.signature(model).parameters
        for option in backend.options:
            assert renamed.get((backend.name, option), option) in parameters, (backend.name, option)
    assert set().union(*(backend.options for backend in BACKENDS)) == set(ModelOptions.__annotations__) == set(FLAGS)

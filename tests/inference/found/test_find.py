"""What is found is described from its headers: once for each file, and with the reason where it can't be used."""

from pathlib import Path

import pytest
from found_models import hub_file, ollama_model, put
from tiny_gguf import TinyModel, write_tiny_gguf

from assay.inference.embedded_model import EMBEDDED
from assay.inference.found.candidate import Machine
from assay.inference.found.find import find_models, named_path
from assay.inference.found.model import FoundModel
from assay.inference.opening import open_model


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path, {"OLLAMA_MODELS": str(tmp_path / "ollama")})


def by_name(machine: Machine, *folders: Path) -> dict[str, FoundModel]:
    return {name: model for model in find_models(machine, folders).models for name in model.names if name != "embedded"}


def test_the_embedded_model_comes_first(machine: Machine) -> None:
    if EMBEDDED.is_file():
        first = find_models(machine).models[0]
        assert (first.names, first.where, first.fills_middle, first.family) == (("embedded",), str(EMBEDDED), True, "assay")


def test_what_the_header_says_is_what_the_model_is_when_it_is_open(machine: Machine, tmp_path: Path, tiny_gguf: Path) -> None:
    plain = write_tiny_gguf(tmp_path / "plain.gguf", TinyModel(seed=1, fim=False), "q8_0")
    ollama_model(tmp_path / "ollama", tiny_gguf, "fim:1b")
    ollama_model(tmp_path / "ollama", plain, "plain:1b")
    found = by_name(machine)
    for name in ("ollama:fim:1b", "ollama:plain:1b"):
        model = found[name]
        with open_model(model.where, threads=1) as opened:
            fingerprint = opened.fingerprint
            assert model.fingerprint == fingerprint.id
            assert (model.parameters, model.quantisation, model.architecture) == (
                fingerprint.parameters,
                fingerprint.quantisation,
                fingerprint.architecture,
            )
            assert model.fills_middle == opened.capabilities.fim
        assert model.size == Path(model.where).stat().st_size
        assert 0 < model.read_per_token < model.size
    assert found["ollama:fim:1b"].family == "qwen2.5-coder"


def test_one_file_with_several_names_in_several_places_is_one_model(machine: Machine, tmp_path: Path, tiny_gguf: Path) -> None:
    blob = ollama_model(tmp_path / "ollama", tiny_gguf, "coder:1b", "coder:latest")
    studio = tmp_path / ".lmstudio/models/ollama/coder"
    studio.mkdir(parents=True)
    (studio / "soft.gguf").symlink_to(blob)
    (studio / "hard.gguf").hardlink_to(blob)
    found = by_name(machine)
    assert set(found) == {"ollama:coder:1b", "ollama:coder:latest", "lm-studio:ollama/coder/hard", "lm-studio:ollama/coder/soft"}
    assert len({id(model) for model in found.values()}) == 1


def test_files_that_can_not_be_used_say_why_and_come_last(machine: Machine, tmp_path: Path, tiny_gguf: Path) -> None:
    cache = tmp_path / ".cache/llama.cpp"
    whole = put(tiny_gguf, cache / "whole.gguf").read_bytes()
    (cache / "half.gguf").write_bytes(whole[: len(whole) // 2])
    (cache / "page.gguf").write_text("<html>", encoding="utf-8")
    (cache / "empty.gguf").touch()
    (cache / "gone.gguf").symlink_to(tmp_path / "nothing")
    write_tiny_gguf(cache / "embeds.gguf", TinyModel(metadata={}, architecture="nomic-bert"))
    put(tiny_gguf, cache / "split-00001-of-00003.gguf")
    put(tiny_gguf, cache / "split-00002-of-00003.gguf")
    models = [model for model in find_models(machine).models if model.names != ("embedded",)]
    said = {model.names[0].removeprefix("llama.cpp:"): model.problem for model in models}
    assert next(iter(said)) == "whole"
    assert said.pop("whole") == ""
    for name, words in (
        ("half", "cut short"),
        ("page", "this is a web page"),
        ("empty", "the file is empty"),
        ("gone", "no such model file"),
        ("embeds", "does not generate text"),
        ("split", "1 of its 3 files is missing"),
    ):
        assert words in said[name], name
        assert str(cache) not in said[name]
    assert not any(model.fingerprint for model in models if model.problem)


def test_a_model_in_several_files_is_listed_as_the_one_that_is_opened(machine: Machine, tmp_path: Path, tiny_gguf: Path) -> None:
    cache = tmp_path / ".cache/llama.cpp"
    cache.mkdir(parents=True)
    first = write_tiny_gguf(cache / "big.gguf", tensors_in_a_file=7)
    whole = put(tiny_gguf, tmp_path / "mine/whole.gguf")
    found = {model.names[0]: model for model in find_models(machine, [whole.parent]).models}
    split, alone = found["llama.cpp:big"], found[str(whole)]
    with open_model(first, threads=1) as opened:
        assert split.fingerprint == opened.fingerprint.id
    assert (split.parameters, split.read_per_token, split.problem) == (alone.parameters, alone.read_per_token, "")
    assert named_path("llama.cpp:big", machine) == first


def test_a_file_of_several_gigabytes_is_not_hashed(machine: Machine, tmp_path: Path, tiny_gguf: Path) -> None:
    path = put(tiny_gguf, tmp_path / ".cache/llama.cpp/large.gguf")
    with path.open("r+b") as file:
        file.truncate(5 << 30)  # a hole: it takes no place on the disk
    assert by_name(machine)["llama.cpp:large"].fingerprint == ""


def test_the_hub_says_the_hash_of_a_file(machine: Machine, tmp_path: Path, tiny_gguf: Path) -> None:
    link = hub_file(tmp_path / ".cache/huggingface/hub", "org/coder", tiny_gguf, "coder.gguf")
    with open_model(link, threads=1) as opened:
        assert by_name(machine)["hf:org/coder/coder"].fingerprint == opened.fingerprint.id


def test_a_folder_that_the_user_names_is_looked_into_once(machine: Machine, tmp_path: Path, tiny_gguf: Path) -> None:
    path = put(tiny_gguf, tmp_path / "mine/coder.gguf")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    found = find_models(machine, [tmp_path / "mine", tmp_path / "link", tmp_path / "none"])
    assert [model.names for model in found.models if model.names != ("embedded",)] == [(str(path),)]
    assert found.notes == (f"{tmp_path / 'none'}: no such folder",)

"""What is found is described from its headers: once for each file, and with the reason where it can't be used."""

from pathlib import Path

import pytest
from found_models import MODEL_LAYER, ollama_manifest, ollama_model, put
from hypothesis import given
from hypothesis import strategies as st
from tiny_gguf import TinyModel, write_tiny_gguf

from assay.inference.backends import LLAMA_CPP
from assay.inference.embedded_model import EMBEDDED
from assay.inference.errors import AmbiguousModelName, NoModelOfThatName, NoSuchModel, UnusableModel
from assay.inference.found.bandwidth import memory_bandwidth, reading_speed
from assay.inference.found.candidate import Machine, Notes, this_machine, walk
from assay.inference.found.find import find_models, named_path
from assay.inference.found.gguf_files import candidates_of
from assay.inference.found.model import FoundModel
from assay.inference.opening import ModelChoice, open_model


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path, {"OLLAMA_MODELS": str(tmp_path / "ollama")})


def by_name(machine: Machine, *folders: Path) -> dict[str, FoundModel]:
    return {name: model for model in find_models(machine, folders).models for name in model.names if name != "embedded"}


def test_what_the_header_says_is_what_the_model_is_when_it_is_open(machine: Machine, tmp_path: Path, tiny_gguf: Path) -> None:
    plain = write_tiny_gguf(tmp_path / "plain.gguf", TinyModel(seed=1, fim=False), "q8_0")
    ollama_model(tmp_path / "ollama", tiny_gguf, "fim:1b")
    ollama_model(tmp_path / "ollama", plain, "plain:1b")
    first = find_models(machine).models[0]
    assert (first.names, first.where, first.fills_middle, first.family) == (("embedded",), str(EMBEDDED), True, "assay")
    found = by_name(machine)
    for name in ("ollama:fim:1b", "ollama:plain:1b"):
        model = found[name]
        with open_model(model.where, threads=1) as opened:
            fingerprint = opened.fingerprint
            said = (model.fingerprint, model.parameters, model.quantisation, model.architecture)
            assert said == (fingerprint.id, fingerprint.parameters, fingerprint.quantisation, fingerprint.architecture)
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


def test_a_folder_that_the_user_names_is_looked_into_once(machine: Machine, tmp_path: Path, tiny_gguf: Path) -> None:
    path = put(tiny_gguf, tmp_path / "mine/coder.gguf")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    found = find_models(machine, [tmp_path / "mine", tmp_path / "link", tmp_path / "none"])
    assert [model.names for model in found.models if model.names != ("embedded",)] == [(str(path),)]
    assert found.notes == (f"{tmp_path / 'none'}: no such folder",)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OLLAMA_HOME", "LLAMA_CACHE", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "ASSAY_MODEL_FOLDERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "ollama"))
    return tmp_path


def test_every_name_of_the_list_opens_its_model(home: Path, tiny_gguf: Path) -> None:
    blob = ollama_model(home / "ollama", tiny_gguf, "coder:1b", "coder:latest")
    assert named_path("ollama:coder") == blob, "a tag may be left out, as at Ollama"
    put(tiny_gguf, home / ".lmstudio/models/org/coder/coder.gguf")
    mine = put(tiny_gguf, home / "mine/coder.gguf")
    models = find_models(this_machine(), [mine.parent]).models
    assert len(models) == 4
    for model in models:
        for name in model.names:
            choice = ModelChoice(name, {"threads": 1})
            assert (choice.backend, Path(choice.located)) == (LLAMA_CPP, Path(model.where))
            with choice.open() as opened:
                assert opened.fingerprint.id == model.fingerprint


def test_a_name_that_means_no_model_is_refused_with_those_that_are_like_it(home: Path, tiny_gguf: Path) -> None:
    ollama_model(home / "ollama", tiny_gguf, "qwen2.5-coder:1.5b", "llama3:8b")
    with pytest.raises(NoModelOfThatName, match=r"Ollama has no such model\. There are: ollama:qwen2\.5-coder:1\.5b, .*assay model list"):
        open_model("ollama:qwen2.5-coder:7b")
    with pytest.raises(NoModelOfThatName, match=r"LM Studio has no model on this machine"):
        open_model("lm-studio:coder")
    choice = ModelChoice("ollama:qwen2.5-coder:7b")
    assert (choice.backend, choice.located) == (LLAMA_CPP, "ollama:qwen2.5-coder:7b")
    # So is a name that means two models, or half a model.
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


def test_links_are_followed_circles_end_and_what_is_not_looked_at_is_told(tmp_path: Path) -> None:
    (tmp_path / "home/a").mkdir(parents=True)
    (tmp_path / "home/a/x").touch()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/y").touch()
    (tmp_path / "home/link").symlink_to(tmp_path / "other")
    (tmp_path / "home/a/up").symlink_to(tmp_path / "home")
    (tmp_path / "home/gone").symlink_to(tmp_path / "nothing")
    notes: Notes = []
    assert [path.relative_to(tmp_path).as_posix() for path in walk(tmp_path / "home", notes)] == ["home/gone", "home/a/x", "home/link/y"]
    assert notes == []
    for number in range(20):
        (tmp_path / f"{number:02}").touch()
    assert len(list(walk(tmp_path, notes, entries=5))) == 5
    assert notes == [f"{tmp_path}: only its first 5 files and folders were looked at"]
    deep = tmp_path / "d/e/f"
    deep.mkdir(parents=True)
    (deep / "below").touch()
    assert "below" not in {path.name for path in walk(tmp_path, notes, depth=2)}
    (tmp_path / "file").touch()
    notes.clear()
    assert list(walk(tmp_path / "file", notes)) == list(walk(tmp_path / ("x" * 5000), notes)) == list(walk(tmp_path / "gone", notes)) == []
    assert [note.rpartition(": ")[2] for note in notes] == ["not a folder", "can't be read (File name too long)"]


def test_downloads_that_were_not_finished_are_named_like_what_they_will_be() -> None:
    root = Path("models")
    files = [root / "a" / name for name in ("m.gguf.part", "downloading_n.gguf", "o.gguf.downloadInProgress", "p.gguf", "q.txt", "r.part")]
    found = {candidate.name: bool(candidate.problem) for candidate in candidates_of(root, files)}
    assert found == {"a/m": True, "a/n": True, "a/o": True, "a/p": False}


@given(st.integers(1, 12), st.data())
def test_a_model_in_several_files_is_one_entry_that_counts_what_is_missing(count: int, data: st.DataObject) -> None:
    there = data.draw(st.sets(st.integers(1, count), min_size=1))
    files = [Path("models") / f"big-{number:05}-of-{count:05}.gguf" for number in data.draw(st.permutations(sorted(there)))]
    (found,) = candidates_of(Path("models"), files)
    assert (found.name, found.path) == ("big", Path("models") / f"big-{min(there):05}-of-{count:05}.gguf")
    assert list(found.parts) == sorted(files)
    missing = count - len(there)
    assert found.problem.startswith(f"{missing} of its {count} files") == bool(missing)


def test_the_memory_is_measured_once_in_a_process() -> None:
    assert 0 < reading_speed() <= memory_bandwidth()
    assert memory_bandwidth() == memory_bandwidth()
    assert 1e8 < memory_bandwidth() < 1e14

"""Each program's models are found where that program keeps them, and named as it names them."""

import json
import os
from pathlib import Path

import pytest
from found_models import MODEL_LAYER, hub_file, ollama_blob, ollama_manifest, ollama_model, put

from assay.inference.found import huggingface, ollama
from assay.inference.found.candidate import Candidate, Machine, Notes, Place, System
from assay.inference.found.places import LLAMA_CPP, LM_STUDIO, NAMED


def looked(place: Place, machine: Machine) -> tuple[dict[str, Candidate], Notes]:
    notes: Notes = []
    found = [candidate for below in place.folders(machine) for candidate in place.candidates(below, notes)]
    return {candidate.name: candidate for candidate in found}, notes


def test_ollamas_models_have_the_names_that_it_lists(tmp_path: Path, tiny_gguf: Path) -> None:
    machine = Machine(tmp_path, system="macos")
    models = tmp_path / ".ollama/models"
    blob = ollama_model(models, tiny_gguf, "coder:1.5b", "coder:latest")
    digest = ollama_blob(models, tiny_gguf)
    ollama_manifest(
        models, ("registry.ollama.ai", "someone", "coder", "q4"), [("application/vnd.ollama.image.license", "x"), (MODEL_LAYER, digest)]
    )
    ollama_manifest(models, ("hf.co", "org", "Coder-GGUF", "Q8_0"), [(MODEL_LAYER, digest)])
    found, notes = looked(ollama.PLACE, machine)
    assert set(found) == {"coder:1.5b", "coder:latest", "someone/coder:q4", "hf.co/org/Coder-GGUF:Q8_0"}
    assert {candidate.path for candidate in found.values()} == {blob}
    assert {candidate.sha256 for candidate in found.values()} == {blob.name.removeprefix("sha256-")}
    assert not any(candidate.problem for candidate in found.values())
    assert notes == []
    ollama_model(tmp_path / "elsewhere", tiny_gguf, "other:1b")
    assert set(looked(ollama.PLACE, Machine(tmp_path, {"OLLAMA_MODELS": str(tmp_path / "elsewhere")}))[0]) == {"other:1b"}


def test_ollamas_new_manifests_go_before_the_old_and_lists_lead_to_the_gguf_file(tmp_path: Path, tiny_gguf: Path) -> None:
    machine = Machine(tmp_path, {"OLLAMA_MODELS": str(tmp_path)})
    name = ("registry.ollama.ai", "library", "coder", "1b")
    digest = ollama_blob(tmp_path, tiny_gguf)
    ollama_manifest(tmp_path, name, [(MODEL_LAYER, f"sha256:{'0' * 64}")])
    child = ollama_manifest(tmp_path, ("x", "x", "x", ".child"), [(MODEL_LAYER, digest)])
    whole = ollama_manifest(tmp_path, name, [], folder="manifests-v2")
    tensors = {"layers": [{"mediaType": "application/vnd.ollama.image.tensor; name=x", "digest": digest}]}
    whole.write_text(json.dumps({"manifests": [tensors, {"digest": ollama_blob(tmp_path, child), "runner": "llamacpp"}]}), encoding="utf-8")
    (candidate,) = looked(ollama.PLACE, machine)[0].values()
    assert (candidate.name, candidate.path.name, candidate.problem) == ("coder:1b", digest.replace(":", "-"), "")


def test_what_ollama_does_not_have_whole_says_why(tmp_path: Path, tiny_gguf: Path) -> None:
    machine = Machine(tmp_path, {"OLLAMA_MODELS": str(tmp_path)})
    digest = ollama_blob(tmp_path, tiny_gguf)

    def model(tag: str, *layers: tuple[str, str]) -> Path:
        return ollama_manifest(tmp_path, ("registry.ollama.ai", "library", "coder", tag), layers)

    model("gone", (MODEL_LAYER, f"sha256:{'0' * 64}"))
    model("elsewhere", ("application/vnd.ollama.image.license", digest))
    model("tensors", ("application/vnd.ollama.image.tensor; name=a; dtype=F16; shape=1", digest))
    model("adapted", (MODEL_LAYER, digest), ("application/vnd.ollama.image.adapter", digest))
    model("path", (MODEL_LAYER, "sha256:../../../etc/passwd"))
    model("deep").write_text("[" * 100_000, encoding="utf-8")
    (tmp_path / "blobs" / f"sha256-{'1' * 64}-partial").touch()
    (tmp_path / "blobs" / f"sha256-{'1' * 64}-partial-0").touch()
    found, notes = looked(ollama.PLACE, machine)
    said = {name.removeprefix("coder:"): candidate.problem for name, candidate in found.items()}
    assert "its blob is missing" in said["gone"]
    assert "run elsewhere" in said["elsewhere"]
    assert "single tensors" in said["tensors"]
    assert "adapter" in said["adapted"]
    assert all("its manifest is damaged" in said[name] for name in ("path", "deep"))
    assert notes == [f"{tmp_path / 'blobs'}: 1 download of Ollama not finished"]


def test_lm_studios_models_are_below_its_home_and_the_folder_that_was_chosen(tmp_path: Path, tiny_gguf: Path) -> None:
    put(tiny_gguf, tmp_path / ".cache/lm-studio/models/old/model/old.gguf")
    home = tmp_path / "moved"
    (tmp_path / ".lmstudio-home-pointer").write_text(f"{home}\n", encoding="utf-8")
    put(tiny_gguf, home / "models/publisher/coder/coder-Q4_K_M.gguf")
    put(tiny_gguf, home / "models/publisher/coder/mmproj-coder-f16.gguf")
    put(tiny_gguf, tmp_path / "chosen/publisher/other/other.gguf")
    (home / "settings.json").write_text(json.dumps({"downloadsFolder": str(tmp_path / "chosen")}), encoding="utf-8")
    found, notes = looked(LM_STUDIO, Machine(tmp_path))
    assert (set(found), notes) == ({"old/model/old", "publisher/coder/coder-Q4_K_M", "publisher/other/other"}, [])
    (home / "settings.json").write_text("[", encoding="utf-8")
    assert "publisher/coder/coder-Q4_K_M" in looked(LM_STUDIO, Machine(tmp_path))[0]


@pytest.mark.parametrize(
    ("system", "environ", "below"),
    [
        ("linux", {}, ".cache/llama.cpp/org_coder.gguf"),
        ("linux", {"XDG_CACHE_HOME": "~/c"}, "c/llama.cpp/org_coder.gguf"),
        ("macos", {}, "Library/Caches/llama.cpp/org_coder.gguf"),
        ("windows", {"LOCALAPPDATA": "~/L"}, "L/llama.cpp/org_coder.gguf"),
        ("linux", {"LLAMA_CACHE": "~/mine"}, "mine/org_coder.gguf"),
    ],
)
def test_llama_cpps_models_are_in_the_cache(system: System, environ: dict[str, str], below: str, tmp_path: Path, tiny_gguf: Path) -> None:
    path = put(tiny_gguf, tmp_path / below)
    found, notes = looked(LLAMA_CPP, Machine(tmp_path, environ, system))
    assert ({one.name: one.path for one in found.values()}, notes) == ({"org_coder": path}, [])


def test_hugging_faces_cache_has_files_by_their_hashes_and_folders(tmp_path: Path, tiny_gguf: Path) -> None:
    hub = tmp_path / ".cache/huggingface/hub"
    link = hub_file(hub, "org/coder-GGUF", tiny_gguf, "q8/coder.gguf", commit="b" * 40)
    hub_file(hub, "org/coder-GGUF", tiny_gguf, "coder.gguf", commit="a" * 40)
    (hub / "models--org--coder-GGUF/refs/main").write_text("b" * 40, encoding="utf-8")
    for file in ("config.json", "model.safetensors"):
        hub_file(hub, "org/coder", tiny_gguf, file)
    hub_file(hub, "org/words", tiny_gguf, "config.json")
    put(tiny_gguf, hub / "datasets--org--texts/snapshots/c/data.gguf")
    (hub / "models--org--coder-GGUF/blobs/abc.incomplete").touch()
    found, notes = looked(huggingface.PLACE, Machine(tmp_path))
    assert set(found) == {"org/coder-GGUF/q8/coder", "org/coder-GGUF/coder@aaaaaaaa", "org/coder"}
    assert (found["org/coder-GGUF/q8/coder"].path, found["org/coder-GGUF/q8/coder"].sha256) == (link, link.resolve().name)
    assert found["org/coder"].path == hub / "models--org--coder/snapshots/c0ffee"
    assert notes == [f"{hub / 'models--org--coder-GGUF'}: a download that was not finished"]


def test_the_variables_of_hugging_face_name_its_cache_in_which_a_name_means_a_whole_file(tmp_path: Path, tiny_gguf: Path) -> None:
    hub = tmp_path / ".cache/huggingface/hub"
    (tmp_path / "short.gguf").write_bytes(tiny_gguf.read_bytes()[:-1])
    whole = hub_file(hub, "org/coder-GGUF", tiny_gguf, "coder.gguf", commit="a" * 40)
    hub_file(hub, "org/coder-GGUF", tmp_path / "short.gguf", "coder.gguf", commit="b" * 40)
    assert looked(huggingface.PLACE, Machine(tmp_path))[0]["org/coder-GGUF/coder"].path == whole
    hub_file(tmp_path / "a/hub", "org/one", tiny_gguf, "x.gguf")
    hub_file(tmp_path / "b", "org/two", tiny_gguf, "x.gguf")
    environ = {"HF_HOME": str(tmp_path / "a")}
    assert set(looked(huggingface.PLACE, Machine(tmp_path, environ))[0]) == {"org/one/x"}
    assert set(looked(huggingface.PLACE, Machine(tmp_path, environ | {"HF_HUB_CACHE": str(tmp_path / "b")}))[0]) == {"org/two/x"}


def test_the_users_own_folders_name_their_models_by_path(tmp_path: Path, tiny_gguf: Path) -> None:
    one = put(tiny_gguf, tmp_path / "one/deep/coder.gguf")
    model = put(tiny_gguf, tmp_path / "two/model/model.safetensors").parent
    put(tiny_gguf, model / "config.json")
    put(tiny_gguf, tmp_path / "two/settings/config.json")
    named = os.pathsep.join([str(tmp_path / "one"), "~/two", "", str(tmp_path / "gone")])
    found, notes = looked(NAMED, Machine(tmp_path, {"ASSAY_MODEL_FOLDERS": named}))
    assert {name: one.path for name, one in found.items()} == {str(one): one, str(model): model}
    assert notes == [f"{tmp_path / 'gone'}: no such folder"]

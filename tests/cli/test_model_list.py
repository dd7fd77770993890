"""`assay model list`, and `--model` with a name of it."""

import json
import os
from pathlib import Path

import pytest
from found_models import ollama_model, put
from house.running import assay_here

from assay.calibration.found_models import Listed, ModelList
from assay.cli.model_list import _print
from assay.inference.found.model import FoundModel
from assay.inference.hub.catalogue import catalogue


def home(tmp_path: Path) -> dict[str, str]:
    """The environment of a user whose models are all below the folder."""
    return {
        "HOME": str(tmp_path),
        "OLLAMA_MODELS": str(tmp_path / "ollama"),
        **dict.fromkeys(("LLAMA_CACHE", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HF_HOME", "HF_HUB_CACHE"), ""),
    }


def test_the_list_says_of_each_model_what_it_is(tmp_path: Path, tiny_gguf: Path) -> None:
    ollama_model(tmp_path / "ollama", tiny_gguf, "coder:1b", "coder:latest")
    put(tiny_gguf, tmp_path / ".cache/llama.cpp/half.gguf").write_bytes(tiny_gguf.read_bytes()[:9_000])
    ran = assay_here("model", "list", "--json", "--folder", tmp_path / "none", **home(tmp_path))
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    by_name = {model["name"]: model for model in found["models"]}
    coder = by_name["ollama:coder:1b"]
    assert coder["names"] == ["ollama:coder:1b", "ollama:coder:latest"]
    assert (coder["quantisation"], coder["fills_middle"], coder["family"]) == ("F32", True, "qwen2.5-coder")
    assert (coder["numbers"], {each["status"] for each in coder["calibrators"]}) == ("exact_match (borrowed)", {"borrowed"})
    assert by_name["llama.cpp:half"]["problem"].startswith("cut short")
    assert by_name["llama.cpp:half"]["tokens_per_second"] is None
    assert found["notes"] == [f"{tmp_path / 'none'}: no such folder"]


def test_people_see_the_usable_ones_first_and_why_others_are_not(tmp_path: Path, tiny_gguf: Path) -> None:
    ollama_model(tmp_path / "ollama", tiny_gguf, "coder:1b")
    put(tiny_gguf, tmp_path / "mine/page.gguf").write_text("<html>", encoding="ascii")
    ran = assay_here(
        "model", "list", **home(tmp_path), ASSAY_MODEL_FOLDERS=os.pathsep.join([str(tmp_path / "mine"), str(tmp_path / "none")])
    )
    assert ran.returncode == 0
    usable, _, others = ran.stdout.partition("Can't be used:")
    assert "ollama:coder:1b" in usable
    assert "page.gguf" not in usable
    assert f"{tmp_path / 'mine/page.gguf'}: this is a web page, not a model" in others
    assert ran.stderr == f"note: {tmp_path / 'none'}: no such folder\n"


def test_each_model_of_a_server_is_shown_with_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    where = "http://127.0.0.1:11434"
    served = [FoundModel((where,), "Ollama", where, server_model=name, size=1) for name in ("coder:1b", "my model")]
    _print(ModelList(tuple(Listed(model, (), None) for model in served), (), None))
    shown = capsys.readouterr().out
    assert f"{where} --server-model coder:1b\n" in shown
    assert f"{where} --server-model 'my model'\n" in shown
    assert "assay.modelOptions.serverModel" in shown


def test_a_model_of_the_catalogue_is_shown_with_its_short_name_too(capsys: pytest.CaptureFixture[str]) -> None:
    entry = next(each for each in catalogue() if each.bytes)
    whole, other = (FoundModel((entry.model,), "Hugging Face", "x.gguf", size=entry.bytes + more) for more in (0, 1))
    _print(ModelList((Listed(whole, (), None), Listed(other, (), None)), (), None))
    _, first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.endswith(f" {entry.model} = {entry.name}")
    assert second.endswith(f" {entry.model}")

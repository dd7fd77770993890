"""The models of the machine, and the check of the one that was chosen, through a real server."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from found_models import ollama_model, put
from hub_server import hub_of

from assay.inference.hub.catalogue import catalogue

from ..client import RpcError, started

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LLAMA_CACHE", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HF_HOME", "HF_HUB_CACHE", "ASSAY_MODEL_FOLDERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "ollama"))
    return tmp_path


async def test_the_models_of_the_machine_and_of_the_folders_that_are_set(home: Path, tiny_gguf: Path) -> None:
    ollama_model(home / "ollama", tiny_gguf, "coder:1b")
    mine = put(tiny_gguf, home / "mine/mine.gguf")
    async with started(tiny_gguf, options={"modelFolders": [str(home / "mine")]}) as client:
        loaded = (await client.ready())["model"]
        found = await client.request("assay/models", {})
        names = [model["name"] for model in found["models"]]
        assert {"ollama:coder:1b", str(mine)} <= set(names)
        coder = found["models"][names.index("ollama:coder:1b")]
        assert coder["fingerprint"] == found["fingerprint"] == loaded["id"]
        assert found["setting"] is None
        with pytest.raises(RpcError, match="true or false"):
            await client.request("assay/models", {"probe": "yes"})


async def test_a_model_chosen_by_its_name_is_opened_and_the_next_step_told(home: Path, tiny_gguf: Path, answering_gguf: Path) -> None:
    ollama_model(home / "ollama", answering_gguf, "coder:1b")
    async with started(tiny_gguf) as client:
        await client.ready()
        client.notify("workspace/didChangeConfiguration", {"settings": {"model": "ollama:coder:1b"}})
        found = await client.request("assay/checkModel", {"model": "ollama:coder:1b"})
        assert found["ok"]
        assert found["fingerprint"] == (await client.ready())["model"]["id"]
        assert found["command"] == "assay calibrate model --model ollama:coder:1b"
        client.open("file:///a.py", "x?")
        (item, *_) = await client.complete("file:///a.py", 0, 2)
        assert item["insertText"] == " answer"
        client.notify("workspace/didChangeConfiguration", {"settings": {"model": "ollama:coder:7b"}})
        found = await client.request("assay/checkModel", {"model": "ollama:coder:7b"})
        assert (found["ok"], found["command"]) == (False, None)
        assert "There are: ollama:coder:1b" in found["said"]
        # Whoever asked tells the user, so the server does not.
        assert not [each for each in client.notifications if each["method"] == "window/showMessage"]
        for wrong in ({"model": 3}, {"model": "another"}):
            with pytest.raises(RpcError, match="assay/checkModel"):
                await client.request("assay/checkModel", wrong)


async def test_the_next_step_of_the_model_that_the_server_was_started_with_names_that_model(tiny_gguf: Path) -> None:
    async with started(tiny_gguf, options={"modelOptions": {"context": 400}}) as client:
        await client.ready()
        found = await client.request("assay/checkModel", {"model": None})
    assert found["command"] == f"assay calibrate model --model {tiny_gguf} --context 400"
    assert found["command"] in found["said"]


async def test_a_download_tells_progress_and_goes_on_after_a_cancel(home: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    name = next(entry.name for entry in catalogue() if not entry.sha256 and entry.commercial_use)
    with hub_of(tiny_gguf.read_bytes()) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        hub.held_at = len(hub.content) // 2
        async with started(tiny_gguf) as client:
            await client.ready()
            offered = (await client.request("assay/modelsToGet", {}))["models"]
            assert {model["name"]: model["path"] for model in offered}[name] is None
            for wrong in ({}, {"name": 3}, {"name": name, "acceptLicence": "yes"}):
                with pytest.raises(RpcError, match="assay/getModel"):
                    await client.request("assay/getModel", wrong)
            with pytest.raises(RpcError, match="no model of that name"):
                await client.request("assay/getModel", {"name": "--help"})
            begun = client.ask("assay/getModel", {"name": name, "workDoneToken": "t"})
            assert await asyncio.to_thread(hub.reached.wait, 60)
            await client.heard("$/progress", "MB")
            client.notify("$/cancelRequest", {"id": begun})
            with pytest.raises(RpcError):
                await client.answer(begun)
            hub.go_on.set()
            found = await client.request("assay/getModel", {"name": name})
            assert Path(found["path"]).read_bytes() == hub.content
            assert name in [model["name"] for model in (await client.request("assay/modelsToGet", {}))["models"] if model["path"]]

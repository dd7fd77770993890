"""Servers on this machine are asked only for what they list, at once, and those that are not there are passed over."""

import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.found import served
from assay.inference.found.candidate import Machine, Notes
from assay.inference.found.find import find_models
from assay.inference.found.model import FoundModel
from assay.inference.found.served import count_of, own_list
from assay.inference.found.servers import served_models
from assay.inference.opening import open_model

from ..completion_server import NAME, Handler, Speech, serving

if TYPE_CHECKING:
    from assay.inference.remote.http import Connection


def port_of(address: str) -> int:
    return urlsplit(address).port or 0


def test_what_a_server_lists_is_found_with_the_fingerprint_that_it_has_when_it_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_API_KEY", "secret")
    keys: list[str | None] = []

    class Listening(Handler):
        def do_GET(self) -> None:  # noqa: N802 - as http.server names it
            keys.append(self.headers.get("Authorization"))
            super().do_GET()

    with serving(Speech(), handler=Listening) as address:
        notes: Notes = []
        (found,) = served_models(notes, [("vLLM", port_of(address)), ("Ollama", 9)])
        assert keys
        assert set(keys) == {None}
        with open_model(address) as opened:
            assert (found.where, found.fingerprint, found.server_model) == (address, opened.fingerprint.id, "")
    assert (found.names, found.place, notes) == ((address,), "vLLM", [])


class Several(Handler):
    def models(self, _: dict[str, Any]) -> object:
        return {"data": [{"id": "qwen2.5-coder:1.5b"}, {"id": "llama3:8b"}]}


class Closed(Handler):
    def do_GET(self) -> None:  # noqa: N802 - as http.server names it
        self.send(401, b"who are you?")


class Page(Handler):
    def do_GET(self) -> None:  # noqa: N802 - as http.server names it
        self.send(200, b"<!doctype html><title>something else</title>", **{"Content-Type": "text/html"})


@pytest.mark.parametrize(("handler", "said"), [(Closed, "wants a key"), (Page, "no OpenAI-compatible server")])
def test_what_answers_and_can_not_be_listed_is_told(handler: type[Handler], said: str) -> None:
    notes: Notes = []
    with serving(Speech(), handler=handler) as address:
        assert served_models(notes, [("llama-server", port_of(address))]) == []
    (note,) = notes
    assert note.startswith(address)
    assert said in note


class Ollama(Several):
    def paths(self) -> dict[str, Any]:
        coder = {"name": "qwen2.5-coder:1.5b", "size": 986_061_892, "details": {"parameter_size": "1.5B", "quantization_level": "Q4_K_M"}}
        far = {"name": "llama3:8b", "size": 384, "remote_host": "https://ollama.example", "details": {"family": "llama"}}
        return {**super().paths(), "/api/tags": lambda _: {"models": [coder, far]}}


class LMStudio(Handler):
    own: ClassVar[dict[str, object]] = {
        "/api/v1/models": {
            "models": [
                {"key": NAME, "size_bytes": 986_061_892, "params_string": "1.5B", "quantization": {"name": "Q4_K_M", "bits_per_weight": 4}}
            ]
        }
    }

    def paths(self) -> dict[str, Any]:
        error = {"error": "Unexpected endpoint or method."}
        asked: dict[str, object] = dict.fromkeys(("/props", "/info", "/api/tags", "/api/v1/models", "/api/v0/models"), error)
        return {**super().paths(), **{path: lambda _, answer=answer: answer for path, answer in {**asked, **self.own}.items()}}


class OlderLMStudio(LMStudio):
    own: ClassVar[dict[str, object]] = {"/api/v0/models": {"data": [{"id": NAME, "arch": "qwen2", "quantization": "Q4_K_M"}]}}


def facts(model: FoundModel) -> tuple[int, int, str]:
    return model.size, model.parameters, model.quantisation


def test_what_ollama_and_llama_server_know_of_their_models_is_listed() -> None:
    notes: Notes = []
    with serving(Speech(kind="openai"), handler=Ollama) as address:
        coder, far = served_models(notes, [("Ollama", port_of(address))])
    assert (coder.server_model, coder.family, coder.fills_middle) == ("qwen2.5-coder:1.5b", "qwen2.5-coder", True)
    assert facts(coder) == (986_061_892, 1_500_000_000, "Q4_K_M")
    assert (far.fills_middle, *facts(far), far.architecture) == (None, 0, 0, "", "llama")
    assert notes == [f"{address}: llama3:8b runs at https://ollama.example, so what it is shown is sent there"]

    class LlamaServer(Handler):
        def paths(self) -> dict[str, Any]:
            meta = {"n_params": 1_543_714_304, "size": 986_061_892, "ftype": "Q4_K - Medium"}
            props = {"default_generation_settings": {"n_ctx": 4096}}
            return {"/v1/models": lambda _: {"data": [{"id": "coder", "meta": meta}]}, "/props": lambda _: props}

    with serving(Speech(kind="openai"), handler=LlamaServer) as address:
        (found,) = served_models([], [("llama-server", port_of(address))])
    assert facts(found) == (986_061_892, 1_543_714_304, "Q4_K - Medium")


@pytest.mark.parametrize(("handler", "known"), [(LMStudio, (986_061_892, 1_500_000_000, "Q4_K_M")), (OlderLMStudio, (0, 0, "Q4_K_M"))])
def test_what_lm_studio_knows_of_its_models_is_listed(handler: type[Handler], known: tuple[int, int, str]) -> None:
    with serving(Speech(kind="openai"), handler=handler) as address:
        (found,) = served_models([], [("LM Studio", port_of(address))])
        assert facts(found) == known
        with open_model(address) as opened:
            assert found.fingerprint == opened.fingerprint.id


@pytest.mark.parametrize(
    "length", [{"loaded_instances": [{"id": NAME, "config": {"context_length": 300}}]}, {"loaded_context_length": 300}]
)
def test_lm_studio_completes_what_is_laid_out_here_in_the_context_that_it_loaded(length: dict[str, object]) -> None:
    entry = {"key": NAME, "id": NAME, "quantization": "Q4_K_M", **length}

    class Loaded(LMStudio):
        own: ClassVar[dict[str, object]] = {"/api/v0/models": {"data": [entry]}}

    with serving(Speech(kind="openai"), handler=Loaded) as address, open_model(address) as opened:
        assert (opened.context_length, opened.layout, opened.fingerprint.quantisation) == (300, "anchored", "Q4_K_M")
        assert opened.way == "/v1/completions of LM Studio: text, laid out for qwen2.5-coder"


@pytest.mark.parametrize(("text", "count"), [("1.5B", 1_500_000_000), ("494.03M", 494_030_000), ("8x7B", 0), (None, 0)])
def test_counts_are_read_as_the_lists_write_them(text: object, count: int) -> None:
    assert count_of(text) == count


def odd_lists(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    keys = ("name", "id", "size", "details", "quantization", "loaded_instances", "parameter_size", "remote_host")
    return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(keys), inner, max_size=4)


@given(answer=st.recursive(st.none() | st.integers() | st.text(max_size=3), odd_lists, max_leaves=12))
def test_a_list_in_another_format_tells_nothing_and_breaks_nothing(answer: object) -> None:
    class Odd:
        def get(self, _: str) -> object:
            return {"models": [answer]}

    assert isinstance(own_list(cast("Connection", Odd())), dict)


def test_a_port_that_takes_a_connection_and_gives_no_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "_SECONDS", 0.2)
    notes: Notes = []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert served_models(notes, [("llama-server", port), ("Ollama", 9)]) == []
    (note,) = notes
    assert note.startswith(f"http://127.0.0.1:{port}: what runs there, at the usual port of llama-server, gave no answer within 0.2 s")


@pytest.mark.slow
def test_without_httpx_the_rest_is_listed_and_how_to_get_it_is_told_once(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['httpx'] = None; from pathlib import Path; from assay.inference.found.find import find_models; "
        "from assay.inference.found.candidate import Machine; from assay.inference.found.servers import PORTS; "
        "found = find_models(Machine(Path(sys.argv[1])), ports=PORTS); print(len(found.models), *found.notes, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    models, note = done.stdout.splitlines()
    assert int(models) == len(find_models(Machine(tmp_path)).models)
    assert note.startswith("servers were not asked: the package of assay[remote] can't be imported")
    assert note.endswith("pip install 'httpx>=0.27'")


def test_servers_are_listed_behind_the_files(tmp_path: Path) -> None:
    with serving(Speech()) as address:
        both = find_models(Machine(tmp_path), ports=[("vLLM", port_of(address))]).models
    assert both[:-1] == find_models(Machine(tmp_path)).models
    assert both[-1].where == address

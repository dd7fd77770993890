"""Servers on this machine are asked only for what they list, at once, and those that are not there are passed over."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from assay.inference.found.find import find_models
from assay.inference.found.machine import Machine
from assay.inference.found.servers import PORTS, served_models
from assay.inference.found.walk import Notes
from assay.inference.opening import open_model

from ..completion_server import Handler, Speech, serving


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


def test_each_of_a_servers_models_is_one_with_its_name() -> None:
    with serving(Speech(), handler=Several) as address:
        found = served_models([], [("Ollama", port_of(address))])
    assert [(model.server_model, model.family, model.fills_middle) for model in found] == [
        ("qwen2.5-coder:1.5b", "qwen2.5-coder", True),
        ("llama3:8b", "", None),
    ]


@pytest.mark.parametrize(("handler", "said"), [(Closed, "wants a key"), (Page, "no OpenAI-compatible server")])
def test_what_answers_and_can_not_be_listed_is_told(handler: type[Handler], said: str) -> None:
    notes: Notes = []
    with serving(Speech(), handler=handler) as address:
        assert served_models(notes, [("llama-server", port_of(address))]) == []
    (note,) = notes
    assert note.startswith(address)
    assert said in note


def test_servers_are_listed_behind_the_files_where_they_are_asked(tmp_path: Path) -> None:
    with serving(Speech()) as address:
        files = find_models(Machine(tmp_path)).models
        both = find_models(Machine(tmp_path), ports=[("vLLM", port_of(address))]).models
    assert both[:-1] == files
    assert both[-1].where == address
    assert {port for _, port in PORTS} == {11434, 1234, 8080, 8000}

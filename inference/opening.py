"""Opening a model by what names it: a GGUF file, a folder for transformers, addresses of servers, or nothing for the embedded one.

A model that another program keeps on this machine has a name, too, such as "ollama:qwen2.5-coder:1.5b" (`found/find.py`), and one that
`assay model get` downloaded the name that it has there.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypedDict, TypeVar, Unpack, cast

from .asking.asker import Asker, Form
from .asking.template import ChatTemplate
from .asking.text import TextAsker
from .backends import SERVER, Backend, backend_of
from .completion.settings import Settings
from .embedded_model import EMBEDDED as EMBEDDED
from .embedded_model import EMBEDDED_NAME
from .errors import (
    BadServerAddress,
    ModelError,
    NoChat,
    NoModelOfThatName,
    NoServerAnswers,
    NoSuchModel,
    NotDownloaded,
    OptionDoesNotApply,
    OtherModelServed,
    ServerBusy,
    ServerTimedOut,
    ServerUnreachable,
)
from .hub.catalogue import found_entry
from .model import KVType, Model
from .prompt_size import SizeChoice, settings_for

logger = logging.getLogger(__name__)

T = TypeVar("T")


# GGML_MAX_N_THREADS in ggml.h: with more, the process of the model ends.
MAX_THREADS = 512


class ModelOptions(TypedDict, total=False):
    """How a model is run. What is left out is chosen by the backend; `Backend.options` says which backend takes which.

    n_ctx: tokens of context
    threads: of the CPU; "auto" for as many as are fastest at the moment
    gpu_layers: how many layers to offload
    kv_type: number format of the cache; q8_0 and q4_0 change the answers, and so the fingerprint
    flash_attention: whether to use it; left out, or None, where the runtime chooses
    chunk: tokens of a prompt that are decoded at once
    device, dtype: torch's names
    server_model: which of a server's models
    key_files: files with servers' keys, by the servers' addresses, of which the origin counts. "" stands for the server that is named
        first, of which the environment's ASSAY_API_KEY is the key where no file is named; an empty file's name for no key at all.
    """

    n_ctx: int
    threads: int | Literal["auto"]
    gpu_layers: int | Literal["auto"]
    kv_type: KVType
    flash_attention: bool | None
    chunk: int
    device: str
    dtype: str
    server_model: str
    key_files: Mapping[str, str]


# As the command line spells them. An editor's settings are the same words in camel case.
FLAGS: Mapping[str, str] = {
    "n_ctx": "--context",
    "threads": "--threads",
    "gpu_layers": "--gpu-layers",
    "kv_type": "--kv-cache",
    "flash_attention": "--flash-attention",
    "chunk": "--chunk",
    "device": "--device",
    "dtype": "--dtype",
    "server_model": "--server-model",
    "key_files": "--key-file",
}


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that is not open yet: where it is (None: the embedded one), how it is to be run, and how much it is shown.

    Several servers of one model are their addresses with commas between them.
    """

    where: str | None = None
    options: ModelOptions = field(default_factory=ModelOptions)
    prompt_size: SizeChoice = "auto"

    @property
    def backend(self) -> Backend:
        """What runs it."""
        return backend_of(self.located)

    @property
    def located(self) -> str | Path:
        """The file, the folder or the addresses; a name that names nothing as it is, so that it is refused when it is opened."""
        try:
            return _located(self.where)
        except (ModelError, OSError):
            return str(self.where)

    @property
    def is_local(self) -> bool:
        """Whether it is a file or a folder of this machine. Unlike `backend` it looks at no file."""
        return self.where is None or not SERVER.recognises(self.where)

    @property
    def servers(self) -> tuple[str, ...]:
        """The addresses of the servers that share the calls, each once; none for a model of this machine. Raises BadServerAddress."""
        return _servers(self.where)

    @property
    def arguments(self) -> list[str]:
        """What names it on the command line, options included: nothing for the embedded model as it is."""
        named = [] if self.where is None else ["--model", self.where]
        named += [] if self.prompt_size == "auto" else ["--prompt-size", self.prompt_size]
        return [*named, *(part for name, value in self.itself.options.items() for said in _spelled(value) for part in (FLAGS[name], said))]

    def at(self, server: str) -> ModelChoice:
        """The same model at one of its servers, with that server's key."""
        first = not self.servers or _same_origin(server, self.servers[0])
        return replace(self, where=server, options={**self.options, **({} if first else _own_keys(server, self.options))})

    @property
    def itself(self) -> ModelChoice:
        """The same without keys where it is of this machine: they are then those of servers that are named beside it."""
        own = cast("ModelOptions", {name: value for name, value in self.options.items() if name != "key_files"})
        return replace(self, options=own) if self.is_local else self

    def beside(self, server: str) -> ModelChoice:
        """A server that is named behind the model, such as that of an instruct model.

        It has a key of its own, or none: what stands for the first server is its only where the model is of this machine.
        """
        keys: ModelOptions = {"key_files": self.options["key_files"]} if "key_files" in self.options else {}
        first = self.is_local or _same_origin(server, self.servers[0])
        return ModelChoice(server, keys if first else _own_keys(server, keys))

    def open(self) -> Model:
        """Open it. Raises what `open_model` raises."""
        return open_model(self.where, **self.options)

    def settings_for(self, model: Model) -> Settings:
        """What the model, opened, is shown and may write."""
        return settings_for(model, self.prompt_size)

    def on_one_thread(self) -> ModelChoice:
        """The same model with one thread where its backend has that option, for a process that shares the machine with others."""
        return replace(self, options={**self.options, "threads": 1}) if "threads" in self.backend.options else self


def open_model(where: str | Path | None = None, **options: Unpack[ModelOptions]) -> Model:
    """The model that `where` names, opened; the embedded one where nothing is named, and of several servers the first that answers.

    Raises ModelError, such as OptionDoesNotApply where the model's backend does not take one of the options.
    """
    located = _located(where)
    backend = backend_of(located)
    options = cast("ModelOptions", {name: value for name, value in options.items() if value is not None})
    if wrong := sorted(options.keys() - backend.options):
        raise OptionDoesNotApply(FLAGS[wrong[0]], str(located), backend.name, [FLAGS[name] for name in backend.options])
    if located == EMBEDDED and not EMBEDDED.is_file():
        raise NoSuchModel(
            EMBEDDED, "The package was installed without its embedded model: name a model of your own, or install Assay again."
        )
    choice = ModelChoice(None if where is None else str(where), options)
    if servers := choice.servers:
        return _first_that_answers(servers, lambda server: backend.open(server, choice.at(server).options))
    return backend.open(located, options)


def open_asker(choice: ModelChoice, form: Form | None = None) -> Asker:
    """Open a model to ask it in words; of several servers the first that answers.

    form: "chat" or "text". None is chat for a model with a chat template (of a server: one that has the endpoint), and else text. (A
    llama-server stands a template in for a model that has none. Such a one is asked in text unless form says "chat".)

    Raises what `ModelChoice.open` raises; NoChat where form is "chat" and the model can't be asked so, or its template fails;
    OptionDoesNotApply for a context length, which a server's chat has from the server.
    """
    if servers := choice.servers:
        return _first_that_answers(servers, lambda server: _server_asker(choice.at(server), server, form))
    return local_asker(choice, choice.open(), form)


def local_asker(choice: ModelChoice, model: Model, form: Form | None = None) -> Asker:
    """Ask a model that is open in this process, by its own chat template or in text; it is closed with the asker.

    Raises as `open_asker`; the model is then closed.
    """
    where = choice.where or "the embedded model"
    with contextlib.ExitStack() as unless_asked:
        unless_asked.callback(model.close)
        chat = None if form == "text" else model.chat_format
        template = None if chat is None else template_of(model, where)
        why_not = "it has no chat template" if chat is None else "its chat template leaves out what the user asks"
        if template is None and form == "chat":
            raise NoChat(where, why_not)
        if template is None and chat is not None:
            _tell_once(f"{where}: {why_not}, so it is asked in plain text.")
        unless_asked.pop_all()
    return TextAsker(model, template)


def template_of(model: Model, where: str) -> ChatTemplate | None:
    """The template by which a model of this process is asked in chat, to be closed; None where it has none that asks.

    where: the model's name, for messages. Raises NoChat where its template fails.
    """
    if model.chat_format is None:
        return None
    template = ChatTemplate(model.chat_format, where)
    with contextlib.ExitStack() as unless_it_asks:
        unless_it_asks.callback(template.close)
        if template.asks:
            unless_it_asks.pop_all()
            return template
    return None


def require_same_model(asker: Asker, where: str, first: Asker, first_where: str) -> None:
    """Refuse a server that is to share calls with another and serves another model, or the same in another form.

    Raises OtherModelServed.
    """
    found, expected = (f"{one.name} ({one.fingerprint.id}, in {one.form})" for one in (asker, first))
    if found != expected:
        raise OtherModelServed(where, found, first_where, expected)


def _server_asker(choice: ModelChoice, server: str, form: Form | None) -> Asker:
    if form == "text":
        return TextAsker(choice.open())
    from .asking.chat import ChatAsker
    from .remote.address import find_key

    try:
        key = find_key(server, choice.options.get("key_files", {}))
        asker = ChatAsker(server, model=choice.options.get("server_model"), key=key)
    except NoChat:
        if form == "chat":
            raise
        return TextAsker(choice.open())
    if form is None and not asker.has_template:
        asker.close()
        return TextAsker(choice.open())
    if "n_ctx" in choice.options:
        asker.close()
        raise OptionDoesNotApply(FLAGS["n_ctx"], server, "a server's chat", [FLAGS["server_model"], FLAGS["key_files"]])
    for warning in asker.warnings:
        logger.warning("assay: %s", warning)
    return asker


def _own_keys(server: str, options: ModelOptions) -> ModelOptions:
    """The keys for a server that is not the first: its own, and none that stands for the first. It is told where that is one."""
    from .remote.address import KEY_VARIABLE, key_file_of

    named = {address: file for address, file in options.get("key_files", {}).items() if address}
    if os.environ.get(KEY_VARIABLE) and key_file_of(server, named) is None:
        _tell_once(
            f"{server} gets no key: that of {KEY_VARIABLE} goes to the first server alone. Name its own with --key-file {server}=FILE."
        )
    return {"key_files": {**named, "": ""}}


@functools.cache
def _tell_once(sentence: str) -> None:
    logger.warning("assay: %s", sentence)


def _same_origin(one: str, other: str) -> bool:
    from .remote.address import origin

    return origin(one) == origin(other)


def _spelled(value: object) -> list[str]:
    """An option's value, or several, as the command line takes them."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [f"{address}={file}" if address else str(file) for address, file in value.items() if file]
    return [("on" if value else "off") if isinstance(value, bool) else str(value)]


def _servers(where: str | Path | None) -> tuple[str, ...]:
    if where is None or backend_of(where) is not SERVER:
        return ()
    from .remote.address import server_address

    parts = [part.strip() for part in str(where).split(",")]
    if not all(parts):
        raise BadServerAddress(str(where), "an address is missing beside a comma")
    return tuple(dict.fromkeys(server_address(part) for part in parts))


def _first_that_answers(servers: tuple[str, ...], open_one: Callable[[str], T]) -> T:
    """What the first server that is there gives. Raises NoServerAnswers for several that aren't, and at once whatever else is wrong."""
    failed: list[ModelError] = []
    for server in servers:
        try:
            return open_one(server)
        except (ServerUnreachable, ServerTimedOut, ServerBusy) as error:
            failed.append(error)
    raise failed[0] if len(failed) == 1 else NoServerAnswers("".join(f"\n- {error}" for error in failed))


def _located(where: str | Path | None) -> str | Path:
    """Where a model is. A path goes before a name. Raises NotDownloaded, and what `named_path` and `gguf_in` raise."""
    if where is None:
        return EMBEDDED
    if backend_of(where) is SERVER:
        return where
    entry, exists = found_entry(str(where)), Path(where).exists()
    if exists and (where == EMBEDDED_NAME or (entry is not None and where == entry.name)):
        _tell_once(f"{where}: {Path(where).absolute()} is used, not the model of that name, because a path goes before a name.")
    if where == EMBEDDED_NAME and not exists:
        return EMBEDDED
    if isinstance(where, str) and not exists:
        from .found.find import named_path

        try:
            where = named_path(entry.model if entry else where) or where
        except NoModelOfThatName as error:
            if entry is None:
                raise
            raise NotDownloaded(entry.name) from error
    if Path(where).is_dir():
        from .found.gguf_files import gguf_in

        return gguf_in(Path(where)) or where
    return where

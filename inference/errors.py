"""The errors of models. Every message says where, what is wrong, and what to do.

What a caller can tell apart is a class. Most are a row of words alone, whose gaps are filled in order: the class is called with what fills
them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal


class ModelError(Exception):
    """Anything that keeps a model from answering. The message is for the user."""


def _kind(name: str, words: str, base: type[ModelError] = ModelError) -> type[ModelError]:
    def fill(self: ModelError, *gaps: object) -> None:
        ModelError.__init__(self, words.format(*gaps))

    return type(name, (base,), {"__init__": fill, "__module__": __name__, "__doc__": words})


# Files: the first gap is the path, or a name.
NoSuchModel = _kind("NoSuchModel", "{}: no such model file. {}")
NotDownloaded = _kind("NotDownloaded", "{0}: not on this machine yet. Download it: assay model get {0}")
# What keeps a model of a name from being opened, known before it is read.
UnusableModel = _kind("UnusableModel", "{}: {}.")
UnreadableModel = _kind("UnreadableModel", "{}: the model can't be read ({}). Check the file's permissions and the disk.")
NotAGGUF = _kind("NotAGGUF", "{}: not a GGUF file of version 2 or 3 ({}). Give a model in GGUF format, or convert it with llama.cpp.")
NotTheModel = _kind("NotTheModel", "{}: this is {}, not a model. {}")
# The size, what its header announces, and of what.
TruncatedModel = _kind(
    "TruncatedModel", "{0}: cut short: {3} would end at byte {2:,}, the file has {1:,} bytes. Download or copy it again."
)
DamagedModel = _kind("DamagedModel", "{}: damaged: {}. Download or copy it again.")
SplitModel = _kind("SplitModel", "{}: one of {} files of a model, and {}.")
# The metadata's key for the layout of fill-in-the-middle prompts, its value, and the known ones.
UnknownLayout = _kind("UnknownLayout", "{}: {} is {!r}, Assay knows {}. Update Assay, or write the file with one of these.")
CacheNotPossible = _kind("CacheNotPossible", "{}: a cache of {} is not possible here ({}). Use f16 or f32.")
OutOfMemory = _kind("OutOfMemory", "{}: not enough memory ({}). Use a smaller context, fewer layers on the GPU, or a smaller model.")
ModelClosed = _kind("ModelClosed", "{}: the model is closed. Open it again to use it.")
NotAModelFolder = _kind("NotAModelFolder", "{}: not a folder of a transformers model ({}). {}")
MissingFile = _kind("MissingFile", "{}: missing: {}. {}")
UnsafeWeights = _kind(
    "UnsafeWeights",
    "{}: the weights are pickled ({}), and reading such a file runs any code in it. If you trust its source, "
    "convert it: AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(NEW_FOLDER), then copy the tokenizer's files over.",
)
RemoteCode = _kind(
    "RemoteCode",
    '{}: the architecture "{}" is not in the installed transformers, only in Python files that came with the model, '
    "and these are never run. Choose a model that transformers knows, or a GGUF file of this one.",
)
UnsupportedTokenizer = _kind(
    "UnsupportedTokenizer", "{}: {}. Assay reads byte-level tokenizers (as GPT-2's) and SentencePiece with byte fallback."
)
NoSuchDevice = _kind("NoSuchDevice", 'device "{}" can\'t be used ({}). Use "cpu", or install a build of torch for the device.')
NoSuchDtype = _kind("NoSuchDtype", 'dtype "{}" is unknown. Use "auto" or one of {}.')
BadPromptFile = _kind("BadPromptFile", "{}:{}: {}. A prompt file begins with assay/prompt/1 and version: N, then come its messages.")

# Tokens: how many, how many there may be, and of what.
ContextTooLong = _kind(
    "ContextTooLong",
    "{2} needs {0:,} tokens, the model's context holds {1:,}. Ask for less, or open the model with a larger context if it has one.",
)

# Servers: the first gap is the address, but of `Unavailable`, which is what, where and what to do.
Unavailable = _kind("Unavailable", "{1} gives no {0}. {2}")
BadServerAddress = _kind("BadServerAddress", "{}: {}. Give the server's address as http://HOST:PORT or https://HOST.")
UnreadableKey = _kind("UnreadableKey", "{}: {}. The file holds the server's key and nothing else, in one line.")
# There was no connection, or it broke before a byte of the answer came.
ServerUnreachable = _kind("ServerUnreachable", "{}: can't be reached ({}). Check the address, the network, and that the server runs.")
ServerTimedOut = _kind("ServerTimedOut", "{}: {} within {:g} s. Wait until the server is less busy, or open it with a longer time.")
NotACompletionServer = _kind(
    "NotACompletionServer", "{}: no OpenAI-compatible server of completions ({}). Check the address and the port; /v1 may be left out."
)
NoSuchEndpoint = _kind("NoSuchEndpoint", "{}: has no {} ({}). Check the address, or use a server that has it.")
RequestRefused = _kind("RequestRefused", "{}: {} answered HTTP {}: {}. The server's log may say more.")
# HTTP 500 and above, which says nothing of whether the request was right.
ServerFailed = _kind("ServerFailed", "{}: {} answered HTTP {}: {}. The server's log may say more.", RequestRefused)
BadAnswer = _kind("BadAnswer", "{}: {} answered with {}. Check the server's version, and any proxy in between.")
# The connection broke, or the stream ended, in the middle of an answer.
AnswerCutOff = _kind("AnswerCutOff", "{}: the answer of {} was cut off ({}). The server may have stopped or restarted: ask again.")
OtherModelServed = _kind(
    "OtherModelServed",
    "{}: serves {}, and {} serves {}. Servers that share the calls need the same model, under the same name and started alike.",
)
# Of several servers, one line for each.
NoServerAnswers = _kind("NoServerAnswers", "no server answers:{}")
NoChat = _kind("NoChat", "{}: can't be asked in chat ({}). Take a model that has a chat template, or ask in plain text (--ask text).")


class ServerBusy(ModelError):
    """The server asked to come back later, at every retry.

    after: in how many seconds, 0 where it did not say.
    """

    def __init__(self, where: str, status: int, message: str, after: float = 0.0) -> None:
        self.after = after
        super().__init__(
            f"{where}: busy or still loading (HTTP {status}: {message}). Try again later, or let the server take more requests at once."
        )


# What keeps a server from answering although nothing is wrong with what it was asked.
SERVER_FAILURES = (ServerUnreachable, ServerTimedOut, ServerBusy, ServerFailed, BadAnswer, AnswerCutOff)


class AccessRefused(ModelError):
    """The server wants a key, or another one."""

    def __init__(self, where: str, status: int, key_given: bool) -> None:
        what = "refuses the key that was sent" if key_given else "wants a key, and none was given"
        super().__init__(
            f"{where}: {what} (HTTP {status}). Put its key into a file and name that: --key-file {where}=FILE (in an editor: "
            "assay.modelOptions.keyFile). The environment variable ASSAY_API_KEY is the key of the first server that is named, and of no "
            "other."
        )


class NoSuchServedModel(ModelError):
    """The server has no model of that name, or several and none was named."""

    def __init__(self, where: str, name: str | None, there: list[str]) -> None:
        what = f'no model "{name}"' if name is not None else "several models are there" if there else "no model is there"
        names = f" Name one with --server-model (in an editor: assay.modelOptions.serverModel): {', '.join(there)}." if there else ""
        super().__init__(f"{where}: {what}.{names}")


class PackageMissing(ModelError):
    """Packages can't be imported, those of Assay's optional ones or what it can't run a model without. wanted: as pip is given them."""

    def __init__(self, what: str, reason: ImportError | OSError | RuntimeError, *wanted: str) -> None:
        super().__init__(pip_advice(what, reason, *wanted))


def pip_advice(what: str, reason: object, *wanted: str) -> str:
    """That something can't be imported, and the command that installs it."""
    packages = " ".join(f"'{each}'" for each in wanted)
    them = "it" if len(wanted) == 1 else "them"
    return f"{what} can't be imported ({reason}). Install {them} with: {sys.executable} -m pip install {packages}"


class DownloadFailed(ModelError):
    """A model of the catalogue could not be had."""


# Said where a download stops in its middle.
KEPT = "What has come is kept: the same command goes on from there."


class NoModelOfThatName(ModelError):
    """No model of a place has the name. near: the names most like it; notes: what could not be looked at."""

    def __init__(self, name: str, place: str, near: Sequence[str], notes: Sequence[str]) -> None:
        there = f"{place} has no such model. There are: {', '.join(near)}." if near else f"{place} has no model on this machine."
        beside = f" (Not looked at: {'; '.join(notes)}.)" if notes else ""
        super().__init__(f"{name}: {there} assay model list shows all.{beside}")


class AmbiguousModelName(ModelError):
    """Several models have the name."""

    def __init__(self, name: str, paths: Sequence[Path]) -> None:
        super().__init__(f"{name}: names {len(paths)} models. Give the path of one: {', '.join(map(str, paths))}.")


class NotReplayable(ModelError):
    """A given text that the model could not have written where it is asked about."""

    def __init__(self, text: str, reason: str) -> None:
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        super().__init__(f"the text {shown!r} can't be replayed: {reason}. Leave it out, or ask about it with another kind of text.")


# What runs models in this process, and what is updated for another version of it.
Runtime = Literal["llama.cpp", "transformers"]
_PACKAGES: dict[Runtime, str] = {"llama.cpp": "llama-cpp-python", "transformers": "transformers"}


class UnsupportedArchitecture(ModelError):
    """A sound model that the runtime can't generate text from."""

    def __init__(self, path: Path, what: str, runtime: Runtime = "llama.cpp") -> None:
        super().__init__(
            f"{path}: {what}. Choose a text-generating model that the installed {runtime} knows, or update {_PACKAGES[runtime]}."
        )


class LoadFailed(ModelError):
    """The runtime refused the model for a reason that has no class of its own."""

    def __init__(self, path: Path, runtime: Runtime, reason: str) -> None:
        super().__init__(
            f"{path}: {runtime} can't load the model: {reason or 'it gave no reason'}. Check that all of it is there, and that "
            f"{_PACKAGES[runtime]} is up to date."
        )


class ComputationFailed(ModelError):
    """The runtime failed while it computed."""

    def __init__(self, path: Path, runtime: Runtime, detail: str) -> None:
        how = {"llama.cpp": "without the GPU, or try another file", "transformers": "with --dtype float32"}[runtime]
        super().__init__(f"{path}: {runtime} failed while computing: {detail}. Open the model again. If it happens again, try it {how}.")


class OptionDoesNotApply(ModelError):
    """An option was given for a model that another backend runs."""

    def __init__(self, option: str, where: str, backend: str, known: Iterable[str]) -> None:
        super().__init__(f"{option} does not apply to {where}, which is run by {backend}. Its options are {', '.join(sorted(known))}.")

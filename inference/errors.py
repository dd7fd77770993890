"""The errors of models, one class each. Every message says where, what is wrong, and what to do."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal


class ModelError(Exception):
    """Anything that keeps a model from answering. The message is for the user."""


class PackageMissing(ModelError):
    """Packages can't be imported, those of Assay's optional ones or what it can't run a model without. wanted: as pip is given them."""

    def __init__(self, what: str, reason: ImportError | OSError | RuntimeError, *wanted: str) -> None:
        super().__init__(pip_advice(what, reason, *wanted))


def pip_advice(what: str, reason: object, *wanted: str) -> str:
    """That something can't be imported, and the command that installs it."""
    packages = " ".join(f"'{each}'" for each in wanted)
    them = "it" if len(wanted) == 1 else "them"
    return f"{what} can't be imported ({reason}). Install {them} with: {sys.executable} -m pip install {packages}"


class NoSuchModel(ModelError):
    """There is no file at the model's path."""

    def __init__(self, path: Path, advice: str = "Check the path; a model is one .gguf file.") -> None:
        super().__init__(f"{path}: no such model file. {advice}")


class NoModelOfThatName(ModelError):
    """No model of a place has the name. near: the names most like it; notes: what could not be looked at."""

    def __init__(self, name: str, place: str, near: Sequence[str], notes: Sequence[str]) -> None:
        there = f"{place} has no such model. There are: {', '.join(near)}." if near else f"{place} has no model on this machine."
        beside = f" (Not looked at: {'; '.join(notes)}.)" if notes else ""
        super().__init__(f"{name}: {there} assay model list shows all.{beside}")


class NotDownloaded(ModelError):
    """The name is one of the catalogue's, and its model is not on this machine."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}: not on this machine yet. Download it: assay model get {name}")


class AmbiguousModelName(ModelError):
    """Several models have the name."""

    def __init__(self, name: str, paths: Sequence[Path]) -> None:
        super().__init__(f"{name}: names {len(paths)} models. Give the path of one: {', '.join(map(str, paths))}.")


class UnusableModel(ModelError):
    """The model of a name can't be opened, which is known before it is read."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}.")


class UnreadableModel(ModelError):
    """The operating system refuses to read the file."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: the model can't be read ({reason}). Check the file's permissions and the disk.")


class NotAGGUF(ModelError):
    """The file is something else, or a GGUF of a version that llama.cpp no longer reads."""

    def __init__(self, path: Path, found: str) -> None:
        super().__init__(f"{path}: not a GGUF file of version 2 or 3 ({found}). Give a model in GGUF format, or convert it with llama.cpp.")


class NotTheModel(ModelError):
    """The file is something else, which is known: found says what."""

    def __init__(self, path: Path, found: str, advice: str) -> None:
        super().__init__(f"{path}: this is {found}, not a model. {advice}")


class TruncatedModel(ModelError):
    """The file ends before what its header announces."""

    def __init__(self, path: Path, size: int, needed: int, what: str) -> None:
        super().__init__(f"{path}: cut short: {what} would end at byte {needed:,}, the file has {size:,} bytes. Download or copy it again.")


class DamagedModel(ModelError):
    """The header contradicts itself or the format."""

    def __init__(self, path: Path, where: str) -> None:
        super().__init__(f"{path}: damaged: {where}. Download or copy it again.")


class SplitModel(ModelError):
    """One of several files that are a model together, of which not all are found. what: why, and what to do."""

    def __init__(self, path: Path, files: int, what: str) -> None:
        super().__init__(f"{path}: one of {files} files of a model, and {what}.")


class ContextTooLong(ModelError):
    """More tokens than the model's context holds."""

    def __init__(self, needed: int, length: int, what: str) -> None:
        super().__init__(
            f"{what} needs {needed:,} tokens, the model's context holds {length:,}. "
            "Ask for less, or open the model with a larger context if it has one."
        )


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


class OutOfMemory(ModelError):
    """The weights or the cache do not fit into memory."""

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(f"{path}: not enough memory ({detail}). Use a smaller context, fewer layers on the GPU, or a smaller model.")


class ModelClosed(ModelError):
    """The model, or the connection to its server, is closed already."""

    def __init__(self, where: Path | str) -> None:
        super().__init__(f"{where}: the model is closed. Open it again to use it.")


class Unavailable(ModelError):
    """The model's server can't give what was asked."""

    def __init__(self, what: str, where: str, advice: str) -> None:
        super().__init__(f"{where} gives no {what}. {advice}")


class OptionDoesNotApply(ModelError):
    """An option was given for a model that another backend runs."""

    def __init__(self, option: str, where: str, backend: str, known: Iterable[str]) -> None:
        super().__init__(f"{option} does not apply to {where}, which is run by {backend}. Its options are {', '.join(sorted(known))}.")


class UnknownLayout(ModelError):
    """The metadata ask for a layout of fill-in-the-middle prompts that Assay does not know."""

    def __init__(self, path: Path, key: str, value: object, known: str) -> None:
        super().__init__(f"{path}: {key} is {value!r}, Assay knows {known}. Update Assay, or write the file with one of these.")


class BadServerAddress(ModelError):
    """The address is not that of a server."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"{address}: {reason}. Give the server's address as http://HOST:PORT or https://HOST.")


class UnreadableKey(ModelError):
    """The file with the server's key can't be used."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}. The file holds the server's key and nothing else, in one line.")


class ServerUnreachable(ModelError):
    """There was no connection, or it broke before a byte of the answer came."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: can't be reached ({reason}). Check the address, the network, and that the server runs.")


class ServerTimedOut(ModelError):
    """The server said nothing for too long."""

    def __init__(self, where: str, what: str, seconds: float) -> None:
        super().__init__(f"{where}: {what} within {seconds:g} s. Wait until the server is less busy, or open it with a longer time.")


class ServerBusy(ModelError):
    """The server asked to come back later, at every retry.

    after: in how many seconds, 0 where it did not say.
    """

    def __init__(self, where: str, status: int, message: str, after: float = 0.0) -> None:
        self.after = after
        super().__init__(
            f"{where}: busy or still loading (HTTP {status}: {message}). Try again later, or let the server take more requests at once."
        )


class NotACompletionServer(ModelError):
    """Something answers there, but not as a server of completions does."""

    def __init__(self, where: str, found: str) -> None:
        super().__init__(
            f"{where}: no OpenAI-compatible server of completions ({found}). Check the address and the port; /v1 may be left out."
        )


class AccessRefused(ModelError):
    """The server wants a key, or another one."""

    def __init__(self, where: str, status: int, key_given: bool) -> None:
        what = "refuses the key that was sent" if key_given else "wants a key, and none was given"
        super().__init__(
            f"{where}: {what} (HTTP {status}). Put its key into a file and name that: --key-file {where}=FILE (in an editor: "
            "assay.modelOptions.keyFile). The environment variable ASSAY_API_KEY is the key of the first server that is named, and of no "
            "other."
        )


class NoSuchEndpoint(ModelError):
    """The server does not know the path that was asked."""

    def __init__(self, where: str, path: str, message: str) -> None:
        super().__init__(f"{where}: has no {path} ({message}). Check the address, or use a server that has it.")


class NoSuchServedModel(ModelError):
    """The server has no model of that name, or several and none was named."""

    def __init__(self, where: str, name: str | None, there: list[str]) -> None:
        what = f'no model "{name}"' if name is not None else "several models are there" if there else "no model is there"
        names = f" Name one with --server-model (in an editor: assay.modelOptions.serverModel): {', '.join(there)}." if there else ""
        super().__init__(f"{where}: {what}.{names}")


class RequestRefused(ModelError):
    """The server understood the request and refused it."""

    def __init__(self, where: str, path: str, status: int, message: str) -> None:
        super().__init__(f"{where}: {path} answered HTTP {status}: {message}. The server's log may say more.")


class ServerFailed(RequestRefused):
    """The server failed on the request (HTTP 500 and above), which says nothing of whether the request was right."""


class BadAnswer(ModelError):
    """The server's answer is not what its interface promises."""

    def __init__(self, where: str, path: str, what: str) -> None:
        super().__init__(f"{where}: {path} answered with {what}. Check the server's version, and any proxy in between.")


class AnswerCutOff(ModelError):
    """The connection broke, or the stream ended, in the middle of an answer."""

    def __init__(self, where: str, path: str, reason: str) -> None:
        super().__init__(f"{where}: the answer of {path} was cut off ({reason}). The server may have stopped or restarted: ask again.")


# What keeps a server from answering although nothing is wrong with what it was asked.
SERVER_FAILURES = (ServerUnreachable, ServerTimedOut, ServerBusy, ServerFailed, BadAnswer, AnswerCutOff)


class NoServerAnswers(ModelError):
    """None of several servers could be opened. reasons: one for each, which names it."""

    def __init__(self, reasons: Iterable[ModelError]) -> None:
        super().__init__("no server answers:" + "".join(f"\n- {reason}" for reason in reasons))


class OtherModelServed(ModelError):
    """Servers that are to share the calls serve different models."""

    def __init__(self, where: str, found: str, first: str, expected: str) -> None:
        super().__init__(
            f"{where}: serves {found}, and {first} serves {expected}. Servers that share the calls need the same model, "
            "under the same name and started alike."
        )


class NoChat(ModelError):
    """The model can't be asked by chat messages."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(
            f"{where}: can't be asked in chat ({reason}). Take a model that has a chat template, or ask in plain text (--ask text)."
        )


class BadPromptFile(ModelError):
    """A file of a prompt can't be read as one."""

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(f"{path}:{line}: {what}. A prompt file begins with assay/prompt/1 and version: N, then come its messages.")


class NotAModelFolder(ModelError):
    """The folder does not hold a model that transformers can load."""

    def __init__(self, path: Path, found: str, advice: str) -> None:
        super().__init__(f"{path}: not a folder of a transformers model ({found}). {advice}")


class MissingFile(ModelError):
    """A file that the model needs is not in its folder."""

    def __init__(self, path: Path, what: str, advice: str = "Download or copy the folder again, all files of it.") -> None:
        super().__init__(f"{path}: missing: {what}. {advice}")


class UnsafeWeights(ModelError):
    """Weights in a format that can run code when it is read."""

    def __init__(self, path: Path, found: str) -> None:
        super().__init__(
            f"{path}: the weights are pickled ({found}), and reading such a file runs any code in it. If you trust its source, "
            "convert it: AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(NEW_FOLDER), then copy the tokenizer's files over."
        )


class RemoteCode(ModelError):
    """The model needs Python code that came with it, which Assay never runs."""

    def __init__(self, path: Path, model_type: str) -> None:
        super().__init__(
            f'{path}: the architecture "{model_type}" is not in the installed transformers, only in Python files that came with the model, '
            "and these are never run. Choose a model that transformers knows, or a GGUF file of this one."
        )


class UnsupportedTokenizer(ModelError):
    """A tokenizer whose tokens can't be read as bytes."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path}: {what}. Assay reads byte-level tokenizers (as GPT-2's) and SentencePiece with byte fallback.")


class NoSuchDevice(ModelError):
    """torch can't use the device that was asked for."""

    def __init__(self, device: str, reason: str) -> None:
        super().__init__(f'device "{device}" can\'t be used ({reason}). Use "cpu", or install a build of torch for the device.')


class CacheNotPossible(ModelError):
    """Keys and values can't be cached in the number format that was asked for."""

    def __init__(self, path: Path, kv_type: str, reason: str) -> None:
        super().__init__(f"{path}: a cache of {kv_type} is not possible here ({reason}). Use f16 or f32.")


class NoSuchDtype(ModelError):
    """No model can be run in a number format of this name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f'dtype "{name}" is unknown. Use "auto" or one of {", ".join(known)}.')

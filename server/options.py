"""What an editor may set in `initializationOptions`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

from ..inference.completion import Kind
from ..inference.llama_session import KVType
from ..inference.opening import ModelChoice, ModelOptions, backend_of

Event = Literal["exact_match", "tests_pass", "kept"]

_KNOWN = ("model", "modelOptions", "event", "kind", "diagnostics")


class OptionError(ValueError):
    """An option has a value that it can't have; the message names it and what it can be."""


@dataclass(frozen=True, slots=True)
class Options:
    """What was set, and the defaults for the rest.

    model: a GGUF file, a folder or a server's address, None for the one named on the command line or else the embedded one;
    model_options: how it is run, each in place of the command line's; event: what the probability is about; kind: what is suggested;
    diagnostics: whether `assay/status` tells how late the event loop was; unknown: names that are no option.
    """

    model: str | None = None
    model_options: ModelOptions = field(default_factory=ModelOptions)
    event: Event = "exact_match"
    kind: Kind = "line"
    diagnostics: bool = False
    unknown: tuple[str, ...] = field(default=())

    def model_or(self, default: ModelChoice) -> ModelChoice:
        """The model to open. The default's options are for the default's model: they do not follow another."""
        if self.model is not None:
            return ModelChoice(self.model, self.model_options)
        return ModelChoice(default.where, {**default.options, **self.model_options})


def parse_options(value: Any) -> Options:
    """The options in `initializationOptions`; null gives the defaults. Raises OptionError. Unknown names are kept for a warning."""
    if value is None:
        return Options()
    if not isinstance(value, dict):
        raise OptionError(f"initializationOptions is an object, not {value!r}")
    model = value.get("model")
    if model is not None and not (isinstance(model, str) and model):
        raise OptionError(f"initializationOptions.model is a .gguf file, a folder, a server's address or null, not {model!r}")
    if model is not None and backend_of(model) != "server":
        model = _at_home(model, "model")
    diagnostics = value.get("diagnostics", False)
    if not isinstance(diagnostics, bool):
        raise OptionError(f"initializationOptions.diagnostics is true or false, not {diagnostics!r}")
    return Options(
        model=model,
        model_options=_model_options(value.get("modelOptions", {})),
        event=_one_of(value, "event", "exact_match", get_args(Event)),
        kind=_one_of(value, "kind", "line", get_args(Kind)),
        diagnostics=diagnostics,
        unknown=tuple(name for name in value if name not in _KNOWN),
    )


def unknown_options_message(names: tuple[str, ...]) -> str:
    """What to tell the user about names that are no option."""
    return f"Assay does not know these options and goes on without them: {', '.join(names)}. It knows {', '.join(_KNOWN)}."


def _model_options(value: Any) -> ModelOptions:
    if not isinstance(value, dict):
        raise OptionError(f"initializationOptions.modelOptions is an object, not {value!r}")
    options: dict[str, Any] = {}
    for name, given in value.items():
        if name not in _MODEL_OPTIONS:
            raise OptionError(f"initializationOptions.modelOptions has no {name!r}. It has {', '.join(_MODEL_OPTIONS)}.")
        option, is_right, expected = _MODEL_OPTIONS[name]
        if not is_right(given):
            raise OptionError(f"initializationOptions.modelOptions.{name} is {expected}, not {given!r}")
        options[option] = _at_home(given, f"modelOptions.{name}") if name == "keyFile" else given
    return cast(ModelOptions, options)


def _at_home(path: str, name: str) -> str:
    try:
        return str(Path(path).expanduser())
    except RuntimeError as error:
        raise OptionError(f"initializationOptions.{name} is {path!r}, and there is no such home folder: give the whole path") from error


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_layers(value: Any) -> bool:
    return value in ("auto", 0) or _is_count(value)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


# The editor's name, the option of inference/opening.py, what it may be, and that in words.
_MODEL_OPTIONS: dict[str, tuple[str, Callable[[Any], bool], str]] = {
    "context": ("n_ctx", _is_count, "a number of tokens, at least 1"),
    "threads": ("threads", _is_count, "a number of threads, at least 1"),
    "gpuLayers": ("gpu_layers", _is_layers, 'a number of layers or "auto"'),
    "kvCache": ("kv_type", lambda value: value in get_args(KVType), f"one of {', '.join(get_args(KVType))}"),
    "flashAttention": ("flash_attention", lambda value: isinstance(value, bool), "true or false"),
    "chunk": ("chunk", _is_count, "a number of tokens, at least 1"),
    "shift": ("shift_tokens", _is_count, "a number of tokens, at least 1"),
    "device": ("device", _is_name, "a device of torch, such as cuda"),
    "dtype": ("dtype", _is_name, "a type of torch, such as bfloat16"),
    "serverModel": ("server_model", _is_name, "the name of a model"),
    "keyFile": ("key_file", _is_name, "the path of a file"),
}


def _one_of(value: dict[str, Any], name: str, default: str, allowed: tuple[str, ...]) -> Any:
    chosen = value.get(name, default)
    if chosen not in allowed:
        raise OptionError(f"initializationOptions.{name} is one of {', '.join(allowed)}, not {chosen!r}")
    return chosen

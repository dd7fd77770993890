"""What an editor may set in `initializationOptions`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from ..inference.completion import Kind

Event = Literal["exact_match", "tests_pass", "kept"]

_KNOWN = ("model", "event", "kind", "diagnostics")


class OptionError(ValueError):
    """An option has a value that it can't have; the message names it and what it can be."""


@dataclass(frozen=True, slots=True)
class Options:
    """What was set, and the defaults for the rest.

    model: path of a GGUF file, None for the one named on the command line or else the embedded one; event: what the probability is about;
    kind: what is suggested; diagnostics: whether `assay/status` tells how late the event loop was; unknown: names that are no option.
    """

    model: Path | None = None
    event: Event = "exact_match"
    kind: Kind = "line"
    diagnostics: bool = False
    unknown: tuple[str, ...] = field(default=())


def parse_options(value: Any) -> Options:
    """The options in `initializationOptions`; null gives the defaults. Raises OptionError. Unknown names are kept for a warning."""
    if value is None:
        return Options()
    if not isinstance(value, dict):
        raise OptionError(f"initializationOptions is an object, not {value!r}")
    model = value.get("model")
    if model is not None and not (isinstance(model, str) and model):
        raise OptionError(f"initializationOptions.model is the path of a .gguf file or null, not {model!r}")
    try:
        path = None if model is None else Path(model).expanduser()
    except RuntimeError as error:
        raise OptionError(f"initializationOptions.model is {model!r}, and there is no such home folder: give the whole path") from error
    diagnostics = value.get("diagnostics", False)
    if not isinstance(diagnostics, bool):
        raise OptionError(f"initializationOptions.diagnostics is true or false, not {diagnostics!r}")
    return Options(
        model=path,
        event=_one_of(value, "event", "exact_match", get_args(Event)),
        kind=_one_of(value, "kind", "line", get_args(Kind)),
        diagnostics=diagnostics,
        unknown=tuple(name for name in value if name not in _KNOWN),
    )


def unknown_options_message(names: tuple[str, ...]) -> str:
    """What to tell the user about names that are no option."""
    return f"Assay does not know these options and goes on without them: {', '.join(names)}. It knows {', '.join(_KNOWN)}."


def _one_of(value: dict[str, Any], name: str, default: str, allowed: tuple[str, ...]) -> Any:
    chosen = value.get(name, default)
    if chosen not in allowed:
        raise OptionError(f"initializationOptions.{name} is one of {', '.join(allowed)}, not {chosen!r}")
    return chosen

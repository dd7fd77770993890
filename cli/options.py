"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..offline_eval.command import names as names
from ..offline_eval.command import positive as positive

if TYPE_CHECKING:
    from ..inference.opening import ModelChoice

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EVENTS = ("exact_match", "tests_pass", "kept")
KINDS = ("line", "block", "function")
KV_TYPES = ("f16", "f32", "q8_0", "q4_0")
MAPS = ("base_rate", "platt", "temperature", "beta", "isotonic", "histogram", "venn_abers")
TASKS = ("line", "line_rest", "line_middle", "block", "function")


def command_parser(commands: Subparsers, name: str, summary: str, more: str = "") -> argparse.ArgumentParser:
    """One command's parser; summary is what the list of commands says of it, more what its own help adds."""
    description = f"{summary[0].upper()}{summary[1:]}."
    return commands.add_parser(name, help=summary, description=f"{description} {more}".strip())


def group_parser(commands: Subparsers, name: str, summary: str) -> Subparsers:
    """The actions of a command that has several."""
    return command_parser(commands, name, summary).add_subparsers(metavar="ACTION", required=True)


def add_model_option(parser: argparse.ArgumentParser) -> None:
    """Which model, and how it is run."""
    parser.add_argument(
        "--model", metavar="FILE|FOLDER|URL", help="a GGUF file, a folder for transformers or a server, instead of the embedded model"
    )
    group = parser.add_argument_group("how the model is run")
    group.add_argument(
        "--context", dest="n_ctx", metavar="N", type=positive, help="context in tokens (default: the model's, at most 4,096)"
    )
    group.add_argument("--threads", metavar="N", type=positive, help="threads of the CPU (default: one for each core)")
    group.add_argument("--gpu-layers", metavar="N|auto", type=layers, help="layers to put on the GPU (default: all, where there is one)")
    group.add_argument("--kv-cache", dest="kv_type", choices=KV_TYPES, help="numbers of the cache (default: f16)")
    group.add_argument("--flash-attention", choices=("on", "off"), help="(default: the runtime's choice)")
    group.add_argument("--chunk", metavar="N", type=positive, help="tokens of a prompt that are read at once (see: assay model check)")
    group.add_argument(
        "--shift", dest="shift_tokens", metavar="N", type=positive,
        help="after a change in the middle, reuse runs of at least N tokens at their new places: faster, but the probabilities are then "
        "approximate (default: never)",
    )  # fmt: skip
    group.add_argument("--device", metavar="NAME", help="torch's device, of a folder (default: cuda or mps where there is one, else cpu)")
    group.add_argument("--dtype", metavar="NAME", help="torch's type, of a folder (default: by the device)")
    group.add_argument("--server-model", metavar="NAME", help="which of a server's models (default: its only one)")
    group.add_argument("--key-file", metavar="FILE", help="holds the server's key (default: the environment's ASSAY_API_KEY)")


def model_choice(arguments: argparse.Namespace) -> ModelChoice:
    """What `add_model_option` took."""
    from ..inference.opening import ModelChoice, ModelOptions

    given = {name: value for name in ModelOptions.__annotations__ if (value := getattr(arguments, name)) is not None}
    if "flash_attention" in given:
        given["flash_attention"] = given["flash_attention"] == "on"
    return ModelChoice(arguments.model, cast("ModelOptions", given))


def add_map_option(parser: argparse.ArgumentParser) -> None:
    """Which kind of map is fitted."""
    parser.add_argument(
        "--map", choices=("auto", *MAPS),
        help="the map from measures to the probability (default: auto, platt unless the evidence carries a richer one)",
    )  # fmt: skip


def add_log_option(parser: argparse.ArgumentParser) -> None:
    """Which log of events is read."""
    parser.add_argument("--log", metavar="FILE", type=Path, help="the log of events (default: the user's own; see: assay logs path)")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """For programs."""
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout, and nothing else there")


def date(text: str) -> datetime:
    """A date, with a time or without, in the local zone. Raises ArgumentTypeError, as all below."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-11-22, with a time behind a T if need be") from None


def layers(text: str) -> int | str:
    """Layers for a GPU, or auto."""
    return text if text == "auto" else 0 if text == "0" else positive(text)


def port(text: str) -> int:
    """A port of TCP."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port (0 to 65535)")
    return int(text)

"""Options that several commands share, how their values are read, and how a command is added to the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from ..offline_eval.command import add_memory_option
from ..offline_eval.command import names as names
from ..offline_eval.command import positive as positive
from .exit_codes import UsageError
from .terminal import say

if TYPE_CHECKING:
    from ..calibration.registry import Registry
    from ..inference.opening import ModelChoice

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Register: TypeAlias = "Callable[[Subparsers], None]"

EVENTS = ("exact_match", "tests_pass", "kept")
KINDS = ("line", "block", "function")
PROMPT_SIZES = ("auto", "small", "normal", "large")
KV_TYPES = ("f16", "f32", "q8_0", "q4_0")
MAPS = ("base_rate", "platt", "temperature", "beta", "isotonic", "histogram", "venn_abers")
TASKS = ("line", "line_rest", "line_middle", "block", "function")


def command_parser(commands: Subparsers, name: str, summary: str, details: str = "") -> argparse.ArgumentParser:
    """Add a command. The list of commands shows the summary; the command's own help adds the details."""
    description = f"{summary[0].upper()}{summary[1:]}."
    return commands.add_parser(name, help=summary, description=f"{description} {details}".strip())


def group_parser(commands: Subparsers, name: str, summary: str) -> Subparsers:
    """Add a command that has commands of its own, such as `assay logs`."""
    return command_parser(commands, name, summary).add_subparsers(metavar="ACTION", required=True)


def group(name: str, summary: str, *members: Register) -> Register:
    """A function that adds a command with these subcommands."""

    def register(commands: Subparsers) -> None:
        actions = group_parser(commands, name, summary)
        for add in members:
            add(actions)

    return register


def set_run(
    parser: argparse.ArgumentParser,
    run: Callable[[argparse.Namespace], int],
    *shared: Literal["days", "log", "memory", "model", "json"],
) -> None:
    """Add options that several commands share, in this order, and set what the command runs."""
    for name in shared:
        _SHARED[name](parser)
    parser.set_defaults(run=run)


def _add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add --model, and the options of how the model runs."""
    parser.add_argument(
        "--model", metavar="FILE|FOLDER|NAME|URL",
        help="a GGUF file, a transformers folder, a name that assay model list shows or a server, instead of the embedded model. "
        "URL,URL is several servers of one model",
    )  # fmt: skip
    parser.add_argument(
        "--prompt-size", choices=PROMPT_SIZES, default="auto",
        help="how much of the file the model sees (default: auto: the largest size that it reads within 1.5 s here)",
    )  # fmt: skip
    group = parser.add_argument_group("how the model runs")
    group.add_argument(
        "--context", dest="n_ctx", metavar="N", type=positive, help="context length in tokens (default: the model's, at most 4,096)"
    )
    group.add_argument(
        "--threads", metavar="N|auto", type=threads,
        help="CPU threads (default: auto: the fastest number, at most one for each core)",
    )  # fmt: skip
    group.add_argument("--gpu-layers", metavar="N|auto", type=layers, help="layers to put on the GPU (default: all, if there is a GPU)")
    group.add_argument(
        "--kv-cache", dest="kv_type", choices=KV_TYPES,
        help="number type of the key-value cache (default: f16). With q8_0 and q4_0 it writes other texts, so each has numbers of its own",
    )  # fmt: skip
    group.add_argument(
        "--flash-attention", choices=("on", "off"), help="use flash attention (default: off on processors, llama.cpp decides on a GPU)"
    )
    group.add_argument(
        "--chunk", metavar="N", type=positive, help="read the prompt in chunks of N tokens (assay model check tries several)"
    )
    group.add_argument(
        "--device", metavar="NAME", help="torch device, for a transformers folder (default: cuda or mps if there is one, else cpu)"
    )
    group.add_argument("--dtype", metavar="NAME", help="torch number type, for a transformers folder (default: depends on the device)")
    group.add_argument("--server-model", metavar="NAME", help="which of the server's models (default: its only one)")
    group.add_argument(
        "--key-file", dest="key_files", metavar="[URL=]FILE", action="append",
        help="file with the API key of the server at URL, or of the first server; no other server gets it. Repeatable (default: the "
        "variable ASSAY_API_KEY, for the first server)",
    )  # fmt: skip


def model_choice(arguments: argparse.Namespace) -> ModelChoice:
    """The model that the shared options "model" name, not opened yet."""
    from ..inference.opening import ModelChoice, ModelOptions

    options = {name: value for name in ModelOptions.__annotations__ if (value := getattr(arguments, name)) is not None}
    if "flash_attention" in options:
        options["flash_attention"] = options["flash_attention"] == "on"
    if "key_files" in options:
        options["key_files"] = _key_files(options["key_files"])
    return ModelChoice(arguments.model, cast("ModelOptions", options), arguments.prompt_size)


def _key_files(texts: Sequence[str]) -> dict[str, str]:
    """The file of each address. Raises UsageError if an address has two."""
    files = dict[str, str]()
    for address, file in map(_address_and_file, texts):
        if address in files:
            whose = address or "the first server"
            raise UsageError(f"--key-file names two files for {whose}, {files[address]} and {file}: name one, or give another as URL=FILE")
        files[address] = file
    return files


def _address_and_file(text: str) -> tuple[str, str]:
    """URL and FILE of "URL=FILE", or "" and the file. A URL has no query here, so its first "=" ends it."""
    address, equals, file = text.partition("=")
    return (address, file) if equals and address.lower().startswith(("http://", "https://")) else ("", text)


def registry_for(project: Path | None = None) -> Registry:
    """The registry of calibrators, with those of a project. What can't be read is printed."""
    from ..calibration.registry import load_registry

    registry = load_registry(project)
    for reason in registry.skipped:
        say(f"assay: calibrator skipped: {reason}")
    return registry


def add_map_option(parser: argparse.ArgumentParser) -> None:
    """Add --map."""
    parser.add_argument(
        "--map", choices=("auto", *MAPS),
        help="kind of map from measures to the probability (default: auto: platt, or a richer one if the samples support it)",
    )  # fmt: skip


def _add_log_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--log", metavar="FILE", type=Path, help="the event log (default: your own; assay logs path prints where it is)")


def _add_days_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", metavar="N", type=positive, help="only the last N days (default: all)")


def _add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout, and nothing else there")


_SHARED = {
    "days": _add_days_option,
    "log": _add_log_option,
    "memory": add_memory_option,
    "model": _add_model_options,
    "json": _add_json_option,
}


def date(text: str) -> datetime:
    """A date, with a time or without, in the local time zone. Raises ArgumentTypeError, as all below."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-11-22 or 2026-11-22T08:00") from None


def threads(text: str) -> int | str:
    """A number of threads, or auto."""
    from ..inference.opening import MAX_THREADS

    if text == "auto":
        return text
    if (count := positive(text)) > MAX_THREADS:
        raise argparse.ArgumentTypeError(f"{count} threads are more than the {MAX_THREADS} that a model can have")
    return count


def layers(text: str) -> int | str:
    """Layers for a GPU, or auto."""
    return text if text == "auto" else 0 if text == "0" else positive(text)


def port(text: str) -> int:
    """A TCP port."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port number (0 to 65535)")
    return int(text)

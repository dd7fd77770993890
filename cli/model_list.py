"""`assay model list`: the models on this machine, and what each is good for."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .exit_codes import DONE
from .options import Subparsers, command_parser, set_run
from .terminal import Paint, columns, print_json, say, show, wants_colour

if TYPE_CHECKING:
    from ..calibration.found_models import Listed, ModelList

_HEADINGS = ("size", "parameters", "format", "middle", "tokens/s", "numbers", "name")


def register(actions: Subparsers) -> None:
    """Add `assay model list`."""
    parser = command_parser(
        actions, "list", "list the models that are on this machine already",
        "Looks where Ollama, LM Studio, llama.cpp and Hugging Face keep their models, and into the folders of "
        "ASSAY_MODEL_FOLDERS. Reads only headers, and downloads nothing.",
    )  # fmt: skip
    parser.add_argument(
        "--probe", action="store_true", help="also ask Ollama, LM Studio, llama-server and vLLM if they run on this machine"
    )
    parser.add_argument("--folder", metavar="DIR", type=Path, action="append", default=[], help="look into this folder, too; repeatable")
    set_run(parser, run, "json")


def run(arguments: argparse.Namespace) -> int:
    """Print the list."""
    from ..calibration.found_models import list_models

    found = list_models(arguments.folder, probe=arguments.probe)
    if arguments.json:
        print_json(found.as_json())
        return DONE
    _print(found)
    for note in found.notes:
        say(f"note: {note}")
    return DONE


def _print(found: ModelList) -> None:
    paint = Paint(wants_colour(sys.stdout))
    usable = [row for row in found.models if not row.model.problem]
    heading, *lines = columns([_HEADINGS, *map(_cells, usable)], right=True)
    show(paint(heading, "dim"), *lines)
    if unusable := [row.model for row in found.models if row.model.problem]:
        show("", "Can't be used:", *(f"  {' = '.join(model.names)}: {model.problem}" for model in unusable))
    if found.reading_speed is not None:
        show("", f"tokens/s: an estimate, at {found.reading_speed / 1e9:.0f} GB of weights a second. assay model check measures a model.")
    show("", "Use one with --model NAME, or in the editor with the setting assay.model.")
    if any(row.model.server_model for row in usable):
        show("In the editor, --server-model is the setting assay.modelOptions.serverModel.")


def _cells(row: Listed) -> tuple[str, ...]:
    model = row.model
    middle = "?" if model.fills_middle is None else "no" if not model.fills_middle else model.family or "yes"
    speed = "" if row.tokens_per_second is None else f"{row.tokens_per_second:,.0f}"
    which = f" --server-model {shlex.quote(model.server_model)}" if model.server_model else ""
    named = " = ".join(f"{name}{which}" for name in row.names)
    return _bytes(model.size), _count(model.parameters), model.quantisation or "?", middle, speed, row.numbers, named


def _bytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB" if size else "?"


def _count(parameters: int) -> str:
    return f"{parameters / 1e9:.1f} B" if parameters >= 1e9 else f"{parameters / 1e6:.1f} M" if parameters else "?"

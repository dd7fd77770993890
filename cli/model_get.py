"""`assay model get`: lists the models to download, or downloads one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from ..offline_eval.progress import Progress, tell_if_stopped
from .exit_codes import DONE
from .options import Subparsers, command_parser, set_run
from .terminal import Paint, agrees, columns, is_terminal, print_json, say, show, wants_colour

if TYPE_CHECKING:
    from pathlib import Path

    from ..calibration.offered_models import Offer
    from ..inference.hub.catalogue import Entry

_HEADINGS = ("name", "size", "licence", "new place", "typing", "numbers", "")
_MB = 1_000_000


def register(actions: Subparsers) -> None:
    """Add `assay model get`."""
    parser = command_parser(
        actions, "get", "download a larger model that fills in the middle, or show which fit this machine",
        "Without a name nothing is downloaded. Downloads go into the cache of the hub, where other programs find them, and resume "
        "after an interruption.",
    )  # fmt: skip
    parser.add_argument("name", metavar="NAME", nargs="?", help="a model of the table")
    parser.add_argument("--yes", action="store_true", help="accept a licence that forbids commercial use")
    set_run(parser, run, "json")


def run(arguments: argparse.Namespace) -> int:
    """Show the table, or download a model. Raises ModelError."""
    if arguments.name is not None:
        _get(arguments.name, yes=arguments.yes, as_json=arguments.json)
        return DONE
    from ..calibration.offered_models import offered_models

    offers = offered_models()
    if arguments.json:
        print_json({"models": [offer.as_json() for offer in offers]})
    else:
        _print(offers)
    return DONE


def _get(name: str, *, yes: bool, as_json: bool) -> None:
    from ..inference.errors import KEPT, ModelError
    from ..inference.hub.catalogue import entry_named
    from ..inference.hub.download import download, page_of

    entry = entry_named(name)
    if not (entry.commercial_use or yes or _accepted(entry, page_of(entry))):
        raise ModelError(
            f"{entry.name}: its licence ({entry.licence}) forbids commercial use, so nothing was downloaded. Read it at {page_of(entry)}. "
            f"If your use is not commercial: assay model get {entry.name} --yes"
        )
    say(f"{entry.file} of {page_of(entry)}, licence {entry.licence}")
    with tell_if_stopped(lambda: f"stopped. {KEPT}"):
        path = download(entry, partial(_bar, every_s=1.0 if as_json else None), say)
    used_as, fingerprint = _named(entry, path)
    from ..calibration.found_models import entries_of, next_step
    from ..calibration.registry import load_registry

    if used_as == entry.model and not as_json:
        used_as = entry.name
    step = next_step(entries_of(load_registry(), fingerprint), ["--model", used_as])
    if as_json:
        print_json({"name": entry.name, "model": used_as, "path": str(path), "said": step.advice, "command": step.command})
        return
    show(f"{path}", f"Use it with --model {used_as}, or in the editor with the setting assay.model.", step.advice)


def _named(entry: Entry, path: Path) -> tuple[str, str]:
    """The model's name for --model, and its fingerprint. Raises UnusableModel if its header can't be read."""
    from ..inference.errors import ModelError, UnusableModel
    from ..inference.found.candidate import Candidate
    from ..inference.found.find import named_path
    from ..inference.found.model import describe

    try:
        found = named_path(entry.model)
        name = entry.model if found is not None and found.samefile(path) else str(path)
    except ModelError:  # several snapshots have the file
        name = str(path)
    model = describe(Candidate(name, path, sha256=path.resolve().name if entry.sha256 == "" else entry.sha256), "", (name,))
    if model is None or model.problem:
        raise UnusableModel(str(path), "not a model that writes text" if model is None else model.problem)
    return name, model.fingerprint


def _accepted(entry: Entry, page: str) -> bool:
    """Ask the user whether the use is non-commercial."""
    if not is_terminal(sys.stdin):
        return False
    say(f"The licence of {entry.name} ({entry.licence}) forbids commercial use: {page}")
    say("Is your use non-commercial, and do you want to download it? [y/N]")
    return agrees()


@contextmanager
def _bar(have: int, size: int, *, every_s: float | None) -> Iterator[Callable[[int], None]]:
    with Progress("MB", max(1, size // _MB), None, before=have // _MB, elsewhere_s=every_s) as progress:
        came = have

        def step(count: int) -> None:
            nonlocal came
            progress.step((came + count) // _MB - came // _MB)
            came += count

        yield step


def _print(offers: tuple[Offer, ...]) -> None:
    paint = Paint(wants_colour(sys.stdout))
    heading, *lines = columns([_HEADINGS, *(_cells(offer) for offer in offers if offer.fits)])
    show(paint(heading, "dim"), *lines)
    if others := [offer.entry.name for offer in offers if not offer.fits]:
        show("", f"Too large or too slow for this machine: {', '.join(others)}.")
    show("", "Times are estimates for a suggestion at a new place, and while you type a line. assay model check measures a model.")
    if any(offer.typing_s is None for offer in offers):
        show("There are no estimates for a GPU.")
    show("Download one with assay model get NAME.")


def _cells(offer: Offer) -> tuple[str, ...]:
    entry = offer.entry
    size = f"{entry.about_bytes / 1e9:.1f} GB" if entry.about_bytes >= 1e9 else f"{entry.about_bytes / 1e6:.0f} MB"
    licence = entry.licence if entry.commercial_use else f"{entry.licence}, not for commercial use"
    marks = ["recommended"] if offer.recommended else []
    marks += ["here already"] if offer.path else []
    return (
        entry.name, size if entry.bytes else f"~{size}", licence, _time(offer.new_place_s), _time(offer.typing_s), offer.numbers,
        ", ".join(marks),
    )  # fmt: skip


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"

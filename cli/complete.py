"""`assay complete`: one suggestion for a place in a file."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ..calibration.control_characters import strip_control_characters
from .terminal import Paint, print_json, wants_colour

if TYPE_CHECKING:
    from ..calibration.samples import Event
    from ..inference.completion.task import Kind
    from ..inference.opening import ModelChoice


class PlaceError(ValueError):
    """FILE:LINE:COL does not name a place in a readable file; the message says what is wrong with it."""


def parse_place(place: str) -> tuple[str, int, int]:
    """The file, line and column of "FILE:LINE:COL", the last two at least 1. A colon in the file's name is fine. Raises PlaceError."""
    name, *numbers = place.rsplit(":", 2)
    if not name or len(numbers) != 2 or not all(re.fullmatch("[0-9]{1,9}", number) for number in numbers):
        raise PlaceError(f"{place!r} is not FILE:LINE:COL, for example src/app.py:12:5")
    line, column = int(numbers[0]), int(numbers[1])
    if line < 1 or column < 1:
        raise PlaceError(f"{place}: lines and columns count from 1")
    return name, line, column


def check_secrets(name: str) -> None:
    """Raises PlaceError for a file that no model is shown, as in an editor."""
    from ..server.context.secrets import is_secret_path

    if is_secret_path(Path(name).absolute()):
        raise PlaceError(f"{name}: this file may hold secrets, so the model is not shown it")


def read_text(name: str, *, from_stdin: bool = False) -> str:
    """The text of a file, or of stdin in its stead. Raises PlaceError for one that can't be read or is not UTF-8."""
    try:
        content = sys.stdin.buffer.read() if from_stdin else Path(name).read_bytes()
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PlaceError(f"{name}: not UTF-8 (byte {content[error.start]:#04x} in line {line}). Convert the file to UTF-8.") from error
    except OSError as error:
        raise PlaceError(f"{name}: {error.strerror or error}") from error


def offset_of(text: str, line: int, column: int, name: str) -> int:
    """The index into the text of a line and column, both counted from 1; the column after a line's last character is its end.

    Raises PlaceError where there is no such line or column, with how many there are.
    """
    from ..suggestion.positions import content, split_lines

    lines = split_lines(text)
    if line > len(lines):
        raise PlaceError(f"{name}:{line}: there is no such line: the file has {len(lines)} line{'s' * (len(lines) != 1)}")
    length = len(content(lines[line - 1]))
    if column > length + 1:
        raise PlaceError(
            f"{name}:{line}:{column}: line {line} has {length} character{'s' * (length != 1)}, so its columns are 1 to {length + 1}"
        )
    return sum(map(len, lines[: line - 1])) + column - 1


def show_prompt(place: str, *, from_stdin: bool, kind: Kind, model: ModelChoice, as_json: bool) -> int:
    """Print what the model would be given at FILE:LINE:COL, without asking it. Raises PlaceError and ModelError."""
    name, line, column = parse_place(place)
    check_secrets(name)
    text = read_text(name, from_stdin=from_stdin)
    offset = offset_of(text, line, column, name)

    from ..inference.completion.prompt import Surroundings, context_at, count_tokens, prompt_of, prompt_text
    from ..suggestion.context_report import context_json, context_text

    with model.open() as opened:
        context = context_at(opened, text[:offset], text[offset:], kind=kind, surroundings=Surroundings(path=name))
        prompt = prompt_of(opened, context)
        told = context_json(context, lambda shown: count_tokens(opened, shown), prompt, prompt_text(opened, prompt))
    if as_json:
        print_json(told)
    else:
        said = context_text(told)
        print(strip_control_characters(said) if sys.stdout.isatty() else said)
    return 0


def run(place: str, *, from_stdin: bool, kind: Kind, event: Event, language: str | None, model: ModelChoice, as_json: bool) -> int:
    """Print the suggestion at FILE:LINE:COL: its text with its band, or as JSON. Raises PlaceError and ModelError."""
    name, line, column = parse_place(place)
    check_secrets(name)
    text = read_text(name, from_stdin=from_stdin)
    offset = offset_of(text, line, column, name)

    from ..calibration.registry import load_registry, project_of
    from ..suggestion.languages import language_of
    from ..suggestion.suggest import suggest_at

    root = project_of(Path(name).resolve())
    registry = load_registry(root)
    for reason in registry.skipped:
        print(strip_control_characters(f"assay: calibrator skipped: {reason}"), file=sys.stderr)
    with model.open() as opened:
        suggestion = suggest_at(
            opened,
            registry,
            text,
            offset,
            kind=kind,
            language=language or language_of(name),
            event=event,
            project=root.name if root else None,
        )
        fingerprint = opened.fingerprint
    if as_json:
        suggestions = [] if suggestion is None else [suggestion.as_json()]
        print_json({"suggestions": suggestions, "model": {"id": fingerprint.id, **asdict(fingerprint)}})
    elif suggestion is None:
        print("No suggestion: the model ends the text here.", file=sys.stderr)
    else:
        print(strip_control_characters(suggestion.text.replace("\r\n", "\n")) if sys.stdout.isatty() else suggestion.text)
        confidence = suggestion.confidence
        said = f"{confidence.text}: {confidence.reason}" if confidence.reason else confidence.text
        print(Paint(wants_colour(sys.stderr))(strip_control_characters(said), "dim"), file=sys.stderr)
    return 0

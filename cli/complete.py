"""`assay complete`: one suggestion for a place in a file."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ..calibration.control_characters import unseen_in
from ..inference.regular_file import read_regular_file
from .exit_codes import DONE, UsageError
from .options import EVENTS, KINDS, Subparsers, command_parser, model_choice, registry_for, set_run
from .terminal import is_terminal, print_json, say, show_text

# More is no code. A text of any length, or from a pipe, may come over stdin.
_MAX_BYTES = 1 << 28

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..calibration.registry import Registry
    from ..inference.model import Model
    from ..inference.project_memory.memory import Memory
    from ..suggestion.memory.scope import Scope
    from ..suggestion.suggestion import Suggestion


def register(commands: Subparsers) -> None:
    """Add `assay complete`."""
    parser = command_parser(
        commands,
        "complete",
        "suggest code at a place in a file",
        "Lines and columns count from 1. The suggestion goes before the character at COL; the column after the last character is the end "
        "of the line. The file must be UTF-8, or Python that names its encoding.",
    )
    parser.add_argument("place", metavar="FILE:LINE:COL", help="where to suggest, such as src/app.py:12:5")
    parser.add_argument("--stdin", action="store_true", help="read the text from stdin; FILE is then only its name and need not exist")
    parser.add_argument(
        "--kind", choices=KINDS, default="line", help="what to suggest: the rest of a line, of a block or of a function (default: line)"
    )
    parser.add_argument("--event", choices=EVENTS, default="exact_match", help="what the probability is about (default: exact_match)")
    parser.add_argument(
        "--show-refuted", action="store_true", help="show the probability although a study refutes a primary figure of its calibrator"
    )
    parser.add_argument("--language", help="language identifier, such as python (default: by the file's name)")
    parser.add_argument("--show-prompt", action="store_true", help="print the prompt that the model would get, and suggest nothing")
    set_run(parser, run, "memory", "model", "json")


def run(arguments: argparse.Namespace) -> int:
    """Print the suggestion or the prompt at FILE:LINE:COL. Raises UsageError and ModelError."""
    name, line, column = parse_place(arguments.place)
    check_secrets(name)
    text = read_text(name, language=arguments.language, from_stdin=arguments.stdin)
    offset = offset_of(text, line, column, name)
    if arguments.show_prompt:
        _show_prompt(arguments, name, text, offset)
    else:
        _suggest(arguments, name, text, offset)
    return DONE


def parse_place(place: str) -> tuple[str, int, int]:
    """The file, line and column of "FILE:LINE:COL", the last two at least 1. A colon in the file's name is fine. Raises UsageError."""
    name, *numbers = place.rsplit(":", 2)
    if not name or len(numbers) != 2 or not all(re.fullmatch("[0-9]{1,9}", number) for number in numbers):
        raise UsageError(f"{place!r} is not FILE:LINE:COL, for example src/app.py:12:5")
    line, column = int(numbers[0]), int(numbers[1])
    if line < 1 or column < 1:
        raise UsageError(f"{place}: lines and columns count from 1")
    return name, line, column


def check_secrets(name: str) -> None:
    """Raise UsageError for a file that the editor would not show to a model."""
    from ..suggestion.secrets import is_secret_path

    if is_secret_path(Path(name).absolute()):
        raise UsageError(f"{name}: this file may hold secrets, so the model is not shown it")


def read_text(name: str, *, language: str | None = None, from_stdin: bool = False) -> str:
    """The text of a file, or of stdin, without a byte order mark. language: None means the one of the file's name.

    Raises UsageError if the text can't be read, is not UTF-8, or is not Python in the encoding that it names.
    """
    from ..analysis.python.source_text import UnreadableSource, text_of
    from ..suggestion.languages import language_of

    try:
        content = _stdin_bytes() if from_stdin else read_regular_file(Path(name), _MAX_BYTES)
        return text_of(content, python=(language or language_of(name)) == "python")
    except UnreadableSource as error:
        raise UsageError(f"{name}: {_not_utf8(content) or error}. Convert the file to UTF-8.") from error
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror or error}") from error


def _not_utf8(content: bytes) -> str:
    """The place of the first byte that is not UTF-8, or ""."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        return f"not UTF-8 (byte {content[error.start]:#04x} in line {line})"
    return ""


def _stdin_bytes() -> bytes:
    return b"" if sys.stdin is None else sys.stdin.buffer.read()


def offset_of(text: str, line: int, column: int, name: str) -> int:
    """The index of a line and column, both counted from 1, in the text. The column after the last character is the end of the line.

    Raises UsageError, which says how many there are, if there is no such line or column.
    """
    from ..suggestion.positions import content, split_lines

    lines = split_lines(text)
    if line > len(lines):
        raise UsageError(f"{name}:{line}: no such line: the file has {len(lines)} line{'s' * (len(lines) != 1)}")
    length = len(content(lines[line - 1]))
    if column > length + 1:
        there = f"has only {length} character{'s' * (length != 1)}" if length else "is empty"
        end = " for the end of the line" if length else ""
        raise UsageError(f"{name}:{line}:{column}: line {line} {there}: ask at {name}:{line}:{length + 1}{end}")
    return sum(map(len, lines[: line - 1])) + column - 1


def _show_prompt(arguments: argparse.Namespace, name: str, text: str, offset: int) -> None:
    from ..inference.completion.prompt import Surroundings, context_at, prompt_of
    from ..suggestion.context_report import context_json, context_text

    choice, around = model_choice(arguments), Surroundings(path=name)
    with choice.open() as model:
        settings = choice.settings_for(model)
        context = context_at(model, text[:offset], text[offset:], kind=arguments.kind, settings=settings, surroundings=around)
        prompt = prompt_of(model, context)
        document = context_json(context, model.count_tokens, prompt, model.prompt_text(prompt), settings)
    if arguments.json:
        print_json(document)
    else:
        show_text(context_text(document))


def _suggest(arguments: argparse.Namespace, name: str, text: str, offset: int) -> None:
    from ..calibration.project_folder import project_of
    from ..suggestion.languages import language_of
    from ..suggestion.suggest import suggest_at

    root = project_of(Path(name).resolve())
    registry = registry_for(root)
    choice = model_choice(arguments)
    with choice.open() as model:
        suggestion = suggest_at(
            model,
            registry,
            text,
            offset,
            kind=arguments.kind,
            language=arguments.language or language_of(name),
            event=arguments.event,
            project=root.name if root else None,
            show_refuted=arguments.show_refuted,
            memory=memory_for(model, Path(name), text[:offset], text[offset:], arguments.memory),
            settings=choice.settings_for(model),
        )
        fingerprint = model.fingerprint
    if arguments.json:
        suggestions = [] if suggestion is None else [suggestion.as_json()]
        print_json({"suggestions": suggestions, "model": {"id": fingerprint.id, **asdict(fingerprint)}})
    else:
        _print_suggestion(suggestion, registry)


def memory_for(model: Model, file: Path, before: str, after: str, scope: Scope) -> Memory | None:
    """The memory at a cursor in a file."""
    return remember_for(model, file, scope)(before, after)


def remember_for(model: Model, file: Path, scope: Scope) -> Callable[[str, str], Memory | None]:
    """A function from the text before and after a cursor in a file to the project memory there.

    The memory includes the files around it if the file is in a repository or in a folder with calibrators of its own.
    """
    from ..calibration.project_folder import PROJECT_FOLDER
    from ..suggestion.memory.memories import Memories, project_in

    file = file.resolve()
    folders = file.parents if scope == "project" else ()
    root = next((folder for folder in folders if (folder / ".git").exists() or (folder / PROJECT_FOLDER).exists()), None)
    path = file.name if root is None else file.relative_to(root).as_posix()
    memories, project = Memories(model), None if root is None else project_in(root)
    return lambda before, after: memories.at(before, after, path, scope, project)


def _print_suggestion(suggestion: Suggestion | None, registry: Registry) -> None:
    from ..calibration.registry import source_of

    if suggestion is None:
        say("No suggestion: the model adds nothing here.")
        return
    show_text(suggestion.text.replace("\r\n", "\n") if is_terminal(sys.stdout) else suggestion.text)
    confidence = suggestion.confidence
    used = next((entry for entry in registry.entries if entry.calibrator.id == confidence.calibrator), None)
    source = [] if used is None else [f"source: {source_of(used)} ({used.path.name})"]
    lent = "borrowed " if confidence.status == "borrowed" else ""
    for line in (*source, f"{confidence.text}: {lent}{confidence.reason}" if confidence.reason else confidence.text):
        say(line, "dim")
    if suggestion.measures.get("parses") == 0:
        say("An editor would not suggest this by itself: it leaves the file broken.")
    if unseen := unseen_in(suggestion.text):
        say(f"An editor would not suggest this by itself: it has an invisible character ({unseen}).")

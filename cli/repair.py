"""`assay repair`: suggests other lines in place of lines of a file."""

from __future__ import annotations

import argparse
import contextlib
import math
import re
import sys
import time
from dataclasses import asdict, replace
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .complete import check_secrets, offset_of, read_text, remember_for
from .exit_codes import DONE, UsageError
from .options import Subparsers, command_parser, model_choice, positive, registry_for, set_run
from .repair_tests import add_verify_options, failure_at, project_to_verify_in, verdict_lines, verify
from .terminal import Paint, print_json, say, show, show_text, wants_colour

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..inference.asking.asker import Asker
    from ..inference.model import Cancel, Model
    from ..inference.opening import ModelChoice
    from ..suggestion.memory.scope import Scope
    from ..suggestion.repair.request import Repair, Repairs, Request
    from ..suggestion.repair.surprise import LineSurprise
    from ..suggestion.repair.verified import Verification, Verified

# Lines around a change that its diff shows.
_CONTEXT = 3
# Still failing tests that are named.
_MAX_FAILING = 3
# With --verify all repairs are found and the tests choose. They run for this long without --max-ms.
_ALL, _VERIFY_MS = 1_000, 60_000.0


def register(commands: Subparsers) -> None:
    """Add `assay repair`."""
    parser = command_parser(
        commands,
        "repair",
        "suggest other lines in place of lines of a file",
        "Lines count from 1. Prints repairs as diffs, the best first, and does not change the file. Only --verify runs tests. The file "
        "must be UTF-8, or Python that names its encoding.",
    )
    parser.add_argument("place", metavar="FILE:LINE[-LINE]", help="which lines, such as src/app.py:12 or src/app.py:12-15")
    parser.add_argument("--stdin", action="store_true", help="read the text from stdin; FILE is then only its name and need not exist")
    parser.add_argument("--language", help="language identifier, such as python (default: by the file's name)")
    parser.add_argument("--most", metavar="N", type=positive, default=8, help="how many repairs to print (default: 8)")
    parser.add_argument(
        "--max-ms",
        metavar="N",
        type=positive,
        help="print what was found after N milliseconds (default: no limit); with --verify run tests for as long (default: 60,000)",
    )
    parser.add_argument("--show-surprise", action="store_true", help="also print which tokens surprise the model, and what it would write")
    parser.add_argument("--instruct", metavar="URL", help="server of an instruct model, asked in the model's own place")
    parser.add_argument("--failure", metavar="TEXT", help="message of a failing test, for a model that is asked in chat")
    add_verify_options(parser)
    set_run(parser, run, "memory", "model", "json")


def run(arguments: argparse.Namespace) -> int:
    """Print the repairs of FILE:LINE[-LINE]. Raises UsageError and ModelError."""
    from ..suggestion.languages import language_of
    from ..suggestion.positions import content, split_lines
    from ..suggestion.repair.asking import Asking
    from ..suggestion.repair.parsing import why_none
    from ..suggestion.repair.propose import proposals
    from ..suggestion.repair.request import Failure, request_for

    name, first, last = parse_lines(arguments.place)
    check_secrets(name)
    text = read_text(name, language=arguments.language, from_stdin=arguments.stdin)
    for line in (first, last):
        offset_of(text, line, 1, name)
    language = arguments.language or language_of(name)
    can_be_repaired = not why_none(tuple(map(content, split_lines(text))), first - 1, last, language)
    project = project_to_verify_in(arguments, name) if can_be_repaired else None
    choice = model_choice(arguments)
    with contextlib.ExitStack() as opened:
        model = opened.enter_context((choice if arguments.instruct is None else choice.itself).open())
        failure = None if arguments.failure is None else Failure(message=arguments.failure)
        if failure is None and project is not None and (arguments.instruct is not None or model.chat_format is not None):
            failure = failure_at(project, arguments.python, name, text, range(first, last + 1))
        limit = _Limit(arguments.max_ms)
        asker = _asker(choice, arguments.instruct, model, opened, limit.is_over)
        if arguments.failure is not None and asker is None:
            raise UsageError("--failure is for a model that is asked in chat, and this one is not: name one with --instruct")
        request = request_for(
            Asking(model, choice.settings_for(model), remember=remember_for(model, Path(name), arguments.memory)),
            text,
            first - 1,
            last,
            language=language,
            asker=asker,
            failure=failure,
        )
        verified, max_ms = None, arguments.max_ms or _VERIFY_MS
        if project is None:
            (*_, found) = limit.begun_by(proposals(request, most=arguments.most, max_ms=arguments.max_ms))
        else:
            stream = limit.begun_by(proposals(request, most=_ALL, max_ms=arguments.max_ms))
            found, verified = verify(project, arguments.python, name, text, stream, arguments.most, max_ms)
        repairs = _with_confidence(found, request, Path(name), arguments.memory)
        verified = verified and verified.in_order_of(repairs.found)
        if verified and any(said.passed and said.mends for _, said in verified.judged):
            repairs = replace(repairs, nothing_better=False)
        surprises = _surprises(request, repairs) if arguments.show_surprise else None
        fingerprint = model.fingerprint
    if arguments.json:
        more: dict[str, Any] = {} if surprises is None else {"surprise": [each.as_json() for each in surprises]}
        more |= {} if verified is None else verified_json(verified, arguments.most)
        print_json(repairs.as_json() | more | {"model": {"id": fingerprint.id, **asdict(fingerprint)}})
    else:
        _print(name, request, repairs, surprises or (), None if verified is None else verified.shown(arguments.most))
    for sentence in () if verified is None else verdict_lines(verified, arguments.most, max_ms):
        say(sentence)
    return DONE


class _Limit:
    """The time in which the model proposes: it begins with the first proposal, and not while the tests run as they are."""

    def __init__(self, max_ms: int | None) -> None:
        self._seconds, self._end = math.inf if max_ms is None else max_ms / 1e3, math.inf

    def begun_by(self, found: Iterator[Repairs]) -> Iterator[Repairs]:
        """The same, and the time begins."""
        self._end = time.perf_counter() + self._seconds
        yield from found

    def is_over(self) -> bool:
        """Whether it is."""
        return time.perf_counter() >= self._end


def parse_lines(place: str) -> tuple[str, int, int]:
    """The file and the first and last line of "FILE:LINE[-LINE]". A colon in the file's name is fine. Raises UsageError."""
    name, _, numbers = place.rpartition(":")
    found = re.fullmatch("([0-9]{1,9})(?:-([0-9]{1,9}))?", numbers)
    if not name or found is None:
        raise UsageError(f"{place!r} is not FILE:LINE or FILE:LINE-LINE, for example src/app.py:12-15")
    first = int(found[1])
    last = int(found[2] or first)
    if first < 1:
        raise UsageError(f"{place}: lines count from 1")
    if last < first:
        raise UsageError(f"{place}: line {last} comes before line {first}")
    return name, first, last


def _asker(choice: ModelChoice, url: str | None, model: Model, opened: contextlib.ExitStack, cancel: Cancel) -> Asker | None:
    """The instruct model, by default the model itself; None where that can't be asked in chat. Closed with `opened`."""
    from ..inference.asking.text import TextAsker
    from ..inference.errors import NoChat
    from ..inference.opening import open_asker, template_of

    if url is not None:
        return opened.enter_context(open_asker(choice.beside(url)))
    try:
        template = template_of(model, choice.where or "the embedded model")
    except NoChat as error:
        say(f"not asked: instruct: {error}")
        return None
    return None if template is None else TextAsker(model, opened.enter_context(contextlib.closing(template)), cancel)


def _with_confidence(repairs: Repairs, request: Request, file: Path, scope: Scope) -> Repairs:
    """The repairs with their confidence by the registry's calibrators, the likeliest first."""
    from ..calibration.project_folder import project_of
    from ..suggestion.memory.memories import memory_fingerprint
    from ..suggestion.repair.confidence import purpose_of, with_confidence

    root = project_of(file.resolve())
    registry = registry_for(root)
    purpose = purpose_of(request, "tests_pass", memory=memory_fingerprint(request.asking.model, scope), file=file.absolute())
    return with_confidence(repairs, purpose, registry, project=root.name if root else None)


def _surprises(request: Request, repairs: Repairs) -> list[LineSurprise]:
    from ..suggestion.repair.surprise import with_alternatives

    return [with_alternatives(request.asking, request.lines, suspect) for suspect in repairs.suspects]


def verified_json(verified: Verified, most: int) -> dict[str, Any]:
    """The shown repairs with their verifications, and the counts of the others."""
    repairs = [repair.as_json() | {"verification": verification.as_json()} for repair, verification in verified.shown(most)]
    counts = {"judged": verified.known, "not_judged": verified.total - verified.known}
    return {"repairs": repairs, "refused_by_tests": verified.refused, **counts}


def _print(
    name: str,
    request: Request,
    repairs: Repairs,
    surprises: Sequence[LineSurprise],
    verified: Sequence[tuple[Repair, Verification]] | None,
) -> None:
    from ..suggestion.repair.gathering import NOTHING_BETTER

    paint = Paint(wants_colour(sys.stdout))
    rows = [(repair, None) for repair in repairs.found] if verified is None else verified
    if repairs.nothing_better:
        say(f"{NOTHING_BETTER}.")
    for text in (*(_surprise_text(name, each) for each in surprises), *_repair_texts(name, request, rows)):
        for line in text:
            show_text(_coloured(paint, line))
        show("")
    for source, why in repairs.not_asked.items():
        # Who named no instruct model does not miss it.
        if source != "instruct" or request.asker is not None:
            say(f"not asked: {source}: {why}")
    if repairs.stopped_by is not None:
        say("there may be more: the time was up (--max-ms)")
    if not repairs.found and (repairs.why_none or repairs.stopped_by is None):
        say(f"No repair: {repairs.why_none or 'nothing else was found that fits here.'}")


def _surprise_text(name: str, found: LineSurprise) -> Iterator[str]:
    own = f"; the model would write: {found.alternative.strip()}" if found.alternative else ""
    yield f"{name}:{found.line + 1}: surprise {found.surprise:.2f} nats{own}"
    yield "  column  surprise  token"
    for token in found.tokens:
        instead = f"  instead: {token.alternative.strip()}" if token.alternative else ""
        yield f"  {token.start + 1:6}  {token.surprise:8.2f}  {token.text.strip() or '(end of line)'}{instead}"


def _repair_texts(name: str, request: Request, repairs: Sequence[tuple[Repair, Verification | None]]) -> Iterator[Iterator[str]]:
    for number, (repair, verification) in enumerate(repairs, 1):
        yield _repair_text(name, request, repair, verification, f"repair {number} of {len(repairs)}")


def _repair_text(name: str, request: Request, repair: Repair, verification: Verification | None, title: str) -> Iterator[str]:
    measures, place = repair.suggestion.measures, repair.suggestion.range
    facts = [f"gain {measures['logprob_gain']:+.2f} nats"] if "logprob_gain" in measures else []
    facts += ["mends the file"] if repair.mends else []
    facts += ["from " + ", ".join(repair.sources), *(rule.replace("_", " ") for rule in repair.rules)]
    yield f"{title}: {repair.suggestion.confidence.text}; {'; '.join(facts)}"
    if verification is not None:
        # The reason for "not verified" is printed once for all.
        yield verification.title if verification.passed else "not verified"
        yield from (f"mends {test}" for test in verification.mends)
        yield from (f"fails as before: {test}" for test in verification.failing[:_MAX_FAILING])
    first, end = place.start.line, place.end.line + 1
    new = repair.suggestion.text.split(request.newline)
    before, after = (
        _with_ends(request.lines, request.newline),
        _with_ends((*request.lines[:first], *new, *request.lines[end:]), request.newline),
    )
    for line in unified_diff(before, after, name, name, n=_CONTEXT):
        yield line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _with_ends(lines: Sequence[str], newline: str) -> list[str]:
    """Lines as a file has them: the last one has no end, and is none where it is empty."""
    return [line + newline for line in lines[:-1]] + [line for line in lines[-1:] if line]


def _coloured(paint: Paint, line: str) -> str:
    if line.startswith("-"):
        return paint(line, "red")
    return paint(line, "green") if line.startswith("+") else line

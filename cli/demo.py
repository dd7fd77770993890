"""`assay demo`: complete the example files at marked places, and show each suggestion with its band and evidence."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..calibration.control_characters import escaped
from .exit_codes import DONE
from .model import crowded_line, threads_of
from .options import Subparsers, command_parser, model_choice, registry_for, set_run
from .terminal import Paint, Style, clip, print_json, show, wants_colour, width_of

if TYPE_CHECKING:
    from ..calibration.calibrator import Calibrator
    from ..calibration.registry import Registry
    from ..inference.completion.settings import Settings
    from ..inference.llamacpp.threads import ThreadsInUse
    from ..inference.model import Model
    from ..inference.opening import ModelChoice
    from ..inference.project_memory.memory import Memory
    from ..suggestion.suggestion import Suggestion

EXAMPLES = Path(__file__).parents[1] / "examples"
SCHEMA = "assay/demo/1"
EVENT: Literal["exact_match"] = "exact_match"

_LARGER = "A larger model is right more often. See which fit this machine, and get one: assay model get"
_GUTTER = 7
_MIN_SUGGESTION_WIDTH = 20  # characters of a suggestion that stands far to the right
_LINES_BEFORE = 3
_LINES_AFTER = 2
_BAND_STYLES: Mapping[str, Style] = {"likely": "blue", "possible": "yellow", "unlikely": "red", "no evidence": "dim"}


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an example file: `cut` stood between prefix and suffix, from `line` (counted from 1) on."""

    file: str
    line: int
    kind: Literal["line", "block"]
    what: str
    prefix: str
    cut: str
    suffix: str


@dataclass(frozen=True, slots=True)
class PlaceResult:
    """The suggestion at a place, or None; whether it is what the author wrote; and how long it took."""

    place: Place
    suggestion: Suggestion | None
    exact: bool
    ms: float

    @property
    def tokens_per_second(self) -> float | None:
        """Tokens a second, without the time of the prompt; None without a suggestion."""
        if self.suggestion is None or self.suggestion.timings_ms["generate"] <= 0:
            return None
        return self.suggestion.measures["token_count"] / self.suggestion.timings_ms["generate"] * 1e3


@dataclass(frozen=True, slots=True)
class Summary:
    """The demo as a whole.

    sum_of_probabilities: how many of the suggestions with a number should be exact. threads: None if other processes or a GPU run the
    model.
    """

    places: int
    suggested: int
    exact: int
    with_probability: int
    sum_of_probabilities: float
    exact_with_probability: int
    median_ms: float
    tokens_per_second: float | None
    first_suggestion_ms: float
    opened_ms: float
    threads: ThreadsInUse | None = None


def register(commands: Subparsers) -> None:
    """Add `assay demo`."""
    parser = command_parser(commands, "demo", "complete example files, and show how likely each suggestion is to be right")
    set_run(parser, run, "model", "json")


def run(arguments: argparse.Namespace) -> int:
    """Complete every place, print each at once, and sum up. Raises ModelError."""
    from ..suggestion.memory.memories import Memories, project_in

    choice, as_json = model_choice(arguments), arguments.json
    places = load_places()
    paint = Paint(wants_colour(sys.stdout))
    registry = registry_for()
    began = time.perf_counter()
    with choice.open() as model:
        opened_ms = (time.perf_counter() - began) * 1e3
        if not as_json:
            show(_heading(model, choice, paint))
        results: list[PlaceResult] = []
        memories, project, settings = Memories(model), project_in(EXAMPLES), choice.settings_for(model)
        for place in places:
            memory = memories.at(place.prefix, place.suffix, place.file, "project", project)
            result = complete_place(model, registry, place, memory, settings)
            results.append(result)
            if not as_json:
                show("", *render(result, len(results), len(places), paint, width_of(sys.stdout)).split("\n"))
        fingerprint, threads = model.fingerprint, threads_of(model)
    summary = summarise(results, opened_ms, threads)
    calibrators = calibrators_in_use(results, registry)
    if as_json:
        document = {
            "schema": SCHEMA,
            "model": {"id": fingerprint.id, **asdict(fingerprint)},
            "places": [_result_json(result) for result in results],
            "summary": asdict(summary),
            "calibrators": [_calibrator_json(calibrator) for calibrator in calibrators],
        }
        print_json(document)
    else:
        show("", *render_summary(summary, calibrators, paint).split("\n"))
        if choice.where is None:
            show(_LARGER)
    return DONE


def load_places(folder: Path = EXAMPLES) -> list[Place]:
    """The places that `places.toml` marks in a folder's files. Raises ValueError, with file and line, for one that is not there."""
    import tomllib

    places = tomllib.loads((folder / "places.toml").read_text(encoding="utf-8"))
    return [_place(folder, **marked) for marked in places["place"]]


def _place(folder: Path, file: str, line: int, cut: str, what: str, kind: Literal["line", "block"] = "line") -> Place:
    text = (folder / file).read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    start, end = (sum(map(len, lines[:number])) for number in (line - 1, line))
    # The last occurrence in the line: a name that is cut at its end may also stand earlier.
    found = text.rfind(cut, start, end + len(cut))
    if not start <= found < end:
        raise ValueError(f"{folder / file}:{line}: {cut!r} does not begin on this line")
    return Place(file, line, kind, what, text[:found], cut, text[found + len(cut) :])


def complete_place(model: Model, registry: Registry, place: Place, memory: Memory | None, settings: Settings | None = None) -> PlaceResult:
    """Ask for a suggestion at a place. Raises ModelError."""
    from ..suggestion.suggest import suggest_at

    began = time.perf_counter()
    text = place.prefix + place.suffix
    suggestion = suggest_at(
        model, registry, text, len(place.prefix), kind=place.kind, language="python", event=EVENT, memory=memory, settings=settings
    )
    exact = suggestion is not None and suggestion.text.rstrip() == place.cut.rstrip()
    return PlaceResult(place, suggestion, exact, (time.perf_counter() - began) * 1e3)


def summarise(results: list[PlaceResult], opened_ms: float, threads: ThreadsInUse | None = None) -> Summary:
    """Counts and medians of the results. opened_ms: the time to open the model. threads: at the end."""
    import statistics

    rates = [rate for result in results if (rate := result.tokens_per_second) is not None]
    confidences = [(result.suggestion.confidence.probability, result.exact) for result in results if result.suggestion is not None]
    numbered = [(probability, exact) for probability, exact in confidences if probability is not None]
    return Summary(
        places=len(results),
        suggested=sum(result.suggestion is not None for result in results),
        exact=sum(result.exact for result in results),
        with_probability=len(numbered),
        sum_of_probabilities=sum(probability for probability, _ in numbered),
        exact_with_probability=sum(exact for _, exact in numbered),
        median_ms=statistics.median(result.ms for result in results),
        tokens_per_second=statistics.median(rates) if rates else None,
        first_suggestion_ms=opened_ms + results[0].ms,
        opened_ms=opened_ms,
        threads=threads,
    )


def calibrators_in_use(results: list[PlaceResult], registry: Registry) -> list[Calibrator]:
    """The calibrators that the suggestions name, each once, in order."""
    ids = dict.fromkeys(result.suggestion.confidence.calibrator for result in results if result.suggestion is not None)
    known = {entry.calibrator.id: entry.calibrator for entry in registry.entries}
    return [known[name] for name in ids if name is not None]


def render(result: PlaceResult, number: int, total: int, paint: Paint, width: int) -> str:
    """One result for people: where, the suggestion in its context, its band, and what the author wrote."""
    place, suggestion = result.place, result.suggestion
    lines = [f"{paint(f'{number}/{total}', 'dim')} {paint(f'{place.file}:{place.line}', 'bold')} {paint(place.what, 'dim')}"]
    lines += _context(place, "" if suggestion is None else suggestion.text, paint, width)
    if suggestion is None:
        verdict = paint("no suggestion", "dim")
    else:
        confidence = suggestion.confidence
        verdict = paint(confidence.text, _BAND_STYLES[confidence.band], "bold")
    written = "as the author wrote it" if result.exact else f"the author wrote: {_in_one_line(place.cut, 60)}"
    speed = f"{result.ms:.0f} ms" + (f", {rate:,.0f} tokens/s" if (rate := result.tokens_per_second) is not None else "")
    lines.append(f"{'':>{_GUTTER}}{verdict}  {paint(written, 'green' if result.exact else 'dim')}  {paint(speed, 'dim')}")
    return "\n".join(lines)


def render_summary(summary: Summary, calibrators: list[Calibrator], paint: Paint) -> str:
    """The last lines of the demo: how many were right, how fast, and the evidence behind the numbers."""
    lines = [paint(f"{summary.exact} of {summary.places} places exactly as the author wrote them", "bold")]
    if summary.with_probability:
        expected = f"{summary.sum_of_probabilities:.1f} of {summary.with_probability}"
        lines.append(f"The probabilities promised {expected} exact matches; it was {summary.exact_with_probability}.")
    rate = "" if summary.tokens_per_second is None else f", {summary.tokens_per_second:,.0f} tokens/s (medians)"
    opened = f"{summary.first_suggestion_ms:.0f} ms to the first suggestion, {summary.opened_ms:.0f} of them to open the model"
    lines.append(f"{summary.median_ms:.0f} ms for a suggestion{rate}; {opened}.")
    if summary.threads is not None and summary.threads.crowded:
        lines.append(crowded_line(summary.threads))
    lines += [_evidence_line(calibrator) for calibrator in calibrators]
    if not calibrators:
        lines.append("No calibrator fits this model, so no suggestion has a number. See: assay calibrate --help")
    return "\n".join(lines)


def _evidence_line(calibrator: Calibrator) -> str:
    evidence, skill = calibrator.evidence, calibrator.evidence.skill
    shown = "unknown" if skill is None else f"{skill.value:.2f} [{skill.low:.2f}, {skill.high:.2f}]"
    source = f"{evidence.n:,} lines of {evidence.groups} {calibrator.fitted_on.grouped_by}s, {evidence.base_rate:.0%} exact"
    error = f"ECE {evidence.ece.value:.3f} (noise floor {evidence.ece.noise_floor:.3f})"
    return f"Evidence for {calibrator.task} ({calibrator.status}): {source}; held out, skill {shown}, {error}."


def _heading(model: Model, choice: ModelChoice, paint: Paint) -> str:
    fingerprint = model.fingerprint
    size = f"{fingerprint.parameters / 1e6:.1f} M parameters, {fingerprint.quantisation}"
    where = "offline, on this machine" if choice.is_local else f"asking {choice.where}"
    return f"{paint('Assay', 'bold')} completes its example files with {fingerprint.name} ({size}), {where}."


def _context(place: Place, suggested: str, paint: Paint, width: int) -> list[str]:
    """The lines around the cursor with the suggestion in its place, numbered; each line is cut to the width."""
    before, after = place.prefix.split("\n"), place.suffix.split("\n")
    ghost = escaped(suggested).split("\n")
    rows: list[tuple[str, str, str]] = [(line, "", "") for line in before[-1 - _LINES_BEFORE : -1]]
    rows += [("", line, "") for line in ghost]
    first = len(rows) - len(ghost)
    rows[first] = (before[-1], ghost[0], "")
    rows[-1] = (rows[-1][0], rows[-1][1], after[0])
    rows += [(line, "", "") for line in after[1 : 1 + _LINES_AFTER]]
    lines = []
    for number, (left, middle, right) in enumerate(rows, start=place.line - first):
        if middle:
            middle = clip(middle, max(_MIN_SUGGESTION_WIDTH, width - _GUTTER - len(left) - 2))
            text = left + (paint(middle, "ghost") if paint.colour else f"«{middle}»") + right
        else:
            text = paint(clip((left + right).rstrip(), width - _GUTTER), "dim")
        lines.append(paint(f"{number:>{_GUTTER - 2}}", "dim") + (f"  {text}" if text else ""))
    return lines


def _in_one_line(text: str, width: int) -> str:
    first, *more = text.strip().split("\n")
    return clip(first, width) + (f" and {len(more)} more line{'s' * (len(more) != 1)}" if more else "")


def _result_json(result: PlaceResult) -> dict[str, Any]:
    place = result.place
    return {
        "file": place.file,
        "line": place.line,
        "column": len(place.prefix) - place.prefix.rfind("\n"),
        "what": place.what,
        "kind": place.kind,
        "author": place.cut,
        "suggestion": None if result.suggestion is None else result.suggestion.as_json(),
        "exact": result.exact,
        "ms": result.ms,
        "tokens_per_second": result.tokens_per_second,
    }


def _calibrator_json(calibrator: Calibrator) -> dict[str, Any]:
    return {
        "id": calibrator.id,
        "event": calibrator.event,
        "task": calibrator.task,
        "status": calibrator.status,
        "reason": calibrator.reason,
        "evidence": asdict(calibrator.evidence),
    }

"""What `assay logs …` does. Each returns the exit code: 0 done, 1 the work failed, 2 an unreadable log or wrong usage.

What a command finds out, and the JSON document (`as_json`), go to stdout, all else that people read to stderr.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...calibration.calibrator import Calibrator, save
from ...calibration.control_characters import strip_control_characters
from ...calibration.fitting.fit import FitError, fit
from ...calibration.log.evaluation import evaluations_of
from ...calibration.log.event_log import EventLog, EventLogError, EventLogUnavailable, default_path
from ...calibration.log.events import hash_of
from ...calibration.log.samples import AT_S, NOT_SEEN, LoggedSamples, samples_of, showings_of
from ...calibration.log.summary import summary_of
from ...calibration.registry import folders
from ...calibration.report.report import summary as evidence_line
from ...calibration.samples import Sample, SampleError, write_samples
from .wording import count, evaluation_told, mib, summary_told

_EVENT = "kept"
_DAY_MS = 86_400_000
# What editors leave as it is in the path of a URI: VS Code and pathlib nothing but these letters' like, Neovim also the delimiters of RFC
# 3986, and some clients everything.
_UNQUOTED = ("/", "/!$&'()*+,;=:@", None)


def logs_path(log: Path | None) -> int:
    """`assay logs path`: say where the log is."""
    path = log or default_path()
    print(path)
    if not path.exists():
        _say("there is none yet; a server makes it when an editor asks it for a suggestion")
    return 0


def logs_summary(log: Path | None, as_json: bool, *, days: float | None = None, at_s: int = AT_S) -> int:
    """`assay logs summary`: what is in the log. days: only so many of the last."""

    def work() -> int:
        passed_over = Counter[str]()
        with _opened(log) as opened:
            size, since_ms = opened.size, None if days is None else _now_ms() - int(days * _DAY_MS)
            found = summary_of(opened.rows(passed_over, since_ms=since_ms), at_s)
        if as_json:
            more = {"path": str(opened.path), "bytes": size, "at_s": at_s, "passed_over": dict(passed_over)}
            print(json.dumps(more | asdict(found), indent=1, allow_nan=False))
        else:
            print(strip_control_characters("\n".join(summary_told(found, opened.path, size, at_s))))
            _tell_passed_over(passed_over)
        return 0

    return _ended(work)


def logs_evaluate(log: Path | None, as_json: bool, *, days: float | None = None, at_s: int = AT_S) -> int:
    """`assay logs evaluate`: how what calibrators said came true. days: only so many of the last."""

    def work() -> int:
        passed_over = Counter[str]()
        with _opened(log) as opened:
            since_ms = None if days is None else _now_ms() - int(days * _DAY_MS)
            found = evaluations_of(showings_of(opened.rows(passed_over, since_ms=since_ms)), at_s)
        if as_json:
            more = {"path": str(log or default_path()), "at_s": at_s, "passed_over": dict(passed_over)}
            print(json.dumps(more | {"evaluations": list(map(asdict, found))}, indent=1, allow_nan=False))
            return 0
        for one in found:
            print(strip_control_characters("\n  ".join(evaluation_told(one, at_s))))
        if not found:
            _say("nothing to evaluate: no suggestion that was seen had a probability")
        _tell_passed_over(passed_over)
        return 0

    return _ended(work)


def logs_export(log: Path | None, out: Path, as_json: bool, *, at_s: int = AT_S, only: dict[str, str | None] | None = None) -> int:
    """`assay logs export --out FILE`: write samples with the label `kept`. only: of this task, model and prompt, by name."""

    def work() -> int:
        if _is_database(out):
            _say(f"assay: {out}: it is an SQLite file, perhaps a log of events, and is left alone: name another file")
            return 2
        logged = _samples(log, at_s, only or {})
        write_samples(out, logged.samples)
        parts = _by_kind(logged.samples)
        _tell_left_out(logged)
        for (task, model, prompt), samples in parts.items():
            _say(f"{task} of the model {model}, prompt {prompt}: {_counted(samples)}")
        if len(parts) > 1:
            _say("note: a calibrator is fitted to one task, model and prompt: see --task, --model and --prompt")
        _say(f"written: {count(len(logged.samples), 'sample')}: {out}")
        if as_json:
            kinds = [_kind_json(kind) | _counts_json(samples) for kind, samples in parts.items()]
            print(json.dumps({"file": str(out), "n": len(logged.samples), "left_out": logged.left_out, "kinds": kinds}, indent=1))
        return 0

    return _ended(work)


def logs_recalibrate(log: Path | None, as_json: bool, *, dry_run: bool = False) -> int:
    """`assay logs recalibrate`: fit a calibrator of the event kept for each task, model and prompt of the log that has enough labels.

    They go to the user's registry folder, where servers find them at once, each to a file of its own that the next one replaces.
    dry_run: write nothing.
    """

    def work() -> int:
        folder = dict(folders())["user"]
        written: list[dict[str, Any]] = []
        refused: list[dict[str, Any]] = []
        logged = _samples(log, AT_S, {})
        _tell_left_out(logged)
        for kind, samples in _by_kind(logged.samples).items():
            task, model, prompt = kind
            said = _kind_json(kind) | _counts_json(samples)
            try:
                calibrator = _fitted(samples)
            except FitError as error:
                refused.append(said | {"reason": str(error)})
                _say(f"{task} of the model {model}: {_answered(samples)}: no calibrator: {error}")
                continue
            path = folder / f"{_EVENT}-{task}-{model[:8]}-{prompt[:8]}.json"
            if not dry_run:
                save(calibrator, path)
            evidence = calibrator.evidence
            written.append(
                said
                | {"path": str(path), "id": calibrator.id, "event": _EVENT, "n": evidence.n, "positives": evidence.positives}
                | {"status": calibrator.status, "reason": calibrator.reason, "skill": evidence.skill and asdict(evidence.skill)}
            )
            _say(f"{task} of the model {model}: {_answered(samples)}: {evidence_line(calibrator)}\nbecause: {calibrator.reason}")
            _say(f"{'would be written' if dry_run else 'written'}: {path}")
        if not written and not refused:
            none = "all that was shown is left out" if logged.left_out.keys() - {NOT_SEEN} else "the log has no suggestion that was shown"
            _say(f"no calibrator: {none}")
        if written:
            _say(f"note: servers say these percentages where the setting assay.event is {_EVENT}")
        if as_json:
            print(json.dumps({"dry_run": dry_run, "written": written, "refused": refused}, indent=1, allow_nan=False))
        return 0

    return _ended(work)


def logs_prune(log: Path | None, *, days: float, megabytes: float) -> int:
    """`assay logs prune`: delete what is older, and the oldest beyond a size, as servers do each hour; the space goes back to the disk."""

    def work() -> int:
        with _opened(log) as opened:
            before = opened.size
            deleted = sum(opened.prune(days, megabytes))
            _say(f"{deleted:,} events deleted, {mib(before)} before, {mib(opened.size)} now: {opened.path}")
        return 0

    return _ended(work)


def logs_forget(
    log: Path | None,
    *,
    document: str | None = None,
    before: datetime | None = None,
    text: bool = False,
    sure: bool = False,
    ask: Callable[[str], str] = input,
) -> int:
    """`assay logs forget`: delete all about a document (a path or a URI), all from before a time, all code, or, without any of these, all.

    sure: do not ask. What was deleted is overwritten in the file. 1 where another process reads the log, so that remains may be there yet,
    and where nothing in the log is about the document.
    """

    def work() -> int:
        with _opened(log) as opened:
            if not sure and not _agreed(f"Delete {_what(document, before, text)} from {opened.path}?", ask):
                _say("nothing was deleted")
                return 1
            if document is not None:
                deleted = opened.forget_documents(map(hash_of, _uris(document)))
            elif before is not None:
                deleted = opened.forget_before(int(before.timestamp() * 1e3))
            else:
                deleted = opened.forget_texts() if text else opened.forget_all()
            none = document is not None and not deleted
            if none:
                _say(f"nothing was deleted: no event in {opened.path} is about {document}. Is that its whole path, as the editor has it?")
            else:
                _say(f"{deleted:,} events deleted: {opened.path}")
            # also where nothing was deleted now: remains of what was deleted before may be there yet
            if opened.overwritten():
                return 1 if none else 0
            _say(f"another process reads the log: remains are in {opened.path}-wal until it ends; then run this again")
            return 1

    return _ended(work)


def _ended(work: Callable[[], int]) -> int:
    try:
        return work()
    except EventLogUnavailable as error:
        _say(f"assay: {error}")
        return 1
    except (EventLogError, SampleError) as error:
        _say(f"assay: {error}")
        return 2
    except BrokenPipeError:
        raise
    except OSError as error:
        _say(f"assay: {error.filename}: can't be written: {error.strerror}" if error.filename else f"assay: can't be written: {error}")
        return 1


def _is_database(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def _opened(log: Path | None) -> EventLog:
    return EventLog(log or default_path())


def _samples(log: Path | None, at_s: int, only: dict[str, str | None]) -> LoggedSamples:
    passed_over = Counter[str]()
    with _opened(log) as opened:
        logged = samples_of(showings_of(opened.rows(passed_over)), at_s)
    _tell_passed_over(passed_over)
    wanted = {name: value for name, value in only.items() if value is not None}
    chosen = tuple(sample for sample in logged.samples if all(getattr(sample, name) == value for name, value in wanted.items()))
    return LoggedSamples(chosen, logged.left_out)


def _by_kind(samples: Iterable[Sample]) -> dict[tuple[str, str, str], list[Sample]]:
    """By task, model and prompt: what calibrators are fitted to one of."""
    parts: dict[tuple[str, str, str], list[Sample]] = {}
    for sample in samples:
        parts.setdefault((sample.task, sample.model, sample.prompt), []).append(sample)
    return dict(sorted(parts.items()))


def _fitted(samples: Sequence[Sample]) -> Calibrator:
    """Raises FitError also for too few samples: a calibrator that is insufficient gives no number."""
    calibrator = fit(samples, _EVENT).calibrator
    if calibrator.status == "insufficient":
        raise FitError(calibrator.reason)
    return calibrator


def _uris(document: str) -> set[str]:
    """How editors may write a document's URI."""
    if "://" in document or document.startswith("untitled:"):
        return {document}
    found = set[str]()
    for path in {Path(document).absolute(), Path(document).resolve()}:
        text = path.as_posix()
        for root in {text, text[:1].lower() + text[1:]} if path.drive else {text}:
            whole = root if root.startswith("/") else f"/{root}"
            raw = os.fsencode(whole)
            found |= {f"file://{whole if unquoted is None else quote(raw, safe=unquoted)}" for unquoted in _UNQUOTED}
    return found


def _agreed(question: str, ask: Callable[[str], str]) -> bool:
    if ask is input and not (sys.stdin and sys.stdin.isatty()):
        _say(f"{question} Say so with --yes.")
        return False
    print(strip_control_characters(question), end=" ", file=sys.stderr, flush=True)
    try:
        return ask("[y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _what(document: str | None, before: datetime | None, text: bool) -> str:
    if document is not None:
        return f"all events about {document}"
    if before is not None:
        return f"all events from before {before.isoformat(sep=' ', timespec='minutes')}"
    return "all code" if text else "all events"


def _counted(samples: Sequence[Sample]) -> str:
    known = _counts_json(samples)
    return f"{len(samples):,} samples, {known['labelled']:,} with a label, {known['positives']:,} of them kept"


def _answered(samples: Sequence[Sample]) -> str:
    """What the label is of: who ignores a suggestion says nothing of it, and who dismisses it only through a client that tells."""
    known = _counts_json(samples)
    return f"of {len(samples):,} shown it is known of {known['labelled']:,} whether they were kept ({known['positives']:,} were)"


def _counts_json(samples: Sequence[Sample]) -> dict[str, Any]:
    labels = [label for sample in samples if (label := sample.labels[_EVENT]) is not None]
    return {"samples": len(samples), "labelled": len(labels), "positives": sum(labels)}


def _kind_json(kind: tuple[str, str, str]) -> dict[str, Any]:
    return dict(zip(("task", "model", "prompt"), kind, strict=True))


def _tell_left_out(logged: LoggedSamples) -> None:
    if logged.left_out:
        _say(f"left out: {', '.join(f'{count:,} {reason}' for reason, count in logged.left_out.items())}")


def _tell_passed_over(passed_over: Counter[str]) -> None:
    if passed_over["unknown"]:
        _say(f"note: {passed_over['unknown']:,} events of kinds that this version does not know were passed over")
    if passed_over["damaged"]:
        _say(f"note: {passed_over['damaged']:,} events that can't be read were passed over")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _say(text: str) -> None:
    print(strip_control_characters(text), file=sys.stderr)

"""The work of `assay calibrate validate`: the table of one calibrator, from the samples of runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exit_codes import UsageError
from ..terminal import say
from .inputs import check_fits, samples_of

if TYPE_CHECKING:
    from ...calibration.calibrator import Calibrator
    from ...calibration.validation.inputs import Inputs
    from ...calibration.validation.studies import StudyFigures
    from ...calibration.validation.table import Row, Validation

SAMPLES, FACTS = "samples", "facts.jsonl"


def write_table(calibrator: Calibrator, file: Path, runs: Sequence[Path]) -> tuple[Path, Validation]:
    """Write the table of a calibrator, with the figures of some runs, beside its file. Returns path and table. Raises as `run`."""
    from ...calibration.validation import table

    path = table.path_of(calibrator, file)
    in_project = _check_unlinked(path)
    before = _before(calibrator, path, follow=not in_project)
    studies = list(_files_by_study(runs, calibrator.task))
    rows = [row for each in studies for row in _rows(calibrator, file, each)]
    try:
        found = table.merged(before, rows)
    except ValueError as error:
        raise UsageError(f"{path}: {error}; fit the calibrator again and register other projects") from None
    table.save(found, path, follow=not in_project)
    return path, found


def document_of(path: Path, found: Validation) -> dict[str, object]:
    """The table as one JSON document."""
    from ...calibration.validation.words import refuted, summary

    return {"file": str(path), **asdict(found), "summary": summary(found), "refuted": refuted(found)}


@dataclass(frozen=True, slots=True)
class _StudyFiles:
    """The files of one study: samples of the plain input, samples of others by suffix, and facts.

    names: of the runs. projects: as their questions name them; none where some are no runs. tested: whether tests judged the texts.
    """

    study: StudyFigures
    plain: tuple[Path, ...]
    others: Mapping[str, tuple[Path, ...]]
    facts: tuple[Path, ...]
    names: tuple[str, ...]
    projects: frozenset[str]
    tested: bool


def _files_by_study(runs: Sequence[Path], task: str) -> Iterator[_StudyFiles]:
    """The files by study, in the order of the first run of each.

    A file of samples, or a folder that is not a run, counts for the calibration study.
    """
    from ...calibration.validation.calibration_study import STUDY
    from ...calibration.validation.studies import studies

    known = studies()
    by_study: dict[str, list[Path]] = {}
    for run in runs:
        by_study.setdefault(known[_study_of(run, list(known)) or STUDY].STUDY, []).append(run)
    for name, of in by_study.items():
        study = known[name]
        suffixes = (*study.ARMS, *study.STREAMS)
        plain: list[Path] = []
        others: dict[str, list[Path]] = {suffix: [] for suffix in suffixes}
        for path in (file for each in of for file in _files_of(each, task, suffixes)):
            suffix = next((suffix for suffix in suffixes if path.name.endswith(f"-{suffix}.jsonl")), None)
            (plain if suffix is None else others[suffix]).append(path)
        if not plain:
            raise UsageError(
                f"{', '.join(map(str, of))}: only samples of other inputs; name the run, or the plain samples {task}.jsonl, too"
            )
        facts = tuple(each / FACTS for each in of) if study.FACT else ()
        names = tuple(dict.fromkeys(each.resolve().name for each in of))
        projects, tested = _asked_of(of)
        yield _StudyFiles(study, tuple(plain), {suffix: tuple(paths) for suffix, paths in others.items()}, facts, names, projects, tested)


def _files_of(run: Path, task: str, suffixes: Sequence[str]) -> list[Path]:
    """The files of samples of a run for a task, the plain one first. A file stands for itself."""
    if not run.is_dir():
        return [run]
    folder = run / SAMPLES
    plain, *others = (folder / f"{task}{suffix}.jsonl" for suffix in ("", *(f"-{suffix}" for suffix in suffixes)))
    if not plain.is_file():
        there = ", ".join(sorted(path.name for path in folder.glob("*.jsonl"))) or "none"
        raise UsageError(f"{plain} is not there, and the calibrator is for the task {task}; files of samples in {folder}: {there}")
    return [plain, *(path for path in others if path.is_file())]


def _asked_of(runs: Sequence[Path]) -> tuple[frozenset[str], bool]:
    """The projects of runs, and whether tests judged them all."""
    from ...offline_eval.run import RUN, Run

    if not all((run / RUN).is_file() for run in runs):
        return frozenset(), True
    questions = [Run.opened(run).question() for run in runs]
    projects = frozenset(project for question in questions for project in question.get("projects", ()))
    return projects, all(question.get("set") != "code" for question in questions)


def _study_of(run: Path, known: Sequence[str]) -> str | None:
    """The study of a run; None if it is not a run. Raises UsageError for a study without figures of calibrators."""
    from ...offline_eval.run import RUN, Run

    if not (run / RUN).is_file():
        return None
    study: str = Run.opened(run).question()["study"]
    if study not in known:
        raise UsageError(f"{run} is a run of the study {study}, which says nothing of a calibrator; name runs of: {', '.join(known)}")
    return study


def _rows(calibrator: Calibrator, path: Path, found: _StudyFiles) -> Sequence[Row]:
    from ...calibration.held_out import folds_path, load_folds
    from ...calibration.validation import table
    from ...calibration.validation.fresh import registration_of
    from ...calibration.validation.held_out import BY_OWN_MAP, NotHeldOut, held_out

    if calibrator.event not in found.study.EVENTS:
        events = ", ".join(found.study.EVENTS)
        raise UsageError(
            f"the study {found.study.STUDY} says something of calibrators for {events} alone; {path} is for {calibrator.event}"
        )
    kept = folds_path(calibrator, path)
    folds = load_folds(kept) if kept.is_file() else None
    if folds is None:
        _check_not_mixed(calibrator, path, found.plain)
    inputs = _inputs(found)
    check_fits(calibrator, path, [*inputs.plain, *(sample for arm in found.study.ARMS for sample in inputs.others[arm])])
    if not any(sample.labels.get(calibrator.event) is not None for sample in inputs.plain):
        raise UsageError(f"none of the {len(inputs.plain)} samples has a label for {calibrator.event}, which {path} is about")
    try:
        source = held_out(calibrator, inputs.plain, folds)
        registration = registration_of(calibrator.id, found.projects) if source.validates else None
        if registration:
            source = replace(source, how=registration.said(len({sample.project for sample in inputs.plain})))
        if found.study.FACT and not found.tested:
            source = replace(source, how=f"{source.how}; no test judged: right is what stood there")
        made = found.study.figures(calibrator, inputs, source)
    except NotHeldOut as error:
        raise UsageError(str(error)) from None
    if source.how == BY_OWN_MAP:
        say(f"note: {path} has no folds: the figures are held out only if it was fitted on none of these projects (fit --keep-folds)")
    date = registration.date if registration else ""
    return table.rows_of(made, found.study.STUDY, ", ".join(found.names), inputs.sha256(), date)


def _check_not_mixed(calibrator: Calibrator, path: Path, plain: Sequence[Path]) -> None:
    """Raise UsageError if the calibrator was fitted on some of the files only."""
    from ...calibration.validation.held_out import are_its_own

    if len(plain) < 2 or are_its_own(calibrator, samples_of(plain)):
        return
    for file in plain:
        if are_its_own(calibrator, samples_of([file])):
            raise UsageError(
                f"{file} holds the samples that {path} was fitted on, and the others are new: validate them one by one, or fit it "
                "again with --keep-folds"
            )


def _inputs(found: _StudyFiles) -> Inputs:
    """Samples and facts, read. Raises SampleError, and UsageError for facts that are missing or damaged."""
    import msgspec

    from ...calibration.validation.inputs import Inputs

    facts: dict[str, Any] = {}
    for path in found.facts:
        again = f"`assay eval report {path.parent}` writes them again"
        if not path.is_file():
            raise UsageError(f"{path} is missing, which says what the texts are; {again}")
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    fact: Any = msgspec.json.decode(line, type=found.study.FACT)
                except (msgspec.DecodeError, RecursionError) as error:
                    raise UsageError(f"{path}:{number}: not the facts of a text: {error}; {again}") from None
                facts[fact.id] = fact
    others = {suffix: samples_of(paths) if paths else [] for suffix, paths in found.others.items()}
    return Inputs(samples_of(found.plain), others, facts)


def _before(calibrator: Calibrator, path: Path, *, follow: bool) -> Validation:
    """The existing table, or an empty one. Raises UsageError if the existing one can't be continued."""
    from ...calibration.validation import table

    if not path.exists():
        return table.empty(calibrator)
    try:
        before = table.load(path, follow=follow)
    except table.ValidationError as error:
        raise UsageError(f"{error}; delete the file to have it made anew") from None
    if not before.is_of(calibrator):
        raise UsageError(f"{path} is of another event, task, model or prompt than the calibrator; delete it")
    return before


def _check_unlinked(path: Path) -> bool:
    """True if the table is in a project's folder, which may come from anywhere. Raises OSError if a link leads out of it."""
    from ...calibration.project_folder import check_unlinked, project_with

    folder = path.absolute().parent
    if project_with(folder) is None:
        return False
    check_unlinked(folder)
    return True

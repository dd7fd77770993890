"""The registry of calibrators: where their files are, which one applies, and why.

Files are in three folders: the project's, for that project alone, if the user trusts it; the user's; and those shipped with the package.
Precedence: one of this very model, then one of its kin (another quantisation of it), then one of the model that still borrows, then one for
any model. Among these a project's, then a user's, then a shipped one. Within a folder, one for several alternatives comes first where
several were drawn, then the newest. One that is `insufficient` is taken only if no other matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import get_args

from ..inference.hub.catalogue import kin_of
from .calibrator import Calibrator, CalibratorError
from .calibrator_files import FileState, Places, files_of, look
from .calibrator_files import Origin as Origin
from .confidence import whose
from .data_folder import data_folder
from .guards import GIVING
from .language_names import name_of_language, names_of_languages
from .measures.agreement import SINGLE_DRAW, Drawn
from .measures.registry import MEASURES
from .project_folder import PROJECT_FOLDER, link_in
from .trust import Trust, remembered
from .validation import table
from .validation.table import Validation

# By name (model, prompt, …) what a calibrator is for that is not what is asked for.
_Differences = dict[str, tuple[str, ...]]
# A model, a prompt and decoder, an event, a task and a language.
_Key = tuple[str, str, str, str, str]
_ORIGINS: tuple[Origin, ...] = get_args(Origin)
# In place of a model: any one; and, before what they share, those of one kin.
_ANY, _KIN = "any", "kin "


@dataclass(frozen=True, slots=True)
class Entry:
    """One calibrator in the registry.

    validation: what studies say of it, where a table lies beside it. kin: it was chosen for another quantisation of its model.
    """

    origin: Origin
    path: Path
    calibrator: Calibrator
    validation: Validation | None = None
    kin: bool = False

    @property
    def project(self) -> Path | None:
        """Root folder of the project that it is for. None for a user's or a shipped one, which are for any project."""
        return self.path.parents[len(PROJECT_FOLDER.parts)] if self.origin == "project" else None


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a calibrator is asked for. All of it must match: a map fitted to another prompt, language or project says nothing here.

    model: a fingerprint's id; prompt: the id of the prompt and the decoder; file: absolute path of what is completed, None for a text that
    is in no file yet and belongs to the project that is worked on. kin: of the model (`inference.model.Fingerprint.kin`).

    A calibrator for any model matches every model and prompt, and one of the model's kin that model.
    """

    model: str
    prompt: str
    event: str
    task: str
    language: str
    file: Path | None = None
    kin: str = ""


@dataclass(frozen=True, slots=True)
class Registry:
    """All calibrators that can be read, in order of precedence, and why the other files can't be read."""

    entries: tuple[Entry, ...]
    skipped: tuple[str, ...]
    # The entries that a suggestion can have, by what they are for.
    _usable: dict[_Key, list[Entry]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        """See the class."""
        for entry in sorted(self.entries, key=_for_first_choices):
            made = entry.calibrator.fitted_on
            if not _reflective(entry):
                for language in made.languages:
                    self._add(entry, made.model, made.prompt, language)
                    if (kin := _kin_of(entry)) and entry.calibrator.status in GIVING:
                        self._add(replace(entry, kin=True), _KIN + kin, made.prompt, language)
                    if made.models:
                        self._add(entry, _ANY, _ANY, language)

    def _add(self, entry: Entry, model: str, prompt: str, language: str) -> None:
        self._usable.setdefault((model, prompt, entry.calibrator.event, entry.calibrator.task, language), []).append(entry)

    def usable(self, purpose: Purpose) -> list[Entry]:
        """Those that match a purpose and need no more of the model than a suggestion has, in order of precedence."""
        what = (purpose.event, purpose.task, purpose.language)
        every = self._usable.get((purpose.model, purpose.prompt, *what), [])
        own, borrowing = ([each for each in every if (each.calibrator.status == "borrowed") == still] for still in (False, True))
        kin = [each for each in self._usable.get((_KIN + purpose.kin, purpose.prompt, *what), []) if not _is_of(each, purpose.model)]
        common = self._usable.get((_ANY, _ANY, *what), [])
        return [entry for entry in (*own, *kin, *borrowing, *common) if _is_for_file(entry, purpose.file)]


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A calibrator that was not chosen, and why: "it is for the task line, not block"."""

    entry: Entry
    reason: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The calibrator to use, or None; the reason in one line; and all others, those nearest to what was asked for first."""

    entry: Entry | None
    reason: str
    passed_over: tuple[PassedOver, ...]

    @property
    def calibrator(self) -> Calibrator | None:
        """The chosen entry's calibrator."""
        return self.entry.calibrator if self.entry else None


def folders(project: Path | None = None) -> list[tuple[Origin, Path]]:
    """The folders of calibrators in order of precedence. project: root folder of the project that is worked on."""
    found: list[tuple[Origin, Path]] = [("project", project / PROJECT_FOLDER)] if project else []
    found.append(("user", data_folder() / "calibrators"))
    found.append(("shipped", Path(__file__).parent / "shipped"))
    return found


def registry_of(entries: Iterable[Entry], skipped: Iterable[str]) -> Registry:
    """A registry with the entries in order of precedence."""

    def rank(entry: Entry) -> tuple[int, float, Path]:
        return _ORIGINS.index(entry.origin), -datetime.fromisoformat(entry.calibrator.fitted_on.date).timestamp(), entry.path

    return Registry(tuple(sorted(entries, key=rank)), tuple(skipped))


def registry_of_files(places: Places, files: Mapping[Path, FileState], left_out: Iterable[str]) -> Registry:
    """The registry of what was read in some folders. Its `skipped` says what can't be read behind what was `left_out` before."""
    origins = {folder: origin for origin, folder in places}
    entries = []
    for path, file in files.items():
        if isinstance(calibrator := file.content, Calibrator):
            beside = files.get(table.path_of(calibrator, path))
            said = beside.content if beside and isinstance(beside.content, Validation) and beside.content.is_of(calibrator) else None
            entries.append(Entry(origins[path.parent], path, calibrator, said))
    return registry_of(entries, dict.fromkeys([*left_out, *(file.error for file in files.values() if file.error)]))


def read_registry(places: Places, left_out: Iterable[str] = ()) -> Registry:
    """Read every calibrator of the folders."""
    return registry_of_files(places, look(places, {}), left_out)


def why_left_out(project: Path, trust: Callable[[Path], Trust] = remembered) -> tuple[str, bool]:
    """Why a project's own calibrators do not count, and whether the user can be asked; ("", False) where they do, or there are none.

    trust: what is known of the project; it is called where there are any. Raises CalibratorError as `files_of`.
    """
    if (link := link_in(project)) is not None:
        return f"{link}: a symbolic link, and none is followed in a project", False
    if not files_of("project", project / PROJECT_FOLDER)[0] or (found := trust(project)).counts:
        return "", False
    return f"{project / PROJECT_FOLDER}: its calibrators are not used: {found.why_not}", found.is_open


def load_registry(project: Path | None = None) -> Registry:
    """The registry of this machine, with the calibrators of a project where the user trusts it: `read_registry` of `folders`."""
    try:
        reason = "" if project is None else why_left_out(project)[0]
    except CalibratorError:  # raised again when it is read
        reason = ""
    return read_registry(folders(None if reason else project), filter(None, (reason,)))


def choose(registry: Registry, purpose: Purpose, drawn: Drawn = SINGLE_DRAW) -> Entry | None:
    """The calibrator for a purpose and one of what was drawn there; None where there is none.

    A project's or user's calibrator that is `uninformative` is still taken before another: there is evidence of no skill in this project.
    A shipped one that is so in a language gives way to one that is not, such as the map for any model. One that needs a reflective measure
    is never taken: a suggestion has none, for the model would have to be asked again.

    drawn: a calibrator that was fitted on all alternatives of a place is taken only where as many were drawn, for each of them, and goes
    before one of the same origin that was fitted on first choices; that one is for first choices alone.
    """
    return _first_sufficient([entry for entry in registry.usable(purpose) if _suits(entry, drawn)], purpose.language)


def explain_choice(registry: Registry, purpose: Purpose, drawn: Drawn = SINGLE_DRAW, prompt_mismatch: str = "") -> Choice:
    """What `choose` gives, why, and why not each other one. It costs many times what `choose` does.

    prompt_mismatch: what makes the prompt another than the usual one, for people, where that is known: said where no calibrator is for the
    prompt.
    """
    differing = [(entry, _differences(entry, purpose)) for entry in registry.entries]
    matching = [entry for entry, differences in differing if not differences]
    unfit = [(entry, _why_unfit(entry, drawn)) for entry in matching if _reflective(entry) or not _suits(entry, drawn)]
    chosen = choose(registry, purpose, drawn)
    if chosen:
        lender = whose(chosen.calibrator, kin=chosen.kin)
        reason = f"{_matches(chosen, purpose.language)}{'; borrowed ' if lender else ''}{lender}"
        reason += why_not_own(registry, chosen, purpose, prompt_mismatch)
    elif unfit:
        reason = f"{name_of(unfit[0][0])} matches, but {unfit[0][1]}"
    else:
        reason = _nothing_matches(differing, purpose, prompt_mismatch)
    fit = sorted([entry for entry in matching if not _reflective(entry) and _suits(entry, drawn)], key=_for_first_choices)
    passed_over = [PassedOver(entry, _why_after(entry, chosen, purpose)) for entry in fit if chosen and entry.path != chosen.path]
    passed_over += [PassedOver(entry, f"it matches, but {why}") for entry, why in unfit]
    for entry, differences in sorted(differing, key=lambda pair: len(pair[1])):
        if differences:
            passed_over.append(PassedOver(entry, _why_other(differences, purpose)))
    return Choice(chosen, reason, tuple(passed_over))


def why_not_own(registry: Registry, chosen: Entry, purpose: Purpose, prompt_mismatch: str) -> str:
    """Why a model that has calibrators of its own borrows one, to be said behind that; empty where it has none, or the reason is not known.

    prompt_mismatch: as of `explain_choice`.
    """
    if not prompt_mismatch or not chosen.calibrator.fitted_on.models or not any(_is_of(entry, purpose.model) for entry in registry.entries):
        return ""
    return f"; the model's own are not for what it is shown here: {prompt_mismatch}"


def name_of(entry: Entry) -> str:
    """What people read of an entry: "user mine.json (2026-11-09, n = 600)"."""
    made = entry.calibrator.fitted_on
    return f"{entry.origin} {entry.path.name} ({made.date[:10]}, n = {made.n})"


def source_of(entry: Entry) -> str:
    """Where a calibrator's numbers come from, for people: "shipped with Assay"."""
    if entry.origin == "shipped":
        return "shipped with Assay"
    if entry.origin == "project":
        return f"this project's own folder, {PROJECT_FOLDER.as_posix()}"
    # Whether a suggestion was kept only a log can tell.
    return "your own calibrators" + (", fitted to your log" if entry.calibrator.event == "kept" else "")


def _requirements(purpose: Purpose) -> dict[str, str | Path | None]:
    """By the names that people read, in the order in which they are looked at: what a user knows of comes before the prompt."""
    return {
        "model": purpose.model,
        "language": purpose.language,
        "event": purpose.event,
        "task": purpose.task,
        "prompt": purpose.prompt,
        "project": purpose.file,
    }


def _differences(entry: Entry, purpose: Purpose) -> _Differences:
    made, required = entry.calibrator.fitted_on, _requirements(purpose)
    offers = {
        "model": (made.model,),
        "language": made.languages,
        "event": (entry.calibrator.event,),
        "task": (entry.calibrator.task,),
        "prompt": (made.prompt,),
    }
    if made.models:
        offers = {what: theirs for what, theirs in offers.items() if what not in ("model", "prompt")}
    elif is_kin(entry, purpose.model, purpose.kin):
        del offers["model"]
    found = {what: theirs for what, theirs in offers.items() if required[what] not in theirs}
    if not _is_for_file(entry, purpose.file):
        found["project"] = (str(entry.project),)
    return found


def _is_of(entry: Entry, model: str) -> bool:
    return entry.calibrator.fitted_on.model == model


def _kin_of(entry: Entry) -> str:
    made = entry.calibrator.fitted_on
    return made.kin or kin_of(made.model)


def is_kin(entry: Entry, model: str, kin: str) -> bool:
    """Whether a calibrator is of another quantisation of the model with this fingerprint id and kin, and gives numbers."""
    return bool(kin) and _kin_of(entry) == kin and entry.calibrator.status in GIVING and not _is_of(entry, model)


def _is_for_file(entry: Entry, file: Path | None) -> bool:
    """A project's calibrators are for the files below its root folder alone."""
    return file is None or entry.project is None or file.is_relative_to(entry.project)


def _for_first_choices(entry: Entry) -> tuple[int, bool]:
    """What sorts calibrators of one origin: those for all alternatives go first."""
    return _ORIGINS.index(entry.origin), entry.calibrator.fitted_on.alternatives == 1


def _first_sufficient(entries: Sequence[Entry], language: str) -> Entry | None:
    """The first that gives numbers in a language or was fitted here and found no skill; else the first that is not `insufficient`."""
    said = [(entry, entry.calibrator.status_in(language)[0]) for entry in entries]
    first = next((entry for entry, status in said if status in GIVING or (entry.origin != "shipped" and status != "insufficient")), None)
    return first or next((entry for entry, status in said if status != "insufficient"), entries[0] if entries else None)


def _reflective(entry: Entry) -> list[str]:
    """The measures that it needs and a suggestion has not."""
    return [name for name in entry.calibrator.features if MEASURES[name].cost]


def _suits(entry: Entry, drawn: Drawn) -> bool:
    """Whether a calibrator that is for this place is for what was drawn there."""
    alternatives = entry.calibrator.fitted_on.alternatives
    return drawn.rank == 1 if alternatives == 1 else alternatives == drawn.count and drawn.agreement is not None


def _why_unfit(entry: Entry, drawn: Drawn) -> str:
    """Why a calibrator that is for this place is not for what was drawn there."""
    alternatives = entry.calibrator.fitted_on.alternatives
    if reflective := _reflective(entry):
        return f"needs {', '.join(reflective)}: the model would have to be asked again, which it is not for a suggestion"
    if alternatives == 1:
        return f"was fitted on first choices, and this is number {drawn.rank}"
    if alternatives != drawn.count:
        return f"is for one of {alternatives} alternatives, and here {'one was' if drawn.count == 1 else f'{drawn.count} were'} drawn"
    return "needs agreement, and log-probabilities are not known"


def _matches(chosen: Entry, language: str) -> str:
    status, reason = chosen.calibrator.status_in(language)
    if status in GIVING and whose(chosen.calibrator, kin=chosen.kin):
        return f"{name_of(chosen)} matches: {reason}"
    return f"{name_of(chosen)} matches and is {status}: {reason}"


def _why_after(entry: Entry, chosen: Entry, purpose: Purpose) -> str:
    """Why the chosen one has precedence over another that matches, too."""
    status, reason = entry.calibrator.status_in(purpose.language)
    if status == "insufficient" or (status not in GIVING and chosen.calibrator.status_in(purpose.language)[0] in GIVING):
        return f"it matches, but is {status}: {reason}"
    if entry.calibrator.fitted_on.models and not chosen.calibrator.fitted_on.models:
        return "it is for any model, and one of this model goes before it"
    if chosen.kin and _is_of(entry, purpose.model):
        return "it still borrows, and one of another quantisation of this model goes before it"
    if not _is_of(entry, purpose.model) and _is_of(chosen, purpose.model):
        return "it is of another quantisation of this model, and one of this very model goes before it"
    if entry.origin != chosen.origin:
        return f"it matches, but a {chosen.origin} one goes before a {entry.origin} one"
    if _for_first_choices(entry) > _for_first_choices(chosen):
        return "it matches, but one for all alternatives goes before one for first choices"
    return "it matches, but a newer one goes before it"


def _why_other(differences: _Differences, purpose: Purpose) -> str:
    """What one that does not match is for. Of a prompt people know no more than that it is another."""
    named = {what: theirs for what, theirs in differences.items() if what != "prompt"}
    is_for = "; ".join(f"the {what} {', '.join(theirs)}, not {_requirements(purpose)[what]}" for what, theirs in named.items())
    parts = [*([f"is for {is_for}"] if named else []), *(["was fitted with another prompt"] if "prompt" in differences else [])]
    return f"it {', and '.join(parts)}"


def _nothing_matches(differing: list[tuple[Entry, _Differences]], purpose: Purpose, prompt_mismatch: str) -> str:
    """The first thing, in the order of `_asked`, that no calibrator which matches so far is for."""
    shared: list[str] = []
    for what, wanted in _requirements(purpose).items():
        matching = [(entry, differences) for entry, differences in differing if what not in differences]
        if differing and not matching:
            of_these = f" for this {', '.join(shared[:-1])}{' and ' if shared[:-1] else ''}{shared[-1]}" if shared else ""
            if what == "prompt" and prompt_mismatch:
                return f"no calibrator{of_these} is for what it is shown here: {prompt_mismatch}"
            if what == "prompt":
                them = "the calibrator{} was" if len(differing) == 1 else "the calibrators{} were"
                return f"{them.format(of_these)} fitted with another prompt or memory (assay.memory)"
            if what == "model":
                models = sorted({_model_of(entry) for entry, _ in differing})
                return f"no calibrator is for this model ({wanted}), only for {', '.join(models)}"
            others = sorted({theirs for _, differences in differing for theirs in differences[what]})
            if what == "language":
                return _in_other_languages(len(differing), tuple(others), purpose.language)
            return f"no calibrator{of_these} is for the {what} {wanted}, only for {', '.join(others)}"
        differing = matching
        shared.append(what)
    return "there is no calibrator"


def _in_other_languages(calibrators: int, theirs: tuple[str, ...], wanted: str) -> str:
    are = "the calibrator for this model is" if calibrators == 1 else "the calibrators for this model are"
    return f"{are} for {names_of_languages(theirs)}, not for {name_of_language(wanted)}"


def _model_of(entry: Entry) -> str:
    made = entry.calibrator.fitted_on
    if made.models:
        return "any model"
    return f"{made.model_name} ({made.model})" if made.model_name else made.model

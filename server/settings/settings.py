"""Parses the settings of an editor: any JSON becomes `LiveSettings` and a list of problems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from ...calibration.bands import BOUNDARIES, Boundaries
from ...calibration.samples import Event
from ...inference.opening import FLAGS, ModelChoice, ModelOptions
from ...inference.prompt_size import SizeChoice
from ...suggestion.memory.scope import Scope
from ..tracking.event_writer import LogTarget
from .table import SETTINGS, Plain, Setting, ShowAbove, Wanted
from .values import MAX_QUOTED, clipped, quoted

SECTION = "assay"
_ALL = f"The section {SECTION} of the settings"

# More unknown names than this are only counted: some clients send all settings of all extensions.
_MAX_UNKNOWN_NAMED = 5
# vscode-languageclient reads `assay.trace.server` itself, and VS Code sends it with the others.
_OF_THE_CLIENT = ("trace", "trace.server")


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """All settings, with defaults for those that are not set. `SETTINGS` describes each.

    model_options: by the names of inference/opening.py. delay, max_ms, repair_max_ms: milliseconds. context_*: tokens.
    """

    model: str | None
    model_folders: frozenset[Path]
    model_options: ModelOptions
    event: Event
    kind: Wanted
    automatic: bool
    delay: float | Literal["adaptive"]
    in_comments: bool
    in_strings: bool
    disabled_languages: frozenset[str]
    show_above: ShowAbove
    show_uncalibrated: bool
    show_refuted: bool
    bands: Boundaries
    alternatives: int
    context_size: SizeChoice
    context_prefix_tokens: int | None
    context_suffix_tokens: int | None
    context_head_tokens: int | None
    context_open_files: int | None
    memory: Scope
    max_ms: float
    remember: bool
    speculate: bool
    plain_completion: Plain
    repair_enabled: bool
    repair_max_ms: float
    repair_candidates: int
    repair_instruct: str | None
    log_events: bool
    log_path: Path | None
    log_text: bool
    log_days: int
    log_megabytes: int
    explore: float
    repair_verify: bool
    tests_after_acceptance: bool
    tests_python: Path | None
    diagnostics: bool

    @property
    def exploring(self) -> float:
        """The share of hidden suggestions that are shown at random: 0 without a log."""
        return self.explore if self.log_events else 0.0

    @property
    def log_target(self) -> LogTarget | None:
        """The log for events; None without a log."""
        return LogTarget(self.log_path, self.log_text, self.log_days, self.log_megabytes) if self.log_events else None

    def model_or(self, default: ModelChoice) -> ModelChoice:
        """The model of the settings, or the default, whose own options apply only to it."""
        if self.model is not None:
            return ModelChoice(self.model, self.model_options, self.context_size)
        size = default.prompt_size if self.context_size == "auto" else self.context_size
        return ModelChoice(default.where, {**default.options, **self.model_options}, size)


def _camel(flag: str) -> str:
    return re.sub(r"-([a-z])", lambda letter: letter[1].upper(), flag.removeprefix("--"))


SHOW_ABOVE = next(setting for setting in SETTINGS if setting.name == "showAbove")
_NAMES = frozenset(setting.name for setting in SETTINGS)
_GROUPS = frozenset(name.partition(".")[0] for name in _NAMES if "." in name)
_MODEL_OPTIONS = {f"modelOptions.{_camel(flag)}": option for option, flag in FLAGS.items()}


def parse_settings(*values: Any) -> tuple[LiveSettings, tuple[str, ...]]:
    """Parse what `initializationOptions` and `workspace/configuration` give for `assay`.

    values: the last one that has a setting counts. A setting may be nested, written with a dotted name, or below a key `assay`. Null means
    not set.

    Returns the settings, and the problems in sentences for people. A setting with an invalid value gets its default. Never raises.
    """
    problems: list[str] = []
    flat: dict[str, Any] = {}
    for value in values:
        flat |= _flat(value, problems)
    read: dict[str, Any] = {}
    for setting in SETTINGS:
        value = flat.get(setting.name)
        try:
            read[setting.name] = setting.read(value)
        except ValueError as error:
            read[setting.name] = setting.read(None)
            problems.append(_wrong(setting, value, str(error)))
    fields = {setting.field: read[setting.name] for setting in SETTINGS}
    fields["bands"] = _bands(read["bands.likelyFrom"], read["bands.possibleFrom"], problems)
    fields["model_options"] = {option: read[name] for name, option in _MODEL_OPTIONS.items() if read[name] is not None}
    return LiveSettings(**fields), tuple(problems)


def new_problems(problems: Iterable[str], reported: set[str]) -> tuple[str, ...]:
    """The problems that are not in `reported` yet; adds them to it."""
    new = tuple(problem for problem in dict.fromkeys(problems) if problem not in reported)
    reported.update(new)
    return new


def reload_needed(old: LiveSettings, new: LiveSettings) -> bool:
    """True if the model must be loaded again. All other settings take effect with the next request."""
    return any(getattr(old, setting.field) != getattr(new, setting.field) for setting in SETTINGS if setting.reloads)


def _flat(value: Any, problems: list[str]) -> dict[str, Any]:
    """The settings in one value by their names, without nulls. Adds problems with the names to the list."""
    found: dict[str, Any] = {}
    unknown: list[str] = []
    for name, leaf in _leaves(value, problems):
        if name in found:
            problems.append(f"{SECTION}.{name} is set twice: {quoted(leaf)} is used, {quoted(found[name])} is not.")
        if name in _NAMES:
            found[name] = leaf
        elif name not in _OF_THE_CLIENT:
            unknown.append(name)
    problems += map(_unknown, unknown[:_MAX_UNKNOWN_NAMED])
    if len(unknown) > _MAX_UNKNOWN_NAMED:
        problems.append(f"There are {len(unknown) - _MAX_UNKNOWN_NAMED:,} more unknown names among the settings of Assay.")
    return found


def _leaves(value: Any, problems: list[str]) -> Iterator[tuple[str, Any]]:
    """The dotted names with their values, no deeper than the table goes."""
    if isinstance(value, dict):
        yield from _leaves_of(_object(value.get(SECTION), _ALL, problems), "", problems)
        yield from _leaves_of({key: inner for key, inner in value.items() if key != SECTION}, "", problems)
    else:
        _object(value, _ALL, problems)


def _leaves_of(settings: dict[str, Any], group: str, problems: list[str]) -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        name = group + key if group else key.removeprefix(f"{SECTION}.")
        if name in _GROUPS:
            yield from _leaves_of(_object(value, f"{SECTION}.{name}", problems), f"{name}.", problems)
        elif value is not None or name not in _NAMES:
            yield name, value


def _object(value: Any, name: str, problems: list[str]) -> dict[str, Any]:
    """The value if it is an object, else an empty one. (Neovim sends an empty table as an empty list.)"""
    if isinstance(value, dict):
        return value
    if value is not None and value != []:
        problems.append(f"{name} can't be {quoted(value)}, only an object with settings in it. It is ignored.")
    return {}


def _bands(likely_from: float, possible_from: float, problems: list[str]) -> Boundaries:
    try:
        return Boundaries(likely_from, possible_from)
    except ValueError:
        problems.append(
            f"{SECTION}.bands.likelyFrom can't be {likely_from} while {SECTION}.bands.possibleFrom is {possible_from}: it must be "
            f"greater, and both must be above 0. Their defaults are used: {BOUNDARIES.likely_from} and {BOUNDARIES.possible_from}."
        )
        return BOUNDARIES


def _wrong(setting: Setting, value: Any, reason: str) -> str:
    reason = reason or f"it may be {setting.values.words}"
    return f"{SECTION}.{setting.name} can't be {quoted(value)}: {reason}. Its default is used: {setting.default_words}."


def _unknown(name: str) -> str:
    message = f"There is no setting {SECTION}.{clipped(name)}; it is ignored."
    # This also finds a name without its group, and one with underscores. A long name is not compared: that takes too long.
    spellings = {_letters(known.rpartition(".")[2]): known for known in sorted(_NAMES)}
    spellings |= {_letters(known): known for known in (*_GROUPS, *_NAMES)}
    near = get_close_matches(_letters(name), spellings, n=1) if len(name) <= MAX_QUOTED else []
    return f"{message} Did you mean {SECTION}.{spellings[near[0]]}?" if near else message


def _letters(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


DEFAULTS = parse_settings()[0]

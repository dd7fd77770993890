"""What a user set in the editor: values from JSON that may hold anything, the problems to tell, the document and VS Code's schema.

`python -m assay.server.settings.settings` prints docs/settings.md.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from ...calibration.bands import BOUNDARIES, Boundaries
from ...calibration.samples import Event
from ...inference.opening import FLAGS, ModelChoice, ModelOptions
from ..tracking.event_writer import LogTarget
from .table import SETTINGS, Plain, Setting, Wanted
from .values import SHOWN, clipped, shown

SECTION = "assay"
_ALL = f"The section {SECTION} of the settings"

# A client that sends all that its user has set for everything would fill the screen.
_UNKNOWN_NAMED = 5
# vscode-languageclient reads `assay.trace.server` itself, and VS Code sends it with the others.
_OF_THE_CLIENT = ("trace", "trace.server")


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """What is set, and the defaults for the rest. What each means is in `SETTINGS`, and so is its default: see `DEFAULTS`.

    model_options: by the names of inference/opening.py; delay, max_ms: milliseconds; context_*: tokens, None for what is said there.
    """

    model: str | None
    model_options: ModelOptions
    event: Event
    kind: Wanted
    automatic: bool
    delay: float | Literal["adaptive"]
    in_comments: bool
    in_strings: bool
    disabled_languages: frozenset[str]
    show_above: float
    show_uncalibrated: bool
    bands: Boundaries
    alternatives: int
    context_prefix_tokens: int | None
    context_suffix_tokens: int | None
    context_head_tokens: int | None
    context_open_files: int | None
    max_ms: float
    remember: bool
    speculate: bool
    plain_completion: Plain
    log_events: bool
    log_path: Path | None
    log_text: bool
    log_days: int
    log_megabytes: int
    explore: float
    diagnostics: bool

    @property
    def exploring(self) -> float:
        """The share of hidden suggestions that are shown at random: 0 where nothing writes down what becomes of them."""
        return self.explore if self.log_events else 0.0

    @property
    def log_target(self) -> LogTarget | None:
        """Where events are logged; None for nowhere."""
        return LogTarget(self.log_path, self.log_text, self.log_days, self.log_megabytes) if self.log_events else None

    def model_or(self, default: ModelChoice) -> ModelChoice:
        """The model to open. The default's options are for the default's model: they do not follow another."""
        if self.model is not None:
            return ModelChoice(self.model, self.model_options)
        return ModelChoice(default.where, {**default.options, **self.model_options})


def _camel(flag: str) -> str:
    return re.sub(r"-([a-z])", lambda letter: letter[1].upper(), flag.removeprefix("--"))


_NAMES = frozenset(setting.name for setting in SETTINGS)
_GROUPS = frozenset(name.partition(".")[0] for name in _NAMES if "." in name)
_MODEL_OPTIONS = {f"modelOptions.{_camel(flag)}": option for option, flag in FLAGS.items()}


def parse_settings(*values: Any) -> tuple[LiveSettings, tuple[str, ...]]:
    """The settings in `initializationOptions`, or in what `workspace/configuration` gives for `assay`, and what is wrong with them.

    Of several values each goes before those in front of it, setting by setting. A setting is found nested, by its dotted name, and below
    one key `assay`; null counts as not set. Never raises: a setting whose value can't be has its default, and each problem is told in
    whole sentences, for people.
    """
    problems: list[str] = []
    given: dict[str, Any] = {}
    for value in values:
        given |= _given(value, problems)
    read: dict[str, Any] = {}
    for setting in SETTINGS:
        value = given.get(setting.name)
        try:
            read[setting.name] = setting.read(value)
        except ValueError as error:
            read[setting.name] = setting.read(None)
            problems.append(_wrong(setting, value, str(error)))
    fields = {setting.field: read[setting.name] for setting in SETTINGS}
    fields["bands"] = _bands(read["bands.likelyFrom"], read["bands.possibleFrom"], problems)
    fields["model_options"] = {option: read[name] for name, option in _MODEL_OPTIONS.items() if read[name] is not None}
    return LiveSettings(**fields), tuple(problems)


def problems_not_told(problems: Iterable[str], told: set[str]) -> tuple[str, ...]:
    """Those of the problems that the user was not told of yet; from here on they are in `told`."""
    new = tuple(problem for problem in dict.fromkeys(problems) if problem not in told)
    told.update(new)
    return new


def reload_needed(old: LiveSettings, new: LiveSettings) -> bool:
    """Whether the model has to be opened again for the new settings to hold; the others hold from the next request on."""
    return any(getattr(old, setting.field) != getattr(new, setting.field) for setting in SETTINGS if setting.reloads)


def _given(value: Any, problems: list[str]) -> dict[str, Any]:
    """The settings of one value by their names, nulls left out; what is wrong with the names goes to the problems."""
    found: dict[str, Any] = {}
    unknown: list[str] = []
    for name, leaf in _leaves(value, problems):
        if name in found:
            problems.append(f"{SECTION}.{name} is set twice: {shown(leaf)} is used, {shown(found[name])} is not.")
        if name in _NAMES:
            found[name] = leaf
        elif name not in _OF_THE_CLIENT:
            unknown.append(name)
    problems += map(_unknown, unknown[:_UNKNOWN_NAMED])
    if len(unknown) > _UNKNOWN_NAMED:
        problems.append(f"There are {len(unknown) - _UNKNOWN_NAMED:,} more names among the settings of Assay that it does not know.")
    return found


def _leaves(value: Any, problems: list[str]) -> Iterator[tuple[str, Any]]:
    """The dotted names that are set, with their values: no deeper than the table goes, however deep the value is."""
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
    """The value, an empty one where it is none. Neovim writes an empty table as an empty list."""
    if isinstance(value, dict):
        return value
    if value is not None and value != []:
        problems.append(f"{name} can't be {shown(value)}, only an object with settings in it. Assay goes on without it.")
    return {}


def _bands(likely_from: float, possible_from: float, problems: list[str]) -> Boundaries:
    try:
        return Boundaries(likely_from, possible_from)
    except ValueError:
        problems.append(
            f"{SECTION}.bands.likelyFrom can't be {likely_from} while {SECTION}.bands.possibleFrom is {possible_from}: it has to be "
            f"greater, and both above 0. Their defaults are used: {BOUNDARIES.likely_from} and {BOUNDARIES.possible_from}."
        )
        return BOUNDARIES


def _wrong(setting: Setting, value: Any, reason: str) -> str:
    reason = reason or f"it may be {setting.values.words}"
    return f"{SECTION}.{setting.name} can't be {shown(value)}: {reason}. Its default is used: {setting.default_words}."


def _unknown(name: str) -> str:
    said = f"There is no setting {SECTION}.{clipped(name)}; Assay goes on without it."
    # Found are also a name without its group and one with underscores. Comparing takes time that grows with the length.
    spellings = {_letters(known.rpartition(".")[2]): known for known in sorted(_NAMES)}
    spellings |= {_letters(known): known for known in (*_GROUPS, *_NAMES)}
    near = get_close_matches(_letters(name), spellings, n=1) if len(name) <= SHOWN else []
    return f"{said} Did you mean {SECTION}.{spellings[near[0]]}?" if near else said


def _letters(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


def settings_markdown() -> str:
    """docs/settings.md."""
    rows = (
        f"| `{SECTION}.{setting.name}`{' ↻' if setting.reloads else ''} | {setting.values.words} "
        f"| {f'null: {setting.unset}' if setting.default is None else f'`{shown(setting.default)}`'} | {setting.description} |"
        for setting in SETTINGS
    )
    return "\n".join([_INTRODUCTION, "| setting | may be | default | |", "|:---|:---|:---|:---|", *rows, ""])


def settings_json_schema() -> dict[str, dict[str, Any]]:
    """What a VS Code extension has as `contributes.configuration.properties`."""
    return {f"{SECTION}.{setting.name}": _property(setting, order) for order, setting in enumerate(SETTINGS)}


def _property(setting: Setting, order: int) -> dict[str, Any]:
    schema = dict(setting.values.schema)
    description = setting.description
    if setting.default is None:
        schema["type"] = [*([kind] if isinstance(kind := schema["type"], str) else kind), "null"]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
        description += f" Default: {setting.unset}."
    if setting.reloads:
        description += " A change opens the model again."
    # VS Code takes a setting of the scope "machine" from its user, never from an opened project.
    scope = "machine" if setting.own else "window"
    default = json.loads(json.dumps(setting.default))
    return {**schema, "default": default, "markdownDescription": description, "scope": scope, "order": order}


_INTRODUCTION = """\
# Settings

For whoever sets up Assay in an editor. This page lists every setting, what it may be, and its default.

This command writes the page. The settings themselves are in `server/settings/table.py`.

```sh
python -m assay.server.settings.settings > docs/settings.md
```

An editor gives the settings to the language server in `initializationOptions`, or as its answer to
`workspace/configuration` for the section `assay`. Where both are there, the answer has precedence, setting by setting.
All of these say the same:

```json
{"bands": {"likelyFrom": 0.8}, "showAbove": 0.5}
{"bands.likelyFrom": 0.8, "showAbove": 0.5}
{"assay": {"bands": {"likelyFrom": 0.8}, "showAbove": 0.5}}
{"assay.bands.likelyFrom": 0.8, "assay.showAbove": 0.5}
```

* A setting that is null counts as not set. A setting with an invalid value has its default. Assay reports that once,
  and also a name that is no setting.
* A path may begin with `~`. A relative path counts from the folder that the server was started in.
* A change holds from the next request on. With ↻ the model is opened again for it.
* Not every model can have all of the `modelOptions` ([models.md](models.md)). Assay reports one that it can't have when
  it is opened.
* [dial.md](dial.md) measures how many of the suggestions above some probability are right. [events.md](events.md) says
  what is logged, what never is, and how to forget it.
* VS Code does not let an opened project set the model, its options or the log, because these decide where code is sent
  and what is written. Other editors may. There, trust a project's settings as far as you trust the project.
"""

DEFAULTS = parse_settings()[0]

if __name__ == "__main__":
    sys.stdout.write(settings_markdown())

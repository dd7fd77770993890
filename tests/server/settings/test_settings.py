from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.calibration.bands import BOUNDARIES, Boundaries
from assay.inference.opening import FLAGS, ModelChoice
from assay.server.settings.document import settings_json_schema, settings_markdown
from assay.server.settings.settings import DEFAULTS, LiveSettings, parse_settings, reload_needed
from assay.server.settings.table import SETTINGS, Setting
from assay.server.settings.values import fits
from assay.server.tracking.event_writer import LogTarget

DOCUMENT = Path(__file__).parents[3] / "docs" / "settings.md"
BY_NAME = {setting.name: setting for setting in SETTINGS}
GROUPS = sorted({name.partition(".")[0] for name in BY_NAME if "." in name})
ENUMS = sorted({word for setting in SETTINGS for word in setting.values.schema.get("enum", ())})

NUMBERS = st.one_of(
    st.integers(-2, 20),
    st.sampled_from([50, 60_000, 60_001, 5000, 512, 513, 1 << 24, (1 << 24) + 1, 10**400, -(10**400), 4.0, -0.0, 0.1, 0.7, 1.0]),
    st.floats(),
    st.integers(),
)
# also what json.loads lets through: NaN, the infinities and lone surrogates
TEXTS = st.one_of(
    st.sampled_from([*ENUMS, "auto", "adaptive", "~", "~nobody-here/a"]), st.text(st.characters(exclude_categories=()), max_size=80)
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
NAMES = st.one_of(st.sampled_from([*BY_NAME, *GROUPS, "assay", "trace.server", ""]), TEXTS)
KEYS = st.builds(lambda prefix, name: prefix + name, st.sampled_from(["", "", "assay."]), NAMES)
LEAVES = st.sampled_from([name.rpartition(".")[2] for name in BY_NAME])
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.one_of(KEYS, LEAVES), inner, max_size=6), max_leaves=20
)


def as_json(value: Any) -> Any:
    """A value of LiveSettings as an editor would write it."""
    match value:
        case Path():
            return str(value)
        case frozenset():
            return sorted(map(as_json, value))
        case _:
            return value


def values_of(settings: LiveSettings) -> Iterator[tuple[Setting, Any]]:
    option_of = {re.sub(r"-(.)", lambda letter: letter[1].upper(), flag[2:]): option for option, flag in FLAGS.items()}
    bands = {"likelyFrom": settings.bands.likely_from, "possibleFrom": settings.bands.possible_from}
    for setting in SETTINGS:
        group, _, leaf = setting.name.partition(".")
        match group:
            case "modelOptions":
                yield setting, settings.model_options.get(option_of[leaf])
            case "bands":
                yield setting, bands[leaf]
            case _:
                yield setting, getattr(settings, setting.field)


# For each setting a right value that is not the default, and wrong ones.
VALUES: dict[str, tuple[Any, list[Any]]] = {
    "model": ("http://localhost:8080", ["", 3, True, ["a.gguf"], "a\0b", "\ud800", "~nobody-here/a.gguf"]),
    "modelFolders": (["models"], ["models", [""], [3], ["~nobody-here/models"], ["a\0b"]]),
    "modelOptions.context": (2048, [0, 1.5, "4096", True, 1 << 25]),
    "modelOptions.threads": ("auto", [0, -1, True, 513, "all"]),
    "modelOptions.gpuLayers": ("auto", [-1, "all", False]),
    "modelOptions.kvCache": ("q8_0", ["f64", 16]),
    "modelOptions.flashAttention": (False, [1, "true", 0.0]),
    "modelOptions.chunk": (64, [0]),
    "modelOptions.device": ("cuda:1", ["", 0]),
    "modelOptions.dtype": ("float32", ["", {}]),
    "modelOptions.serverModel": ("a", ["", 1]),
    "modelOptions.keyFile": (
        {"https://gpu.example": "key.txt"},
        ["~nobody-here/key", "", {"gpu.example": "key"}, {"https://gpu.example": 3}, {"https://gpu.example": ""}],
    ),
    "event": ("kept", ["correct", [], 1]),
    "kind": ("function", ["page", {"line": 1}]),
    "automatic": (False, [1, 0, "yes"]),
    "delay": (12.5, ["slow", -1, 5001, math.nan, True]),
    "inComments": (False, [0]),
    "inStrings": (False, ["false"]),
    "disabledLanguages": (["markdown"], ["python", ["python", 3], [""], {"python": True}]),
    "showAbove": (0.5, [1.01, -0.01, math.nan, math.inf, "0.5", "balanced", True, 10**400]),
    "showUncalibrated": (False, [1]),
    "showRefuted": (True, [1, "true"]),
    "bands.likelyFrom": (0.9, ["0.7", 70, True]),
    "bands.possibleFrom": (0.1, [-0.1, math.nan]),
    "alternatives": (8, [0, 9, 2.5, True]),
    "context.size": ("small", ["huge", 560]),
    "context.prefixTokens": (1000, [0, "all"]),
    "context.suffixTokens": (0, [-1]),
    "context.headTokens": (0, [0.5]),
    "context.openFiles": (0, [False]),
    "memory": ("off", ["on", True, "File"]),
    "maxMs": (50, [49, 60_001, -math.inf]),
    "remember": (False, [0]),
    "speculate": (False, [0]),
    "plainCompletion": ("off", [True, "always"]),
    "log.events": (False, [1, "no"]),
    "log.path": ("events.sqlite3", ["", "~nobody-here/log", True, "a\0"]),
    "log.text": (True, [1]),
    "log.days": (30, [0, 0.5, True]),
    "log.megabytes": (1, [0, "256"]),
    "explore": (0.1, [0.11, True]),
    "repair.enabled": (False, [1]),
    "repair.maxMs": (500, [99, "500", True, 600_001]),
    "repair.candidates": (3, [0, 21, 1.5, True]),
    "repair.instruct": ("http://localhost:8080", ["", 3, "a\0b"]),
    "repair.verify": (False, ["ask"]),
    "tests.afterAcceptance": (True, [1]),
    "tests.python": ("python3", ["", True, "a\0"]),
    "diagnostics": (True, [1]),
}
OTHER = {name: right for name, (right, _) in VALUES.items()}


def nested(name: str, value: Any) -> dict[str, Any]:
    group, _, leaf = name.rpartition(".")
    return {group: {leaf: value}} if group else {leaf: value}


def forms(name: str, value: Any) -> list[dict[str, Any]]:
    """All the ways in which clients write it."""
    return [nested(name, value), {name: value}, {"assay": nested(name, value)}, {"assay": {name: value}}, {f"assay.{name}": value}]


@given(JSON, JSON)
@example({"assay": {"assay": {"assay": 3}}}, {"": 1, "assay.": 2})
@example({"model": {"": []}}, {"bands": {"possibleFrom": 0.9}})
def test_any_json_gives_settings_that_are_valid_and_problems_that_can_be_shown(first: Any, second: Any) -> None:
    parsed, problems = parse_settings(first, second)
    for setting, value in values_of(parsed):
        assert setting.read(as_json(value)) == value
    Boundaries(parsed.bands.likely_from, parsed.bands.possible_from)
    for problem in problems:
        assert re.match(r"(assay\.|There is no setting assay\.|The section assay |There are )", problem)
        assert problem.endswith((".", "?"))
        assert len(problem.encode()) < 2000
        assert not re.search(r"[\x00-\x1f\x7f]", problem)


def test_a_value_nested_beyond_all_measure_is_a_problem_like_any_other() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    below: Any = 1
    for _ in range(100_000):
        below = {"assay": below}
    assert "model can't be" in parse_settings({"model": deep})[1][0]
    assert "disabledLanguages can't be" in parse_settings({"disabledLanguages": deep})[1][0]
    assert "section assay" in parse_settings(deep)[1][0]
    assert "assay.assay" in parse_settings(below)[1][0]


def test_each_default_is_right_by_its_own_check_and_null_ones_say_what_they_come_to() -> None:
    for setting, value in values_of(DEFAULTS):
        if setting.default is None:
            assert value is None
            assert setting.unset
        else:
            assert setting.values.read(setting.default) == value
            assert not setting.unset
    written = {name.removeprefix("assay."): row["default"] for name, row in settings_json_schema().items()}
    for nothing_else in (None, json.loads(json.dumps(written))):
        assert parse_settings(nothing_else) == (DEFAULTS, ())


def test_the_rows_and_the_fields_are_the_same() -> None:
    assert {setting.field for setting in SETTINGS} == {field.name for field in fields(LiveSettings)}
    assert VALUES.keys() == BY_NAME.keys()
    assert len(BY_NAME) == len(SETTINGS)
    assert not BY_NAME.keys() & set(GROUPS)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_setting_is_found_however_a_client_writes_it(name: str) -> None:
    defaults = [as_json(value) for _, value in values_of(DEFAULTS)]
    for form in forms(name, OTHER[name]):
        parsed, problems = parse_settings(form)
        written = {setting.name: as_json(value) for setting, value in values_of(parsed)}
        assert problems == ()
        assert {key: value for (key, value), default in zip(written.items(), defaults, strict=True) if value != default} == {
            name: OTHER[name]
        }


@pytest.mark.parametrize("name", BY_NAME)
def test_a_wrong_value_is_named_and_its_default_is_used_while_the_others_hold(name: str) -> None:
    other = "speculate" if name != "speculate" else "diagnostics"
    for number, value in enumerate(VALUES[name][1]):
        parsed, problems = parse_settings({**forms(name, value)[number % 5], other: OTHER[other]})
        assert parsed == replace(DEFAULTS, **{other: OTHER[other]})
        assert len(problems) == 1
        assert problems[0].startswith(f"assay.{name} can't be ")
        assert problems[0].endswith(f"Its default is used: {BY_NAME[name].default_words}.")


@pytest.mark.parametrize(
    ("written", "why", "then"),
    [
        ({"kind": "page"}, 'assay.kind can\'t be "page": it may be "auto", "line", "block" or "function".', '"auto"'),
        ({"delay": 9000}, 'assay.delay can\'t be 9000: it may be "adaptive" or a number of milliseconds from 0 to 5,000.', '"adaptive"'),
        ({"disabledLanguages": ["c", 3]}, 'assay.disabledLanguages can\'t be ["c", 3]: 3 in it is not a language.', "[]"),
        (
            {"log": {"path": "~nobody-here/a"}},
            'assay.log.path can\'t be "~nobody-here/a": there is no such home folder; give the whole path.',
            "`events.sqlite3` in the user's data folder",
        ),
        ({"maxMs": 10**5000}, "assay.maxMs can't be such a large number: it may be a number of milliseconds from 50 to 60,000.", "10000"),
    ],
)
def test_a_problem_says_what_was_given_what_it_may_be_and_what_is_used(written: Any, why: str, then: str) -> None:
    assert parse_settings(written)[1] == (f"{why} Its default is used: {then}.",)


def test_what_should_hold_settings_and_does_not_is_told() -> None:
    rest = "only an object with settings in it. It is ignored."
    assert parse_settings({"bands": 3, "kind": "line"}) == (replace(DEFAULTS, kind="line"), (f"assay.bands can't be 3, {rest}",))
    for written in ([1], {"assay": [1]}):
        assert parse_settings(written) == (DEFAULTS, (f"The section assay of the settings can't be [1], {rest}",))


def test_boundaries_that_leave_a_band_empty_are_both_replaced_and_told_together() -> None:
    for likely, possible in ((0.3, None), (0.5, 0.5), (None, 0.9), (0.7, 0)):
        parsed, problems = parse_settings({"bands": {"likelyFrom": likely, "possibleFrom": possible}})
        assert parsed.bands == BOUNDARIES
        assert len(problems) == 1
        assert "assay.bands.likelyFrom" in problems[0]
        assert "assay.bands.possibleFrom" in problems[0]
        assert "0.7 and 0.4" in problems[0]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("kinds", "kind"),
        ("SHOW_ABOVE", "showAbove"),
        ("threads", "modelOptions.threads"),
        ("logPath", "log.path"),
    ],
)
def test_an_unknown_name_is_told_with_the_one_that_was_meant(written: str, meant: str) -> None:
    for form in forms(written, 1):
        parsed, problems = parse_settings(form)
        assert parsed == DEFAULTS
        assert problems == (f"There is no setting assay.{written}; it is ignored. Did you mean assay.{meant}?",)


def test_a_name_like_no_other_is_told_without_a_guess_and_a_flood_of_them_in_short() -> None:
    assert parse_settings({"qqqq": 1})[1] == ("There is no setting assay.qqqq; it is ignored.",)
    flood = parse_settings({f"{number:03}" + "q" * 1000: {} for number in range(300)})[1]
    assert len(flood) == 6
    assert flood[-1] == "There are 295 more unknown names among the settings of Assay."


def test_what_vs_code_s_client_keeps_in_the_section_is_not_called_unknown() -> None:
    assert parse_settings({"trace": {"server": "verbose"}, "kind": "line"}) == (replace(DEFAULTS, kind="line"), ())
    assert parse_settings({"trace.server": "off"}) == (DEFAULTS, ())


def test_a_setting_that_is_there_in_two_ways_is_told() -> None:
    parsed, problems = parse_settings({"bands.likelyFrom": 0.8, "bands": {"likelyFrom": 0.9}})
    assert parsed.bands.likely_from == 0.9
    assert problems == ("assay.bands.likelyFrom is set twice: 0.9 is used, 0.8 is not.",)
    assert parse_settings({"bands.likelyFrom": 0.8, "bands": {"likelyFrom": None}})[1] == ()


def test_the_later_of_two_values_goes_first_setting_by_setting_and_null_is_not_set() -> None:
    parsed, problems = parse_settings({"kind": "line", "maxMs": 500}, {"assay": {"kind": "block", "maxMs": None, "alternatives": 2}})
    assert parsed == replace(DEFAULTS, kind="block", max_ms=500, alternatives=2)
    assert problems == ()
    assert parse_settings({"kind": "line"}, {"kind": "page"})[0] == DEFAULTS


@pytest.mark.parametrize("name", BY_NAME)
def test_the_model_is_opened_again_for_its_own_settings_only(name: str) -> None:
    changed = parse_settings({name: OTHER[name]})[0]
    assert changed != DEFAULTS
    assert reload_needed(DEFAULTS, changed) is reload_needed(changed, DEFAULTS) is BY_NAME[name].reloads
    assert BY_NAME[name].reloads is (name == "model" or name.startswith("modelOptions."))
    assert not reload_needed(changed, parse_settings({name: OTHER[name]})[0])


def test_a_home_folder_is_written_out_and_an_address_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    parsed, problems = parse_settings({"model": "~/a.gguf", "log.path": "~/log", "modelOptions": {"keyFile": "~/key"}})
    assert problems == ()
    assert parsed.model == str(tmp_path / "a.gguf")
    assert parsed.log_path == tmp_path / "log"
    assert parsed.model_options == {"key_files": {"": str(tmp_path / "key")}}
    parsed, problems = parse_settings({"modelOptions.keyFile": {"https://gpu.example": "~/key"}})
    assert (parsed.model_options, problems) == ({"key_files": {"https://gpu.example": str(tmp_path / "key")}}, ())
    assert parse_settings({"model": "https://a/~b//c"})[0].model == "https://a/~b//c"


def test_a_named_model_leaves_the_command_line_s_options_and_no_name_adds_to_them() -> None:
    default = ModelChoice("a.gguf", {"threads": 2, "n_ctx": 512})
    assert parse_settings({"modelOptions": {"threads": 3}})[0].model_or(default) == ModelChoice("a.gguf", {"threads": 3, "n_ctx": 512})
    assert parse_settings({"model": "b.gguf"})[0].model_or(default) == ModelChoice("b.gguf", {})


def test_events_go_to_the_users_own_log_without_code_unless_something_else_is_said_and_without_a_log_nothing_is_explored() -> None:
    assert DEFAULTS.log_target == LogTarget()
    assert DEFAULTS.exploring == 0.01
    silent = parse_settings({"explore": 0.05, "log": {"events": False, "path": "a"}})[0]
    assert (silent.log_target, silent.exploring) == (None, 0)
    said = parse_settings({"log": {"path": "a", "text": True, "days": 9, "megabytes": 3}})[0].log_target
    assert said == LogTarget(Path("a"), True, 9, 3)


def test_vs_code_s_schema_has_each_setting_in_order_with_a_default_that_it_allows() -> None:
    schema = settings_json_schema()
    assert list(schema) == [f"assay.{setting.name}" for setting in SETTINGS]
    assert [row["order"] for row in schema.values()] == list(range(len(SETTINGS)))
    known = {"type", "enum", "minimum", "maximum", "pattern", "minLength", "items", "patternProperties", "additionalProperties"}
    for name, row in schema.items():
        assert row.keys() <= known | {"default", "markdownDescription", "scope", "order"}, "the server checks no more"
        assert row["default"] is None or fits(row, row["default"]), name
    assert json.loads(json.dumps(schema)) == schema


def test_an_opened_project_can_not_say_in_vs_code_where_code_and_logs_go() -> None:
    machine = {name for name, row in settings_json_schema().items() if row["scope"] == "machine"}
    assert machine == {f"assay.{name}" for name in BY_NAME if name.startswith(("model", "log.", "repair.instruct", "tests.python"))}


def test_the_document_is_the_one_that_the_table_makes() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == settings_markdown()
    for line in settings_markdown().splitlines():
        assert not line.startswith("|") or line.count("|") == 5
    printed = subprocess.run([sys.executable, "-m", "assay.server.settings.document"], capture_output=True, check=True, timeout=60).stdout
    assert printed.decode("utf-8") == settings_markdown()

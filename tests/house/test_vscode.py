"""The VS Code extension says of settings, bands and versions what the package says. Its own tests are run by `npm test`."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from assay import __version__
from assay.calibration.bands import BANDS, EVENT_WORDS
from assay.server.settings.table import SETTINGS

ROOT = Path(__file__).parent.parent.parent / "editors" / "vscode"
PACKAGE: dict[str, Any] = json.loads((ROOT / "package.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def contributions() -> ModuleType:
    spec = importlib.util.spec_from_file_location("contributions", ROOT / "scripts" / "contributions.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_settings_and_colours_of_the_extension_are_those_of_the_package(contributions: ModuleType) -> None:
    assert contributions.written(PACKAGE) == PACKAGE, "run `python editors/vscode/scripts/contributions.py`"


def test_what_decides_where_code_goes_is_not_for_a_workspace_to_set() -> None:
    restricted = PACKAGE["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
    own = {f"assay.{setting.name}" for setting in SETTINGS if setting.user_only}
    assert own | {"assay.server.path", "assay.server.requirement"} == set(restricted)


def test_the_extension_knows_the_colour_of_every_band(contributions: ModuleType) -> None:
    known = dict(re.findall(r"^  '?([a-z ]+)'?: '(assay\.\w+)',$", (ROOT / "src" / "bands.ts").read_text("utf-8"), re.MULTILINE))
    assert known == {band.word: contributions.colour_id(band) for band in BANDS}


def test_the_extension_words_events_as_the_package_does() -> None:
    words = re.search(r"^const EVENTS.* = \{ (.*) \};$", (ROOT / "src" / "words.ts").read_text("utf-8"), re.MULTILINE)
    assert dict(re.findall(r"(\w+): '([^']+)'", words[1])) == EVENT_WORDS


def test_the_extension_has_the_version_of_the_package() -> None:
    assert PACKAGE["version"] == __version__


def test_the_lock_file_names_no_host_that_packages_come_from() -> None:
    assert '"resolved"' not in (ROOT / "package-lock.json").read_text("utf-8")

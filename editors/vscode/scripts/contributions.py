"""Writes the settings and colours into package.json, from `server/settings/table.py` and `calibration/bands.py`.

`python editors/vscode/scripts/contributions.py`, from a Python that has Assay installed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.calibration.bands import BANDS, Band
from assay.server.settings.document import settings_json_schema

PACKAGE = Path(__file__).parent.parent / "package.json"

# Only the extension reads these, never the server (src/settings.ts). An opened project must not name programs, hence the scope.
_OWN: dict[str, dict[str, Any]] = {
    "assay.server.path": {
        "type": ["string", "null"],
        "default": None,
        "scope": "machine",
        "markdownDescription": "The path of the program `assay`. Default: the one on `PATH`, else the one in the workspace's `.venv` or "
        "`venv` if the workspace is trusted, else the one in the environment that *Assay: Create an Environment* made.",
    },
    "assay.server.requirement": {
        "type": "string",
        "default": "assay",
        "minLength": 1,
        "scope": "machine",
        "markdownDescription": "What pip installs into the environment that *Assay: Create an Environment* makes: a requirement, or the "
        "path of a wheel or of Assay's source.",
    },
    "assay.badge": {
        "type": "string",
        "enum": ["line", "words", "statusBar", "off"],
        "enumDescriptions": [
            "After the suggestion's line in short (◆ 70-85 %), and in the status bar with words.",
            "With words in both places (◆ likely 70-85 % exact match).",
            "Only in the status bar.",
            "Nowhere.",
        ],
        "default": "line",
        "scope": "window",
        "markdownDescription": "How and where the confidence of the suggestion on the screen is shown. The hover always has words.",
    },
    "assay.trace.server": {
        "type": "string",
        "enum": ["off", "messages", "verbose"],
        "default": "messages",
        "scope": "window",
        "markdownDescription": "How much of the conversation with the server the log holds while its level is *Trace*.",
    },
}


def configuration() -> dict[str, Any]:
    """`contributes.configuration`: the extension's own settings first."""
    own = {name: {**schema, "order": order} for order, (name, schema) in enumerate(_OWN.items())}
    server = {name: {**schema, "order": len(own) + schema["order"]} for name, schema in settings_json_schema().items()}
    return {"title": "Assay", "properties": own | server}


def restricted(properties: dict[str, Any]) -> list[str]:
    """The settings that are not read from an untrusted workspace: those that are read from no workspace."""
    return [name for name, schema in properties.items() if schema["scope"] == "machine"]


def colours() -> list[dict[str, Any]]:
    """`contributes.colors`: one for each band."""
    return [
        {
            "id": colour_id(band),
            "description": f"The badge of a suggestion in the band “{band.word}”.",
            "defaults": {
                "light": band.colour,
                "dark": band.colour_dark,
                "highContrast": band.colour_dark,
                "highContrastLight": band.colour,
            },
        }
        for band in BANDS
    ]


def colour_id(band: Band) -> str:
    """The name of a band's colour in themes: assay.likely, assay.noEvidence."""
    first, *others = band.word.split()
    return f"assay.{first}{''.join(map(str.capitalize, others))}"


def written(package: dict[str, Any]) -> dict[str, Any]:
    """package.json with the current settings and colours."""
    settings = configuration()
    contributes = package["contributes"] | {"configuration": settings, "colors": colours()}
    untrusted = package["capabilities"]["untrustedWorkspaces"] | {"restrictedConfigurations": restricted(settings["properties"])}
    return package | {"contributes": contributes, "capabilities": package["capabilities"] | {"untrustedWorkspaces": untrusted}}


if __name__ == "__main__":
    package = json.loads(PACKAGE.read_text("utf-8"))
    PACKAGE.write_text(json.dumps(written(package), ensure_ascii=False, indent=2) + "\n", "utf-8")

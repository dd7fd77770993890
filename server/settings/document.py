"""Writes the settings down for others: the page docs/settings.md, and the schema for VS Code.

`python -m assay.server.settings.document` prints the page.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from .settings import SECTION
from .table import SETTINGS, Setting
from .values import quoted


def settings_markdown() -> str:
    """The page docs/settings.md."""
    rows = (
        f"| `{SECTION}.{setting.name}`{' ↻' if setting.reloads else ''} | {setting.values.words} "
        f"| {f'null: {setting.unset}' if setting.default is None else f'`{quoted(setting.default)}`'} | {setting.description} |"
        for setting in SETTINGS
    )
    return "\n".join([_INTRODUCTION, "| setting | may be | default | |", "|:---|:---|:---|:---|", *rows, ""])


def settings_json_schema() -> dict[str, dict[str, Any]]:
    """The schema of all settings, for `contributes.configuration.properties` of a VS Code extension."""
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
        description += " A change loads the model again."
    # VS Code reads a setting with the scope "machine" only from the user's own settings, never from an opened project.
    scope = "machine" if setting.user_only else "window"
    default = json.loads(json.dumps(setting.default))
    return {**schema, "default": default, "markdownDescription": description, "scope": scope, "order": order}


_INTRODUCTION = """\
# Settings

For whoever sets up Assay in an editor. This page lists every setting with its possible values and its default.

This command writes the page. The settings themselves are in `server/settings/table.py`.

```sh
python -m assay.server.settings.document > docs/settings.md
```

An editor gives the settings to the language server in `initializationOptions`, or in its answer to
`workspace/configuration` for the section `assay`. If a setting is in both, the answer has precedence. All of these mean
the same:

```json
{"bands": {"likelyFrom": 0.8}, "showAbove": 0.5}
{"bands.likelyFrom": 0.8, "showAbove": 0.5}
{"assay": {"bands": {"likelyFrom": 0.8}, "showAbove": 0.5}}
{"assay.bands.likelyFrom": 0.8, "assay.showAbove": 0.5}
```

* A setting that is null counts as not set. A setting with an invalid value gets its default. Assay reports invalid
  values and unknown names once.
* A path may begin with `~`. A relative path counts from the folder that the server was started in.
* A change takes effect with the next request. Settings marked with ↻ load the model again.
* Each kind of model has its own `modelOptions` ([models.md](models.md)). Assay reports an option that the model does
  not have.
* [dial.md](dial.md) measures how many of the suggestions above a probability are right. [events.md](events.md) says
  what is logged, what is never logged, and how to delete it.
* VS Code does not let an opened project set the model, its options or the log, because these decide where code is sent
  and what is written. Other editors may allow it. There, trust a project's settings as far as you trust the project.
"""

if __name__ == "__main__":
    sys.stdout.write(settings_markdown())

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

Every setting of the language server, its values and its default. `python -m assay.server.settings.document` prints this
page from `server/settings/table.py`.

An editor sends settings in `initializationOptions` or, with precedence, in its answer to `workspace/configuration` for
the section `assay`. These mean the same:

```json
{"bands": {"likelyFrom": 0.8}, "showAbove": 0.5}
{"assay": {"bands": {"likelyFrom": 0.8}, "showAbove": 0.5}}
{"assay.bands.likelyFrom": 0.8, "assay.showAbove": 0.5}
```

* null means not set. An invalid value gives the default. Assay reports invalid values, unknown names, and options that
  the model does not have ([models.md](models.md)) once.
* A path may begin with `~`, or is relative to the folder that the server was started in.
* A change takes effect with the next request. Settings with ↻ load the model again.
* VS Code takes the model, its options and the log only from your own settings, because they decide where code is sent
  and what is written. In other editors, trust a project's settings as far as you trust the project.
"""

if __name__ == "__main__":
    sys.stdout.write(settings_markdown())

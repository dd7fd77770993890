"""Which of the user's files are read beside a model. Light: the command line imports it."""

from __future__ import annotations

from typing import Literal, get_args

# The open file and the project's other files, the open file alone, or nothing.
Scope = Literal["project", "file", "off"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
DEFAULT_SCOPE: Scope = "project"

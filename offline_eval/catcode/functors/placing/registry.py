"""The languages by name. A new one is a module like its neighbours, a line here, and a sandbox in `labelling`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from .....analysis.corpora.benchmarks import Language
from . import java, javascript, python
from .header import Placing

LANGUAGES: Mapping[Language, Placing] = {
    "python": cast(Placing, python),
    "java": cast(Placing, java),
    "javascript": cast(Placing, javascript),
}
# As people write them.
NAMES: Mapping[str, str] = {"python": "Python", "java": "Java", "javascript": "JavaScript"}

"""Files of `assay/answers/1` for tests, as anyone's program writes them."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from assay.offline_eval.recorded.answers import Recorded
from assay.offline_eval.recorded.formats import SCHEMA


def write(path: Path, recorded: Recorded) -> None:
    about = {name: getattr(recorded, name) for name in ("name", "model", "source", "licence", "scale")}
    lines = [{"schema": SCHEMA, **about}, *map(msgspec.to_builtins, recorded.answers.values())]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

"""For which models the user does not want to be asked about numbers: a file for each in the data folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..inference.regular_file import read_regular_file
from .atomic_write import write_atomically
from .data_folder import data_folder
from .strict_json import DECODER, build

SCHEMA = "assay/declined-model/1"
_MAX_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class _Declined:
    schema: str
    model: str
    until: str | None


def decline(model: str, until: datetime | None = None) -> None:
    """Remember not to ask about the model with a fingerprint id. until: ask again from then on; None: never. Raises OSError."""
    document = asdict(_Declined(SCHEMA, model, until.isoformat(timespec="seconds") if until else None))
    with write_atomically(_file(model), private=True) as out:
        out.write((json.dumps(document, indent=1) + "\n").encode())


def is_declined(model: str, now: datetime | None = None) -> bool:
    """Whether the user is not to be asked about a model now. An answer that can't be read counts: nobody is asked twice for it."""
    path = _file(model)
    try:
        answer = build(_Declined, DECODER.decode(read_regular_file(path, _MAX_BYTES).decode()))
        return answer.until is None or (now or datetime.now(UTC)) < datetime.fromisoformat(answer.until)
    except FileNotFoundError:
        return False
    except (OSError, ValueError, TypeError, RecursionError):
        return True


def _file(model: str) -> Path:
    return data_folder() / "declined-models" / f"{model}.json"

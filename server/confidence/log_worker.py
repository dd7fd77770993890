"""The process that reads the log of events for the language server and says what is in it: 100,000 events take 0.3 s of the processor.

It reads one question (`Question`, as JSON) from stdin, and prints the answer.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ...calibration.log.event_log import EventLogError
from ...calibration.strict_json import build
from .dial_report import log_dial_json
from .drift_report import drift_json
from .log_view import read_log
from .report import log_json, recalibrate_json


@dataclass(frozen=True, slots=True)
class Question:
    """What to say of the log in a file.

    event: that the user wants probabilities of; model: the fingerprint id, None before one is loaded; prompts: fingerprint ids of what it
    is shown; calibrators: ids of those in use; tolerances: of each in log odds, for what = "drift".
    """

    what: Literal["dial", "confidence", "drift"]
    path: str
    event: str = ""
    model: str | None = None
    prompts: tuple[str, ...] = ()
    calibrators: tuple[str, ...] = ()
    tolerances: tuple[float, ...] = ()


def main() -> int:
    """Answer the question on stdin; 1, with a line on stderr, where the log can't be read."""
    question = build(Question, json.load(sys.stdin))
    try:
        answer = _answer(question)
    except EventLogError as error:
        print(f"assay: {error}", file=sys.stderr)
        return 1
    print(json.dumps(answer, allow_nan=False))
    return 0


def as_json(question: Question) -> dict[str, Any]:
    """What `main` reads."""
    return asdict(question)


def _answer(question: Question) -> dict[str, Any]:
    view = read_log(Path(question.path))
    match question.what:
        case "dial":
            return log_dial_json(view, question.event, question.model)
        case "confidence":
            recalibrate = recalibrate_json(view, question.model, frozenset(question.prompts))
            return {"log": log_json(view, frozenset(question.calibrators)), "recalibrate": recalibrate}
        case "drift":
            return drift_json(view, dict(zip(question.calibrators, question.tolerances, strict=True)))


if __name__ == "__main__":
    sys.exit(main())

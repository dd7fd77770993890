"""Reads the log of events in a process of its own, and answers one question about it. (100,000 events take 0.3 s of CPU time.)

`LogReader` starts the process. It reads a `Question` from stdin, as JSON, and prints the answer.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ...calibration.log.event_log import EventLogError
from ...calibration.strict_json import build
from .child_process import json_from
from .confidence_report import drift_json, log_dial_json, log_json, recalibrate_json
from .log_view import read_log


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about a log.

    event: the one that the user wants probabilities of.
    model: the fingerprint id, None before one is loaded. prompts: fingerprint ids of what the model is shown.
    calibrators: ids of those in use. tolerances: one for each of them, in log odds, for `about="drift"`.
    """

    about: Literal["dial", "confidence", "drift"]
    event: str = ""
    model: str | None = None
    prompts: tuple[str, ...] = ()
    calibrators: tuple[str, ...] = ()
    tolerances: tuple[float, ...] = ()
    path: str = ""


class LogReader:
    """Asks the log for one server: by one process at a time, and once for all who ask the same until the answer is there."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._asked: dict[Question, asyncio.Task[dict[str, Any]]] = {}

    async def ask(self, path: Path, question: Question) -> dict[str, Any]:
        """The answer to a question about the log at a path: JSON as in docs/formats.md. Raises ChildProcessFailed if it can't be read."""
        question = replace(question, path=str(path))
        if (answering := self._asked.get(question)) is None:
            self._asked[question] = answering = asyncio.create_task(self._answer(question))
            answering.add_done_callback(lambda done: self._ended(question, done))
        # One who no longer waits does not take the answer from the others.
        return await asyncio.shield(answering)

    def close(self) -> None:
        """End the process. Whoever waits for an answer is cancelled."""
        for answering in list(self._asked.values()):
            answering.cancel()

    async def _answer(self, question: Question) -> dict[str, Any]:
        async with self._turn:
            return await json_from("-m", __name__, question=asdict(question))

    def _ended(self, question: Question, answering: asyncio.Task[dict[str, Any]]) -> None:
        del self._asked[question]
        if not answering.cancelled():
            answering.exception()  # nobody may be left to hear of it


def main() -> int:
    """Answer the question on stdin. Returns 1, with a line on stderr, if the log can't be read."""
    question = build(Question, json.load(sys.stdin))
    try:
        answer = _answer(question)
    except EventLogError as error:
        print(f"assay: {error}", file=sys.stderr)
        return 1
    print(json.dumps(answer, allow_nan=False))
    return 0


def _answer(question: Question) -> dict[str, Any]:
    view = read_log(Path(question.path))
    match question.about:
        case "dial":
            return log_dial_json(view, question.event, question.model)
        case "confidence":
            recalibrate = recalibrate_json(view, question.model, frozenset(question.prompts))
            return {"log": log_json(view, frozenset(question.calibrators)), "recalibrate": recalibrate}
        case "drift":
            return drift_json(view, dict(zip(question.calibrators, question.tolerances, strict=True)))


if __name__ == "__main__":
    sys.exit(main())

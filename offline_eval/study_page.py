"""The page of a run: written where plots can be drawn, summed up for people, and told of on stdout."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from ..calibration.report.study_report import StudyContent, write_study_report
from .progress import to_stderr


def write_page(folder: Path, content_of: Callable[[], StudyContent], *, samples: Sequence[Path] = (), as_json: bool) -> None:
    """Write report/ into a folder, its summary on stderr; on stdout the files, those of samples first, or one JSON document.

    content_of: makes the content.
    """
    content = content_of()
    for sentence in content.summary:
        to_stderr(sentence)
    files = write_study_report(folder, content)
    if as_json:
        print(json.dumps({"run": str(folder), "samples": list(map(str, samples)), "report": list(map(str, files))}))
    else:
        for path in (*samples, *files):
            print(path)

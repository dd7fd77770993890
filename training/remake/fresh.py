"""The fresh projects, below a folder: for the runs that validate the shipped calibrators.

    python -m training.remake.fresh FOLDER

Wheels are fetched through pip, which runs nothing of them, and checked by hash. A project's Python files come into FOLDER/NUMBER/NAME, with
the number of its registration among those that name wheels, from 1.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from assay.calibration.validation.fresh import wheels
from assay.offline_eval.sets.code import folders_at, label_of
from assay.offline_eval.sets.projects import ProjectError, default_cache, fetch, python_files


def unpack(folder: Path) -> None:
    """Raises ProjectError for what is not the registered code."""
    for number, each in wheels():
        at = folder / str(number) / each["name"]
        archive = fetch(each["name"], each["version"], "wheel", default_cache(), each["sha256"])
        if (digest := hashlib.sha256(archive.read_bytes()).hexdigest()) != each["sha256"]:
            raise ProjectError(f"{archive}: its SHA-256 is {digest}, and another one is registered; delete the file and try again")
        for file in python_files(archive, each["name"]):
            path = at / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text, encoding="utf-8", newline="")
        (found,) = folders_at([at])
        if label_of(found) != f"{each['name']} {each['code']}":
            raise ProjectError(f"{at} holds other code than what is registered; delete the folder and try again")


if __name__ == "__main__":
    unpack(Path(sys.argv[1]))

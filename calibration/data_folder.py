"""The folder of a user's own calibrators and log of events."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def data_folder() -> Path:
    """`ASSAY_DATA_HOME` of the environment where it is set, else the system's folder for data of the user."""
    return Path(os.environ.get("ASSAY_DATA_HOME") or platformdirs.user_data_dir("assay", appauthor=False))

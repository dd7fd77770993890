"""The model that is shipped with the package."""

from __future__ import annotations

from pathlib import Path

EMBEDDED = Path(__file__).parent / "embedded" / "assay.gguf"
# As `--model` takes it. A file of that name in the working folder goes before it.
EMBEDDED_NAME = "embedded"

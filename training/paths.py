"""Where training keeps what it makes: out of the repository."""

from __future__ import annotations

from pathlib import Path

CACHE = Path(__file__).parent.parent / ".cache"

"""Types of fields in files. msgspec holds what is read from a file to them; to all other code they are numbers and texts."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

# Far above any fit to real measures, far below what overflows on the way to a probability.
MAX_PARAMETER = 1e12

Parameter = Annotated[float, Meta(ge=-MAX_PARAMETER, le=MAX_PARAMETER)]
Spread = Annotated[float, Meta(ge=0, le=MAX_PARAMETER)]
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Fingerprint = Annotated[str, Meta(pattern=r"\A[0-9a-f]{16}\Z")]
Sha256 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]

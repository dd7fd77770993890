"""Events: what became of suggestions in an editor, one row each in the log of events (docs/formats.md). No code is in them but in `Text`.

A *showing* is one generation on a screen: it begins when a suggestion of it is first given to the editor, goes on through what the user
types along it, and ends in exactly one `Ending`. Its id is the id of the first suggestion that the editor got of it.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Literal

import msgspec

SCHEMA = 1
# Seconds after the end of a showing at which it is looked how much of its text stands there.
LOOKED_AFTER_S = (15, 30, 120, 300, 600)

# Who says so: the editor, or the server, which concludes it from requests and edits.
By = Literal["client", "inferred"]


class Ending(StrEnum):
    """How a showing ended; the closed set."""

    ACCEPTED = "accepted"  # all of it was put in at once
    PARTLY_ACCEPTED = "partly_accepted"  # a word or a line of it was put in, the rest not
    TYPED_THROUGH = "typed_through"  # the user typed all of it
    REJECTED = "rejected"  # the user dismissed it
    IGNORED = "ignored"  # the user typed something else, or went elsewhere: unknown, not negative
    SUPERSEDED = "superseded"  # another suggestion took its place, or the server ended, before the user had a say


class _Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="event"):
    """Fields that a later version adds have defaults; what this version does not know of is passed over when it reads."""


class Began(_Event, frozen=True, tag="began"):
    """A server was started. client: the editor's name."""

    version: str
    client: str = ""
    client_version: str = ""


class Other(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An alternative that was given to the editor with a suggestion; the fields are those of `Request`."""

    id: str
    confidence: dict[str, str | float | None] | None = None
    measures: dict[str, float] = {}
    rank: int = 1
    text_sha256: str = ""
    characters: int = 0


class Request(_Event, frozen=True, tag="request"):
    """A request ended: what `server/requests/outcomes.py` writes, of which these are what readers need.

    id: the suggestion's, if there is one; document, project: hashes; probability and the rest of `confidence` as in a suggestion; rank: of
    the generation among the alternatives that were drawn with it; text_sha256, characters: of the suggestion's text; others: the
    suggestions that came with it, each of which may be a showing.
    """

    id: str
    outcome: str
    document: str
    language: str
    trigger: str
    kind: str
    reason: str = ""
    project: str = ""
    task: str | None = None
    source: str | None = None
    propensity: float | None = None
    confidence: dict[str, str | float | None] | None = None
    measures: dict[str, float] = {}
    model: str | None = None
    prompt: str | None = None
    rank: int = 1
    text_sha256: str = ""
    characters: int = 0
    others: tuple[Other, ...] = ()
    tokens: int = 0
    timings_ms: dict[str, float] = {}

    def of(self, other: Other) -> Request:
        """The same request, as it would be logged had another of its suggestions come first."""
        return msgspec.structs.replace(
            self,
            id=other.id,
            confidence=other.confidence,
            measures=other.measures,
            rank=other.rank,
            text_sha256=other.text_sha256,
            characters=other.characters,
            others=(),
        )


class Shown(_Event, frozen=True, tag="shown"):
    """A showing was on the screen long enough to be seen."""

    by: By


class Ended(_Event, frozen=True, tag="ended"):
    """A showing ended. characters: of its whole text; so many were accepted, so many typed; visible_ms: how long it was seen."""

    ending: Ending
    by: By
    characters: int
    accepted: int = 0
    typed: int = 0
    visible_ms: float = 0.0


class Kept(_Event, frozen=True, tag="kept"):
    """How much of a showing's text stands in the document, whether it was accepted, or typed by the user later, or would have been.

    after_s: seconds since it ended, None at a save. share: 0 to 1, of its tokens; None where that can't be known: why says what happened.
    """

    after_s: int | None
    share: float | None
    why: Literal["", "undone", "closed", "asleep", "lost"] = ""


class Text(_Event, frozen=True, tag="text"):
    """Code, only where the user wants it logged. what: the suggestion's text, or what stands in its place at a `Kept`; document: as in
    `Request`."""

    what: Literal["suggested", "found"]
    text: str
    document: str = ""


class Drifted(_Event, frozen=True, tag="drifted"):
    """A calibrator was found not to hold any more, and the user was told."""

    calibrator: str
    direction: str
    size: float
    n: int


class Dropped(_Event, frozen=True, tag="dropped"):
    """So many events were not written, because they came faster than the disk took them."""

    count: int


Event = Began | Request | Shown | Ended | Kept | Text | Drifted | Dropped


class Row(msgspec.Struct, frozen=True, gc=False):
    """One event as it stands in the log. number: grows; time_ms: since 1970; server: 12 hex digits, one for each start of a server."""

    number: int
    time_ms: int
    server: str
    showing: str | None
    event: Event


def hash_of(uri: str) -> str:
    """16 hex digits for the URI of a document or a folder: the same is recognised, its path is not told (who knows it can check it)."""
    return hashlib.sha256(uri.encode("utf-8", "surrogatepass")).hexdigest()[:16]

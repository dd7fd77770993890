"""The events of the log: what became of suggestions in an editor. One row each; the format is in docs/formats.md.

The name of an event in the log is its `tag`. Only `TextLogged` holds code.

A *showing* is one generation on a screen. It begins when a suggestion of it is first given to the editor, goes on while the user types
along it, and ends in exactly one `ShowingEnding`. Its id is the id of the first suggestion that the editor got of it.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Literal

import msgspec

SCHEMA = 1
# Seconds after the end of a showing at which it is measured how much of its text stands in the document.
RETENTION_CHECKED_AFTER_S = (15, 30, 120, 300, 600)

# Who reported it: the editor, or the server, which infers it from requests and edits.
By = Literal["client", "inferred"]


class ShowingEnding(StrEnum):
    """How a showing ended. Every showing ends in exactly one of these ways."""

    ACCEPTED = "accepted"  # all of it was inserted at once
    PARTLY_ACCEPTED = "partly_accepted"  # a word or a line of it was inserted, the rest was not
    TYPED_THROUGH = "typed_through"  # the user typed all of it
    REJECTED = "rejected"  # the user dismissed it
    IGNORED = "ignored"  # the user typed something else or went elsewhere: an unknown label, not a negative one
    SUPERSEDED = "superseded"  # another suggestion took its place, or the server ended, before the user reacted


class _Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="event"):
    """Base of all events. A field that a later version adds has a default. Unknown fields are ignored when an event is read."""


class ServerStarted(_Event, frozen=True, tag="began"):
    """A server started. client: the editor's name."""

    version: str
    client: str = ""
    client_version: str = ""


class OtherSuggestion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An alternative that was given to the editor with a suggestion. Its fields are those of `RequestEnded`."""

    id: str
    confidence: dict[str, str | float | None] | None = None
    measures: dict[str, float] = {}
    rank: int = 1
    text_sha256: str = ""
    characters: int = 0


class RequestEnded(_Event, frozen=True, tag="request"):
    """A request ended. `server/requests/request_ending.py` writes it; the fields here are those that readers need.

    id: the suggestion's, if there is one.
    document, project: hashes.
    confidence: as in a suggestion.
    rank: the generation's among the alternatives that were drawn with it.
    text_sha256, characters: of the suggestion's text.
    others: the suggestions that came with it. Each may become a showing.
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
    others: tuple[OtherSuggestion, ...] = ()
    tokens: int = 0
    timings_ms: dict[str, float] = {}

    @property
    def is_repair(self) -> bool:
        """Whether lines were to be replaced: what becomes of repairs says nothing of completions."""
        return self.kind == "repair"

    def of(self, other: OtherSuggestion) -> RequestEnded:
        """This request as it would have been logged if that suggestion had come first."""
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


class ShowingSeen(_Event, frozen=True, tag="shown"):
    """A showing was on the screen long enough to be read."""

    by: By


class ShowingEnded(_Event, frozen=True, tag="ended"):
    """A showing ended.

    characters: the length of its whole text. accepted, typed: how many of them were. visible_ms: how long it was visible.
    """

    ending: ShowingEnding
    by: By
    characters: int
    accepted: int = 0
    typed: int = 0
    visible_ms: float = 0.0


class RetentionChecked(_Event, frozen=True, tag="kept"):
    """How much of a showing's text stands in the document, whether it was accepted or typed by the user later.

    after_s: seconds since the showing ended, None at a save.
    share: of its tokens, 0 to 1. None where that is unknown; `why` then says what happened.
    """

    after_s: int | None
    share: float | None
    why: Literal["", "undone", "closed", "asleep", "lost"] = ""


class AcceptanceTested(_Event, frozen=True, tag="tests"):
    """The tests of the project that touch a showing's text were run with it and without it, after it was accepted.

    passed: whether all pass with it. None where that is not known, or where one fails with it as without it: what the user writes may not
    be finished. tests: how many ran. mends: how many of them failed without it and pass with it. milliseconds: how long they ran.
    """

    passed: bool | None
    tests: int = 0
    mends: int = 0
    milliseconds: float = 0.0


class TextLogged(_Event, frozen=True, tag="text"):
    """Code. It is logged only where the user asked for it.

    what: the text of the suggestion, or the text found in its place at a `RetentionChecked`. document: as in `RequestEnded`.
    """

    what: Literal["suggested", "found"]
    text: str
    document: str = ""


class DriftFound(_Event, frozen=True, tag="drifted"):
    """The drift alarm was raised for a calibrator, and the user was told."""

    calibrator: str
    direction: str
    size: float
    n: int


class EventsDropped(_Event, frozen=True, tag="dropped"):
    """`count` events were not written because they came faster than the disk took them."""

    count: int


Event = (
    ServerStarted
    | RequestEnded
    | ShowingSeen
    | ShowingEnded
    | RetentionChecked
    | AcceptanceTested
    | TextLogged
    | DriftFound
    | EventsDropped
)


class Row(msgspec.Struct, frozen=True, gc=False):
    """One event in the log. number: ascending. time_ms: since 1970. server: 12 hex digits, new at each start of a server."""

    number: int
    time_ms: int
    server: str
    showing: str | None
    event: Event


def hash_of(uri: str) -> str:
    """16 hex digits for the URI of a document or folder.

    Two events about one document can be told to be so, and the path can't be read from the hash. Whoever knows a path can check it.
    """
    return hashlib.sha256(uri.encode("utf-8", "surrogatepass")).hexdigest()[:16]

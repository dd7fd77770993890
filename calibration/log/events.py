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
    """How a showing ended, in exactly one of these ways.

    accepted, partly_accepted: all of it, or a word or a line of it, was inserted.
    typed_through: the user typed all of it.
    rejected: the user dismissed it.
    ignored: the user typed something else or went elsewhere: an unknown label, not a negative one.
    superseded: another suggestion took its place, or the server ended, before the user reacted.
    """

    ACCEPTED = "accepted"
    PARTLY_ACCEPTED = "partly_accepted"
    TYPED_THROUGH = "typed_through"
    REJECTED = "rejected"
    IGNORED = "ignored"
    SUPERSEDED = "superseded"


class _Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="event"):
    """Base of all events. A field that a later version adds has a default. Unknown fields are ignored when an event is read."""


class ServerStarted(_Event, frozen=True, tag="began"):
    """A server started. client, client_version: the editor."""

    version: str
    client: str = ""
    client_version: str = ""


class OtherSuggestion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An alternative that was given to the editor with a suggestion, with the fields of a request."""

    id: str
    confidence: dict[str, str | float | None] | None = None
    measures: dict[str, float] = {}
    rank: int = 1
    text_sha256: str = ""
    characters: int = 0


class RequestEnded(_Event, frozen=True, tag="request"):
    """A request ended.

    id: the suggestion's, if there is one.
    outcome, reason: `produced`, `hidden`, `empty`, `superseded`, `cancelled`, `failed` or `timed_out`; and why, for people.
    document, project: ids: hashes of the URIs of document and workspace folder.
    trigger: `automatic` or `invoked`. kind: the suggestion's.
    source: `model`, `running` (a generation that ran already) or `memory` (an earlier one).
    propensity: the probability that the policy shows it: 1, or `assay.explore` below the dial.
    confidence, measures, model, prompt, rank: as in suggestions and samples.
    text_sha256, characters, tokens: hash and length of the text; tokens that were sampled.
    others: the suggestions that came with it. Each may become a showing.
    timings_ms: `waited`, `queued`, `prompt`, `generate`, `total`.
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
    """A showing was on the screen long enough to be read. by: who says so."""

    by: By


class ShowingEnded(_Event, frozen=True, tag="ended"):
    """A showing ended.

    characters, accepted, typed: of its whole text, and how many were accepted and typed.
    visible_ms: may count time after an editor removed it without saying so.
    """

    ending: ShowingEnding
    by: By
    characters: int
    accepted: int = 0
    typed: int = 0
    visible_ms: float = 0.0


class RetentionChecked(_Event, frozen=True, tag="kept"):
    """How much of a showing's text stands in the document, whether it was accepted or typed by the user later.

    after_s: 15, 30, 120, 300 or 600 seconds after the showing ended; None at a save or undo.
    share: of its tokens, in their order. None where that is unknown; `why` then says what happened.
    """

    after_s: int | None
    share: float | None
    why: Literal["", "undone", "closed", "asleep", "lost"] = ""


class AcceptanceTested(_Event, frozen=True, tag="tests"):
    """The tests that touch a showing's text were run with it and without it, after it was accepted.

    passed: whether all pass with it. None where that is not known, or where one fails with it as without it: what the user writes may not
        be finished.
    tests, mends, milliseconds: how many ran, how many of them failed without it and pass with it, and how long.
    """

    passed: bool | None
    tests: int = 0
    mends: int = 0
    milliseconds: float = 0.0


class TextLogged(_Event, frozen=True, tag="text"):
    """Code. It is logged only where the user asked for it, with `assay.log.text`.

    what: the text of the suggestion, or the text found in its place when it was looked for. document: as in a request.
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
    """Some events were not written because they came faster than the disk took them. count: how many."""

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
    """One event in the log.

    number: ascending, never used again. time_ms: since 1970. server: 12 hex digits, new at each start of a server.
    showing: a generation on the screen, by the first `id` of a suggestion of it. event: the columns `kind` and `body`.
    """

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

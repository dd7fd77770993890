"""Whether the model is asked at all: first for a document, before any of its text is read, then for the place in it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ...inference.completion.task import rest_of_line
from ...suggestion.zones import zone_at

# What may stand behind the cursor on its line: what an editor closed by itself and what ends a line. Copilot's rule, but for the order, so
# that `"), {` counts as well; llama.vim asks wherever at most 8 characters stand there, Tabby everywhere.
_ENDS_A_LINE = re.compile(r"[\s)>}\]\"'`:{;,]*")
# What no model can go on from is white space and a byte order mark.
_SOMETHING = re.compile(r"[^\s\ufeff]")


class Refusal(StrEnum):
    """Why the model is not asked."""

    LANGUAGE = "language"  # the user turned the language off
    SECRET = "secret"  # the file may hold secrets
    AUTOMATIC = "automatic"  # the user wants suggestions only when invoked
    PAUSED = "paused"  # the user wants none for a while but when invoked
    COMMENT = "comment"  # the user wants none in comments
    STRING = "string"  # the user wants none in strings
    BLANK = "blank"  # nothing stands in the document yet
    WORD = "word"  # a word goes on behind the cursor
    BEHIND = "behind"  # the line goes on behind the cursor

    @property
    def sentence(self) -> str:
        """The reason for people. `Rules.sentence` says of PAUSED also until when."""
        return _SENTENCES[self]

    @property
    def holds_if_invoked(self) -> bool:
        """Whether it refuses invoked suggestions, too: all others only keep the user from being interrupted."""
        return self in (Refusal.LANGUAGE, Refusal.SECRET)

    @property
    def is_lasting(self) -> bool:
        """Whether it keeps a whole document silent until the user changes something."""
        return self in (Refusal.LANGUAGE, Refusal.SECRET, Refusal.AUTOMATIC)


_SENTENCES = {
    Refusal.LANGUAGE: "Suggestions are turned off in this language (assay.disabledLanguages).",
    Refusal.SECRET: "This file may hold secrets, so the model is not shown it.",
    Refusal.AUTOMATIC: "Suggestions come only when they are invoked (assay.automatic).",
    Refusal.PAUSED: "Suggestions are paused; they come only when they are invoked (assay.pause).",
    Refusal.COMMENT: "Suggestions in comments come only when they are invoked (assay.inComments).",
    Refusal.STRING: "Suggestions in strings come only when they are invoked (assay.inStrings).",
    Refusal.BLANK: "Nothing stands in this document yet; suggestions there come only when they are invoked.",
    Refusal.WORD: "The cursor stands before the rest of a word; suggestions there come only when they are invoked.",
    Refusal.BEHIND: "The line goes on behind the cursor; suggestions there come only when they are invoked.",
}


@dataclass(frozen=True, slots=True)
class Rules:
    """What the user allows, as in the settings of the same names; paused_until: the end of a pause, None where there is none."""

    automatic: bool = True
    in_comments: bool = True
    in_strings: bool = True
    disabled_languages: frozenset[str] = frozenset()
    paused_until: datetime | None = None

    def sentence(self, refusal: Refusal) -> str:
        """The reason for people."""
        if refusal is Refusal.PAUSED and self.paused_until is not None:
            return f"Suggestions are paused until {self.paused_until:%H:%M}; until then they come only when they are invoked (assay.pause)."
        return refusal.sentence


def document_refusal(language: str, rules: Rules, *, secret: bool = False) -> Refusal | None:
    """Why no suggestion comes by itself anywhere in a document; None where one may. No text of the document is needed.

    secret: the file may hold secrets, by its path.
    """
    if secret:
        return Refusal.SECRET
    if language.casefold() in map(str.casefold, rules.disabled_languages):
        return Refusal.LANGUAGE
    if not rules.automatic:
        return Refusal.AUTOMATIC
    return None if rules.paused_until is None else Refusal.PAUSED


def place_refusal(prefix: str, suffix: str, language: str, rules: Rules, *, cut: bool = False) -> Refusal | None:
    """Why no suggestion comes by itself between prefix and suffix; None where one may. Invoked ones come everywhere. cut: as `zone_at`."""
    if not _SOMETHING.search(prefix) and not _SOMETHING.search(suffix):
        return Refusal.BLANK
    if suffix[:1].isalnum() or suffix[:1] == "_":
        return Refusal.WORD
    if not _ENDS_A_LINE.fullmatch(rest_of_line(suffix)):
        return Refusal.BEHIND
    if rules.in_comments and rules.in_strings:
        return None
    zone = zone_at(prefix, language, cut=cut)
    if zone == "comment" and not rules.in_comments:
        return Refusal.COMMENT
    return Refusal.STRING if zone == "string" and not rules.in_strings else None

"""A server's own tokenizer, asked as seldom as possible."""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from ..completion.fim_families import FAMILIES
from ..errors import Unavailable
from ..healing.pre_tokens import Pieces
from .http import ABSENT, Connection

Kind = Literal["llama-server", "vllm"]

# A line and the blank ones behind it: the tokenizers of code models begin a new token behind that.
_LINES = re.compile(r"[^\n]*\n(?:[ \t]*\n)*|[^\n]+")
# What control tokens look like in the vocabularies of code models. Each match is looked up, so too many do no harm.
_LIKE_CONTROL = re.compile(r"▁?<[|｜/]?[^<>\s]{1,48}?[|｜]?>|\[/?[A-Z_]{2,24}\]")
_MERGES_WITH_NOTHING = "☺"
_SPELLINGS = frozenset(spelling for family in FAMILIES for spelling in (*family.controls, *family.marks))
# What tokenizers of code join if they join a sign to the word behind it, and several digits, or a space and a digit.
_JOINED_WORDS = (".append", "_name", "(self", "/usr", "-1px", "'re")
_JOINED_DIGITS = ("10", "00", "2024", " 1")
# What every vocabulary for code has tokens for, mostly.
PLAIN = frozenset(map(chr, (*range(ord(" "), 127), ord("\t"), ord("\n"))))
# Code has 3 bytes to a token or more; a byte outside ASCII may be one of its own.
_BYTES_PER_TOKEN = 2.5


def estimated_tokens(text: str) -> int:
    """An upper estimate of the tokens of a code of this length, for servers that do not tokenize."""
    size = len(text.encode("utf-8", "replace"))
    plain = sum(character < "\x80" for character in text)
    return math.ceil(plain / _BYTES_PER_TOKEN) + size - plain


def spelled_control(text: str) -> str | None:
    """The first control token that a text spells, by the table of families and by the look of such spellings, or None."""
    looks = (match[0] for match in _LIKE_CONTROL.finditer(text))
    likely = (found for found in looks if found in _SPELLINGS or found[1:2] in ("|", "｜"))
    return next(likely, None) or next((spelling for spelling in sorted(_SPELLINGS) if spelling in text), None)


class ServerTokenizer:
    """Token ids by `/tokenize`, and their text by `/detokenize`. Answers are remembered; all families' tokens are asked for at once.

    Parameters
        between: spellings of tokens that separate texts.

    Attributes
        beginning: the tokens that every prompt begins with.

    References: llama-server's tools/server/README.md, "POST /tokenize"; vLLM's vllm/entrypoints/serve/tokenize/protocol.py,
    TokenizeCompletionRequest.
    """

    def __init__(self, connection: Connection, kind: Kind, model: str, between: Sequence[str] = ()) -> None:
        self._connection, self._kind, self._model, self._between = connection, kind, model, between
        self._counts: dict[str, int] = {}
        self._controls: dict[str, int | None] = {}
        self.encode = functools.lru_cache(maxsize=256)(self._encode)
        self.decode = functools.lru_cache(maxsize=16)(self._decode)
        self.piece = functools.lru_cache(maxsize=4096)(self._piece)
        self.beginning = self._each([self._body("", begin=True)])[0]
        self.look_up(spelling for family in FAMILIES for spelling in (*family.controls, *family.marks))

    @functools.cached_property
    def pieces(self) -> Pieces:
        """What the tokenizer joins: a text whose first token is not its first character's joins that to what follows."""
        joined = (*_JOINED_WORDS, *_JOINED_DIGITS)
        ids = self._each([self._body(text) for text in (*joined, *(text[0] for text in joined))])
        joins = [whole[:1] != alone[:1] for whole, alone in zip(ids[: len(joined)], ids[len(joined) :], strict=True)]
        return Pieces(any(joins[: len(_JOINED_WORDS)]), any(joins[len(_JOINED_WORDS) :]))

    @property
    def controls(self) -> list[int]:
        """The control tokens that were looked up and found."""
        return [token for token in self._controls.values() if token is not None]

    @property
    def separator(self) -> int:
        """A token that separates texts, to begin an empty prompt with; 0 where none is known."""
        return self.beginning[0] if self.beginning else self.first_control(self._between) or 0

    def encode_behind(self, text: str) -> tuple[int, ...]:
        """Token ids of a text within another, for tokenizers that put a space before the beginning of a text.

        It is tokenized behind a character that merges with nothing, as in Code Llama's own encode_infilling (llama/tokenizer.py).
        """
        return self.encode(_MERGES_WITH_NOTHING + text)[len(self.encode(_MERGES_WITH_NOTHING)) :]

    @functools.cached_property
    def writes_plain(self) -> bool:
        """Whether there are tokens for every character of `PLAIN`, as far as the server tells."""
        plain = "".join(sorted(PLAIN))
        with contextlib.suppress(*ABSENT):
            return plain in self.decode(self.encode(plain))
        return False

    def written_whole(self, text: str) -> str:
        """What stands behind the last character that has no token of its own: one that tokens write in parts, or not at all."""
        plain = _without_surrogates(text)
        size = 0 if set(plain) - PLAIN else len(plain)
        if size == 0:
            for token in reversed(self.encode_behind(plain)):
                try:
                    piece = self.piece(token).decode()
                except Unavailable:
                    break
                if not piece or not plain[: len(plain) - size].endswith(piece):
                    break
                size += len(piece)
        return text[len(text) - size :]

    def control(self, spelling: str) -> int | None:
        """The id of the token with this spelling, None where the spelling is several tokens."""
        if spelling not in self._controls:
            self.look_up([spelling])
        return self._controls[spelling]

    def first_control(self, spellings: Iterable[str]) -> int | None:
        """The id of the first of these spellings that is a token."""
        return next((token for spelling in spellings if (token := self.control(spelling)) is not None), None)

    def look_up(self, spellings: Iterable[str]) -> None:
        """Ask for many control tokens at once, for `control`."""
        missing = [spelling for spelling in dict.fromkeys(spellings) if spelling not in self._controls]
        for spelling, ids in zip(missing, self._each([self._body(spelling, parse=True) for spelling in missing]), strict=True):
            self._controls[spelling] = ids[0] if len(ids) == 1 else None

    def count(self, text: str) -> int:
        """How many tokens a text has, counted line by line, so that typing asks for one line only.

        Exact for tokenizers that begin a token behind each newline (Qwen's, DeepSeek's, the embedded model's). Those that join a newline
        and the indentation behind it have a little fewer, never more.
        """
        lines: list[str] = _LINES.findall(_without_surrogates(text))
        missing = [line for line in dict.fromkeys(lines) if line not in self._counts]
        if missing:
            if len(self._counts) > 1 << 16:
                self._counts.clear()
                missing = list(dict.fromkeys(lines))
            self._counts.update(zip(missing, self._counted(missing), strict=True))
        return sum(self._counts[line] for line in lines)

    def _counted(self, lines: Sequence[str]) -> Sequence[int]:
        if self._kind == "llama-server":
            body = self._body(list(lines)) | {"with_pieces": True}
            counts = self._connection.ask("/tokenize", body, lambda answer: counts_by_text(answer["tokens"], lines))
            if counts is not None:
                return counts
        parts = [self._parts(line) for line in lines]
        sizes = iter([len(ids) for ids in self._each([self._body(part) for found in parts for part in found])])
        return [sum(next(sizes) for _ in found) for found in parts]

    def _decode(self, tokens: tuple[int, ...]) -> str:
        field = "content" if self._kind == "llama-server" else "prompt"
        return self._connection.ask("/detokenize", {"model": self._model, "tokens": list(tokens)}, lambda answer: str(answer[field]))

    def _piece(self, token: int) -> bytes:
        """The bytes of a token within a text. Raises Unavailable for a part of a character."""
        # SentencePiece drops the space of a text's first token, so another token stands before it.
        anchor = self.encode("x")
        before, text = self.decode(anchor), self.decode((*anchor, token))
        if not text.startswith(before) or "\ufffd" in text:
            raise Unavailable(f"bytes of token {token}, a part of a character", self._connection.where, "Ask for fewer alternatives.")
        return text.removeprefix(before).encode()

    def _encode(self, text: str) -> tuple[int, ...]:
        """Token ids of plain text. The spelling of a control token is cut in two where the server would take it for the token."""
        bodies = [self._body(part) for part in self._parts(_without_surrogates(text))]
        return tuple(token for ids in self._each(bodies) for token in ids)

    def _parts(self, text: str) -> list[str]:
        """The text in pieces none of which spells a whole control token."""
        if self._kind == "llama-server" or not text:
            return [text] if text else []
        found = list(_LIKE_CONTROL.finditer(text))
        self.look_up(match[0] for match in found)
        cuts = [match.start() + 1 + match[0].startswith("▁") for match in found if self._controls[match[0]] is not None]
        return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    def _body(self, text: str | list[str], *, begin: bool = False, parse: bool = False) -> dict[str, Any]:
        if self._kind == "llama-server":
            return {"content": text, "add_special": begin, "parse_special": parse}
        return {"model": self._model, "prompt": text, "add_special_tokens": begin}

    def _each(self, bodies: Sequence[dict[str, Any]]) -> list[list[int]]:
        answers = self._connection.post_each("/tokenize", bodies)
        with self._connection.expecting("/tokenize"):
            return [[int(token) for token in answer["tokens"]] for answer in answers]


def counts_by_text(tokens: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> list[int] | None:
    """How many of llama-server's tokens belong to each of the texts that it was given at once; None where the pieces do not add up."""
    sizes = iter([len(piece.encode() if isinstance(piece, str) else piece) for piece in (token.get("piece", "") for token in tokens)])
    counts = []
    for text in texts:
        left, count = len(text.encode()), 0
        while left > 0 and (size := next(sizes, None)) is not None:
            left, count = left - size, count + 1
        if left != 0:
            return None
        counts.append(count)
    return counts if next(sizes, None) is None else None


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates, which JSON can't hold, by "?", as the runtime in this process does."""
    return text.encode("utf-8", "replace").decode()

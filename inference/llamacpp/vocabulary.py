"""Text to tokens and back with a GGUF's own tokenizer, and its control tokens."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from ..chat_format import ChatFormat, ControlToken
from ..healing.healing import Healing

# Texts whose tokens are remembered, which is about a dozen prompts.
_MAX_REMEMBERED_TEXTS = 128
# llama.h, enum llama_token_attr.
_UNKNOWN, _CONTROL, _STRIPS_BEFORE, _STRIPS_BEHIND = 1 << 0, 1 << 3, 1 << 7, 1 << 8


class Vocabulary:
    """The tokens of an open model. Text never becomes a control token, even where it spells one."""

    def __init__(self, llama: Any, vocab: Any) -> None:
        self._llama = llama
        self._vocab = vocab
        self._size = int(llama.llama_vocab_n_tokens(vocab))
        self._fim = tuple(int(ask(vocab)) for ask in (llama.llama_vocab_fim_pre, llama.llama_vocab_fim_suf, llama.llama_vocab_fim_mid))
        # The text behind the cursor is tokenized at each keystroke and mostly stays the same.
        self._tokenized = functools.lru_cache(maxsize=_MAX_REMEMBERED_TEXTS)(self._tokenize)
        self.ends = functools.cache(self._ends)
        self.piece = functools.cache(self._piece)

    @functools.cached_property
    def healing(self) -> Healing:
        """What token healing knows of the vocabulary."""
        return Healing([self.piece(token) for token in range(self._size)])

    @property
    def fim(self) -> tuple[int, int, int] | None:
        """The ids of fim_pre, fim_suf and fim_mid, or None where one is missing."""
        prefix, suffix, middle = self._fim
        return (prefix, suffix, middle) if min(self._fim) >= 0 else None

    @property
    def beginning(self) -> list[int]:
        """The tokens that each prompt begins with: BOS where the metadata asks for it, else none."""
        bos = int(self._llama.llama_vocab_bos(self._vocab))
        return [bos] if bos >= 0 and self._llama.llama_vocab_get_add_bos(self._vocab) else []

    @property
    def separator(self) -> int:
        """A token that separates texts, to begin an empty prompt with: the first of BOS, EOS and EOT that exists, else token 0."""
        llama = self._llama
        ids = (int(ask(self._vocab)) for ask in (llama.llama_vocab_bos, llama.llama_vocab_eos, llama.llama_vocab_eot))
        return next((token for token in ids if token >= 0), 0)

    def chat_format(self, template: str) -> ChatFormat | None:
        """How the model is asked by its file's template; None without one."""
        if not template.strip():
            return None
        llama, vocab, controls = self._llama, self._vocab, {}
        for token in range(self._size):
            attributes = int(llama.llama_vocab_get_attr(vocab, token))
            if attributes & (_UNKNOWN | _CONTROL) and (spelling := self._named(token)):
                controls[spelling] = ControlToken(token, bool(attributes & _STRIPS_BEFORE), bool(attributes & _STRIPS_BEHIND))
        named = {f"{name}_token": self._named(int(getattr(llama, f"llama_vocab_{name}")(vocab))) for name in ("bos", "eos", "pad")}
        return ChatFormat(template, named, controls, tuple(self.beginning), lambda text, _: self.tokenize(text), hashed=True)

    def tokenize(self, text: str) -> list[int]:
        """Token ids of plain text. A lone surrogate is read as "?"."""
        return list(self._tokenized(text))

    def _tokenize(self, text: str) -> tuple[int, ...]:
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        ids = (ctypes.c_int32 * room)()
        count = int(self._llama.llama_tokenize(self._vocab, data, len(data), ids, room, False, False))
        if count < 0:
            room = -count
            ids = (ctypes.c_int32 * room)()
            count = int(self._llama.llama_tokenize(self._vocab, data, len(data), ids, room, False, False))
        return tuple(ids[:count])

    def control(self, name: str) -> int | None:
        """The id of the control token with this spelling, or None."""
        llama, data = self._llama, name.encode("utf-8", "replace")
        ids = (ctypes.c_int32 * (len(data) + 8))()
        # parse_special is on only here.
        if int(llama.llama_tokenize(self._vocab, data, len(data), ids, len(ids), False, True)) != 1:
            return None
        token = int(ids[0])
        is_it = llama.llama_vocab_is_control(self._vocab, token) and llama.llama_vocab_get_text(self._vocab, token) == data
        return token if is_it else None

    def _named(self, token: int) -> str:
        return str(self._llama.llama_vocab_get_text(self._vocab, token).decode("utf-8", "replace")) if token >= 0 else ""

    def _ends(self, token: int) -> bool:
        """Whether a token ends the text: an end token of the model or any other control token, because what follows is no text."""
        llama = self._llama
        return (
            token in self._fim
            or bool(llama.llama_vocab_is_eog(self._vocab, token))
            or bool(llama.llama_vocab_is_control(self._vocab, token))
        )

    def spelled(self, token: int) -> bytes:
        """The bytes that a token stands for; the spelling of a control token."""
        return self._piece(token, spell=True)

    def _piece(self, token: int, spell: bool = False) -> bytes:
        """The bytes that a token stands for; none for a control token, unless it is to be spelled."""
        for room in (64, 4096, 1 << 20):
            buffer = ctypes.create_string_buffer(room)
            count = int(self._llama.llama_token_to_piece(self._vocab, token, buffer, room, 0, spell))
            if count >= 0:
                return buffer.raw[:count]
        return b""

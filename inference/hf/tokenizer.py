"""Text to tokens and back with a tokenizer.json. Text never becomes a control token, even where it spells one."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from typing import Any

from tokenizers import Tokenizer

from ..chat_format import ChatFormat, ControlToken
from ..completion.fim_families import end_tokens, family_of, front_tokens, in_front, lay_out, prefix_parts, separates_files
from ..errors import DamagedModel, UnsupportedTokenizer
from ..healing.healing import Healing
from ..model import Layout, Prompt
from .folder import Folder, read_json

_LOOKS_LIKE_CONTROL = re.compile(r"<[|｜].+[|｜]>")
# What templates call tokens by.
_NAMED = ("bos_token", "eos_token", "unk_token", "pad_token")
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


class TextTokenizer:
    """The tokenizer of a folder's model. Raises DamagedModel, UnsupportedTokenizer on opening."""

    def __init__(self, folder: Folder) -> None:
        path = folder.path / "tokenizer.json"
        content = read_json(path)
        try:
            # Added tokens beyond the network's vocabulary are left out: the network can't take them.
            known = range(1 << 62 if folder.vocabulary is None else folder.vocabulary)
            added = {token["id"]: token["content"] for token in content.get("added_tokens", []) if token["id"] in known}
            # Texts are neither cut to a length nor padded.
            content |= {"truncation": None, "padding": None}
            content["added_tokens"] = [token for token in content.get("added_tokens", []) if token["id"] in added]
            whole = Tokenizer.from_str(json.dumps(content))
            self._ids: dict[str, int] = whole.get_vocab(with_added_tokens=True)
            self.family = family_of(self._ids.get, folder.name)
            controls = frozenset() if self.family is None else frozenset(self.family.controls)
            special = {token["id"] for token in content["added_tokens"] if _controls(token, controls)}
            self._beginning = [token for token in _beginning(folder, whole, self._ids) if token in known]
            self._as_text = Tokenizer.from_str(json.dumps(_for_text(content, special)))
            self._mid_text = Tokenizer.from_str(json.dumps(_without_leading_space(_for_text(content, special))))
        except Exception as error:  # the tokenizers library raises bare Exception
            raise DamagedModel(path, f"the tokenizers library can't read it ({error})") from error
        if (last := max(self._ids.values(), default=0)) not in known:
            raise DamagedModel(path, f"it has the token {last:,}, the network knows {known.stop:,} tokens: they don't belong together")
        # Older files put a space in front of each text between two control tokens, newer ones in front of the first alone.
        self._prepends = '"Prepend"' in json.dumps(content.get("normalizer"))
        self._config = folder.tokenizer_config
        self._control_tokens = {
            token["content"]: ControlToken(token["id"], bool(token.get("lstrip")), bool(token.get("rstrip")))
            for token in content["added_tokens"]
            if token["id"] in special
        }
        for tokenizer in (self._as_text, self._mid_text):
            tokenizer.encode_special_tokens = True
        self._spellings = {token: spelling for spelling, token in self._ids.items()}
        self._decoder = _decoder(content, folder)
        self._added = added
        named = frozenset() if self.family is None else end_tokens(self.family, self._ids.get)
        self.controls = frozenset(special) | named
        eos = self._ids.get(_spelling(folder.tokenizer_config.get("eos_token")))
        self._ends = self.controls | folder.ends | (frozenset() if eos is None else {eos})
        self._separator = next(
            iter([*self._beginning, *sorted(folder.ends.intersection(self._ids.values())), *([] if eos is None else [eos])]), 0
        )
        self.piece = functools.cache(self._piece)

    @functools.cached_property
    def healing(self) -> Healing:
        """What token healing knows of the vocabulary."""
        return Healing([self.piece(token) for token in range(1 + max(self._spellings, default=0))])

    def ends(self, token: int) -> bool:
        """Whether a token ends the text."""
        return token in self._ends

    @property
    def layout(self) -> Layout:
        """The layout of the model's family; "left_to_right" where it has none."""
        return "left_to_right" if self.family is None else self.family.layout

    @property
    def separates_files(self) -> bool:
        """As `Capabilities.files`."""
        return separates_files(self.family, self._ids.get)

    def tokenize(self, text: str) -> list[int]:
        """Token ids of plain text in the middle of another. A lone surrogate is read as "?"."""
        return self._encode(self._mid_text, text)

    def fim(self, prefix: str, suffix: str, extra: Sequence[tuple[str, str]] = (), path: str = "", begun: int | None = None) -> Prompt:
        """The prompt in the family's layout; without a family the prefix alone. It always has at least one token, and holds back the last
        pre-token."""
        prefix, middle, held = prefix_parts(prefix, self.layout, begun, self.healing.split)
        front = in_front(self.family, self._ids.get, extra, path)
        prefix = front.text + prefix
        if self.family is None:
            return self.left_to_right(prefix, held)
        start = self._as_text if self.family.dummy_space else self._mid_text
        others = front_tokens(front, self.family, self._ids.get, self.tokenize)
        laid = lay_out(self.family, self._ids.get, self._encode(start, prefix), self.tokenize(suffix), self.tokenize(middle), others)
        return Prompt(laid, self.family.layout, held=held)

    def chat_format(self, template: str) -> ChatFormat | None:
        """How the model is asked by its folder's template; None without one."""
        if not template.strip():
            return None
        named = {name: spelling for name in _NAMED if (spelling := _spelling(self._config.get(name)))}

        def tokenize(text: str, first: bool) -> list[int]:
            return self._encode(self._as_text if first or self._prepends else self._mid_text, text)

        return ChatFormat(template, named, self._control_tokens, tuple(self._beginning), tokenize, hashed=False)

    def left_to_right(self, text: str, held: str = "") -> Prompt:
        """The prompt that a text alone makes; it has at least one token."""
        tokens = [*self._beginning, *self._encode(self._as_text, text)]
        return Prompt(tuple(tokens or [self._separator]), "left_to_right", held=held)

    def spelled(self, token: int) -> bytes:
        """The bytes of a token; the spelling of a control token."""
        return self._spellings.get(token, "").encode() if token in self.controls else self.piece(token)

    def _encode(self, tokenizer: Tokenizer, text: str) -> list[int]:
        text = text.encode("utf-8", "replace").decode("utf-8")
        ids: Sequence[int] = tokenizer.encode(text, add_special_tokens=False).ids
        if self.controls.isdisjoint(ids):
            return list(ids)
        # A vocabulary may hold a control token as an ordinary piece too. Text that spells it is then cut into characters.
        return [part for token in ids for part in (self._characters(token) if token in self.controls else (token,))]

    def _characters(self, token: int) -> list[int]:
        parts = (self._mid_text.encode(character, add_special_tokens=False).ids for character in self._spellings[token])
        return [part for ids in parts for part in ids if part not in self.controls]

    def _piece(self, token: int) -> bytes:
        """The bytes of a token; none for a control token or an id that the tokenizer does not know."""
        spelling = self._spellings.get(token)
        if spelling is None or token in self.controls:
            return b""
        if token in self._added:
            return spelling.replace("▁", " ").encode() if self._decoder == "sentencepiece" else spelling.encode()
        if self._decoder == "bytes":
            table = _bytes_of_letters()
            return bytes(table[letter] for letter in spelling) if table.keys() >= set(spelling) else spelling.encode()
        byte = _BYTE.fullmatch(spelling)
        return bytes([int(byte[1], 16)]) if byte else spelling.replace("▁", " ").encode()


def _controls(token: dict[str, Any], known: frozenset[str]) -> bool:
    """Whether an added token is a control token. Some families do not mark theirs as special, so the spelling counts too."""
    return bool(token["special"]) or token["content"] in known or _LOOKS_LIKE_CONTROL.fullmatch(token["content"]) is not None


def _for_text(content: dict[str, Any], special: set[int]) -> dict[str, Any]:
    """The same tokenizer with all control tokens marked as special, so that it can be told to find none in text."""
    added = [{**token, "special": token["id"] in special} for token in content.get("added_tokens", [])]
    return {**content, "added_tokens": added, "post_processor": None}


def _without_leading_space(content: dict[str, Any]) -> dict[str, Any]:
    """The same tokenizer without the space that it puts before a text."""

    def walk(part: Any) -> Any:
        if isinstance(part, list):
            kept = [walk(one) for one in part]
            return [one for one in kept if one is not None]
        if not isinstance(part, dict):
            return part
        match part.get("type"):
            case "Prepend":
                return None
            case "Metaspace":
                # Older files say it by add_prefix_space alone.
                return {**part, "prepend_scheme": "never", **({"add_prefix_space": False} if "add_prefix_space" in part else {})}
            case "ByteLevel":
                return {**part, "add_prefix_space": False}
            case _:
                return {key: walk(value) if key in ("normalizers", "pretokenizers") else value for key, value in part.items()}

    return {**content, "normalizer": walk(content.get("normalizer")), "pre_tokenizer": walk(content.get("pre_tokenizer"))}


def _beginning(folder: Folder, whole: Tokenizer, ids: dict[str, int]) -> list[int]:
    """The tokens that every text begins with: those of the tokenizer's template, unless its configuration says otherwise."""
    bos = ids.get(_spelling(folder.tokenizer_config.get("bos_token")))
    said = folder.tokenizer_config.get("add_bos_token")
    if said is not None and bos is not None:
        return [bos] if said else []
    plain, with_template = whole.encode("a", add_special_tokens=False).ids, whole.encode("a", add_special_tokens=True).ids
    for start in range(len(with_template) - len(plain) + 1):
        if with_template[start : start + len(plain)] == plain:
            return list(with_template[:start])
    return []


def _decoder(content: dict[str, Any], folder: Folder) -> str:
    """How pieces are spelled: "bytes" by letters that stand for bytes, "sentencepiece" with ▁ for a space and <0x0A> for a byte."""
    found = json.dumps([content.get("decoder"), content.get("pre_tokenizer")])
    if '"ByteLevel"' in found:
        return "bytes"
    if '"Metaspace"' in found or "▁" in json.dumps(content.get("decoder"), ensure_ascii=False):
        return "sentencepiece"
    kind = (content.get("decoder") or {}).get("type")
    raise UnsupportedTokenizer(folder.path / "tokenizer.json", f"its decoder is {kind or 'missing'}")


def _spelling(token: object) -> str:
    """A token as tokenizer_config.json writes it: its spelling, or a table that holds it."""
    return str(token.get("content", "")) if isinstance(token, dict) else str(token or "")


@functools.cache
def _bytes_of_letters() -> dict[str, int]:
    """The byte that each letter of a byte-level vocabulary stands for.

    Reference: https://github.com/openai/gpt-2, src/encoder.py, bytes_to_unicode.
    """
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + index): byte for index, byte in enumerate(others)}

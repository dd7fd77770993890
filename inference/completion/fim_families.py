"""The layout of fill-in-the-middle prompts by model family: a table of control tokens and orders, and functions that lay a prompt out.

A prompt is made of token ids: control tokens by the table, and the text between them as plain text, even where it spells a control token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from ..model import Layout

Lookup = Callable[[str], int | None]
# The places of texts in `Family.order`.
PLACES = frozenset({"PREFIX", "SUFFIX", "BEGUN"})
# The path and the text of a piece of another file.
Piece = tuple[str, str]

_UNTITLED = "untitled"
# Files whose comments begin with "#". In nearly all others a comment begins with "//", or that is as good as any sign.
_HASH = frozenset(
    {".py", ".pyi", ".rb", ".sh", ".bash", ".zsh", ".toml", ".yaml", ".yml", ".pl", ".r", ".jl", ".cmake", ".mk", ".ex", ".exs"}
)


@dataclass(frozen=True, slots=True)
class Family:
    """How the models of one family are asked to fill in the middle.

    Attributes
        order: the prompt behind the first token. "PREFIX" and "SUFFIX" are the texts, "BEGUN" is the end of the prefix that the middle
            begins with, which "PREFIX" then leaves out; all else are spellings.
        source: where this is documented.
        first: the spelling of the token that every prompt begins with, or None.
        dummy_space: whether the prefix is tokenized as the beginning of a text, before which SentencePiece puts a space. The suffix never
            is.
        ends: what else ends a text, besides the tokenizer's own end and all spellings above: what stands between files, for one.
        marks: spellings that only this family has, of those with the same three control tokens.
        names: parts of model names in lower case, for where the vocabulary is unknown.
        other, own: what stands in front of a prompt with pieces of other files: `other` for each piece, then `own` for the file itself.
            "PATH" is a path on its own line, "TEXT" the piece, all else are spellings. Empty where pieces are laid out as plain text.
    """

    name: str
    order: tuple[str, ...]
    source: str
    first: str | None = None
    dummy_space: bool = False
    ends: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    @property
    def layout(self) -> Literal["anchored", "spm"]:
        """The order of its prompts."""
        return "anchored" if "BEGUN" in self.order else "spm"

    @property
    def required(self) -> tuple[str, ...]:
        """The spellings that this family's prompts need."""
        spelled = [part for part in self.order if part not in PLACES]
        return tuple(spelled if self.first is None else [self.first, *spelled])

    @property
    def controls(self) -> tuple[str, ...]:
        """All spellings that end a text when the model generates one: those of the prompt, then the others."""
        return tuple(dict.fromkeys((*self.required, *self.ends)))


def _anchored(prefix: str, suffix: str, middle: str) -> tuple[str, ...]:
    """Prefix, suffix, middle, as the models were trained. The middle begins with the last lines, so typing changes only the end."""
    return (prefix, "PREFIX", suffix, "SUFFIX", middle, "BEGUN")


# Where the vocabulary of one family has another's marks too, the one with more marks comes first.
FAMILIES: tuple[Family, ...] = (
    Family(
        name="assay",
        # Variant 2 of suffix-prefix-middle: the prompt's end is where the user types.
        order=("<|fim_prefix|>", "<|fim_suffix|>", "SUFFIX", "<|fim_middle|>", "PREFIX"),
        ends=("<|endoftext|>", "<|fim_pad|>"),
        marks=("<|assay_judge|>",),
        names=("assay-embedded",),
        source="training/ here; Bavarian et al. 2022, arXiv 2207.14255, appendix D, SPM variant 2",
    ),
    Family(
        name="codegemma",
        order=_anchored("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
        first="<bos>",
        # Separators stand between files, paths in front of them as text (arXiv 2406.11409, figure 2).
        other=("PATH", "TEXT", "<|file_separator|>"),
        own=("PATH",),
        ends=("<|file_separator|>", "<eos>"),
        marks=("<|file_separator|>",),
        names=("codegemma",),
        source="https://ai.google.dev/gemma/docs/codegemma/prompt-structure; <bos>: GemmaTokenizer of transformers",
    ),
    Family(
        name="qwen2.5-coder",
        order=_anchored("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
        # As in its examples/Qwen2.5-Coder-repolevel-fim.py, without the repository's name, which is unknown here.
        other=("<|file_sep|>", "PATH", "TEXT"),
        own=("<|file_sep|>", "PATH"),
        ends=("<|file_sep|>", "<|repo_name|>", "<|endoftext|>", "<|fim_pad|>", "<|im_end|>"),
        names=("qwen2.5-coder", "qwen3-coder", "qwen-coder"),
        source="https://github.com/QwenLM/Qwen2.5-Coder examples/Qwen2.5-Coder.md",
    ),
    Family(
        name="starcoder2",
        order=_anchored("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),
        # Half of the repositories had no names in training (arXiv 2402.19173, section 5.1), so ours needs none.
        other=("<file_sep>", "TEXT"),
        own=("<file_sep>",),
        ends=("<file_sep>", "<repo_name>", "<|endoftext|>", "<fim_pad>"),
        marks=("<file_sep>",),
        names=("starcoder2",),
        source="StarCoder 2, arXiv 2402.19173; tokenizer bigcode/starcoder2-tokenizer",
    ),
    Family(
        name="starcoder",
        order=_anchored("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),
        ends=("<filename>", "<reponame>", "<|endoftext|>", "<fim_pad>"),
        names=("starcoder", "granite-code", "granite-3b-code", "granite-8b-code", "granite-20b-code", "granite-34b-code"),
        # Granite Code was trained with StarCoder's tokenizer, and to fill in the middle.
        source="model card bigcode/starcoder; https://github.com/ibm-granite/granite-code-models README.md and arXiv 2405.04324",
    ),
    Family(
        name="santacoder",
        order=_anchored("<fim-prefix>", "<fim-suffix>", "<fim-middle>"),
        ends=("<|endoftext|>", "<fim-pad>"),
        names=("santacoder",),
        source="model card bigcode/santacoder",
    ),
    Family(
        # The token before the suffix is called "hole", the one before the middle "end".
        name="deepseek-coder",
        order=_anchored("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),
        first="<｜begin▁of▁sentence｜>",
        ends=("<｜end▁of▁sentence｜>", "<|EOT|>"),
        names=("deepseek-coder",),
        source="https://github.com/deepseek-ai/DeepSeek-Coder README.md, Code Insertion",
    ),
    Family(
        # Encoded by its authors as BOS, ▁<PRE>, the prefix as a text of its own, ▁<SUF>, the suffix without the implicit space, ▁<MID>.
        name="codellama",
        order=_anchored("▁<PRE>", "▁<SUF>", "▁<MID>"),
        first="<s>",
        dummy_space=True,
        ends=("▁<EOT>", "</s>"),
        names=("codellama", "code-llama"),
        source="https://github.com/meta-llama/codellama llama/generation.py, infilling_prompt_tokens, and llama/tokenizer.py",
    ),
    Family(
        name="codestral",
        order=("[SUFFIX]", "SUFFIX", "[PREFIX]", "PREFIX"),
        first="<s>",
        dummy_space=True,
        ends=("</s>", "[MIDDLE]"),
        names=("codestral",),
        source="https://github.com/mistralai/mistral-common tokens/tokenizers/instruct.py, InstructTokenizerV2.encode_fim",
    ),
)


def family_of(lookup: Lookup, name: str = "") -> Family | None:
    """The family whose control tokens a vocabulary has, or None for a model that only continues a text from left to right.

    lookup: gives the id of the token with a spelling, or None. name: the model's, which decides between families with the same tokens.
    """
    possible = [family for family in FAMILIES if all(lookup(spelling) is not None for spelling in family.required)]
    named = next((family for family in possible if _is_named(family, name)), None)
    return named or next((family for family in possible if all(lookup(mark) is not None for mark in family.marks)), None)


def family_named(name: str) -> Family | None:
    """The family by a model's name alone, or None."""
    return next((family for family in FAMILIES if _is_named(family, name)), None)


@dataclass(frozen=True, slots=True)
class Control:
    """A control token among texts, by its spelling."""

    spelling: str


@dataclass(frozen=True, slots=True)
class Front:
    """What pieces of other files add to a prompt: parts in front of it, and a text in front of its prefix."""

    parts: tuple[str | Control, ...] = ()
    text: str = ""

    @property
    def spelled(self) -> str:
        """The parts as one text, for a server that tokenizes prompts itself."""
        return "".join(part.spelling if isinstance(part, Control) else part for part in self.parts)


def separates_files(family: Family | None, lookup: Lookup | None) -> bool:
    """Whether a model was trained on whole repositories, with control tokens between files. lookup: as for `in_front`."""
    return family is not None and bool(family.other) and all(lookup is None or lookup(s) is not None for s in _spellings(family))


def in_front(family: Family | None, lookup: Lookup | None, extra: Sequence[Piece], path: str) -> Front:
    """Lay out pieces of other files in front of a prompt.

    A model that was trained on whole repositories gets them with its separators. Any other gets them as text in front of the prefix, each
    piece behind a comment with its path, as DeepSeek-Coder was trained (https://github.com/deepseek-ai/DeepSeek-Coder README.md,
    Repository Level Code Completion).

    lookup: as for `family_of`; None where the vocabulary is unknown, which is then taken to have the separators. path: the file's own.
    """
    if not extra:
        return Front()
    path = path or _UNTITLED
    if not separates_files(family, lookup):
        told = [f"{_comment(name)}{_closed(text)}\n" for name, text in extra]
        return Front(text="".join([*told, _comment(path)]))
    assert family is not None
    parts: list[str | Control] = []
    for pattern, name, text in [*((family.other, name, text) for name, text in extra), (family.own, path, "")]:
        for part in pattern:
            said = {"PATH": f"{name}\n", "TEXT": _closed(text)}.get(part)
            if said is None:
                parts.append(Control(part))
            elif parts and isinstance(last := parts[-1], str):
                parts[-1] = last + said  # tokenized together, as a file is
            else:
                parts.append(said)
    return Front(tuple(parts))


def front_tokens(front: Front, family: Family, lookup: Lookup, encode: Callable[[str], Sequence[int]]) -> list[int]:
    """The token ids of the parts in front of a prompt. Raises ValueError for a spelling that the vocabulary lacks."""
    tokens: list[int] = []
    for part in front.parts:
        tokens += [_id(family, lookup, part.spelling)] if isinstance(part, Control) else encode(part)
    return tokens


def prefix_parts(prefix: str, layout: Layout, begun: int | None, split: Callable[[str], tuple[str, str]]) -> tuple[str, str, str]:
    """A prefix in three parts: what stands in its place, what the middle of an anchored prompt begins with, and what is held back.

    begun: as for `Model.fim`. split: gives what of a text the model is asked to continue, and what is held back (token healing).
    """
    if layout != "anchored":
        kept, held = split(prefix)
        return kept, "", held
    at = prefix.rfind("\n") + 1 if begun is None else len(prefix) - begun
    return prefix[:at], *split(prefix[at:])


def lay_out(
    family: Family, lookup: Lookup, prefix: Sequence[int], suffix: Sequence[int], begun: Sequence[int] = (), front: Sequence[int] = ()
) -> tuple[int, ...]:
    """The prompt's token ids, made of those of the texts.

    front: the ids of other files' pieces, which stand behind the first token. Raises ValueError for a spelling that the vocabulary lacks.
    """
    tokens: list[int] = [] if family.first is None else [_id(family, lookup, family.first)]
    tokens += front
    for part in family.order:
        if part == "PREFIX":
            tokens += prefix
        elif part == "SUFFIX":
            tokens += suffix
        elif part == "BEGUN":
            tokens += begun
        else:
            tokens.append(_id(family, lookup, part))
    return tuple(tokens)


def end_tokens(family: Family, lookup: Lookup) -> frozenset[int]:
    """The ids of all tokens that end a text of this family, of those that the vocabulary has."""
    return frozenset(token for spelling in family.controls if (token := lookup(spelling)) is not None)


def _spellings(family: Family) -> tuple[str, ...]:
    return tuple(part for part in (*family.other, *family.own) if part not in ("PATH", "TEXT"))


def _comment(path: str) -> str:
    return f"{'#' if PurePosixPath(path).suffix.lower() in _HASH else '//'} {path}\n"


def _closed(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _id(family: Family, lookup: Lookup, spelling: str) -> int:
    token = lookup(spelling)
    if token is None:
        raise ValueError(f'{family.name} prompts need the token "{spelling}", which this vocabulary does not have')
    return token


def _is_named(family: Family, name: str) -> bool:
    return any(part in name.lower() for part in family.names)

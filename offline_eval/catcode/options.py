"""What the options choose from, and which of them do something in which sort of run. Light: every `assay --help` imports it."""

from __future__ import annotations

from ..command import Sorts

# What is rewritten: the line of the project, and what a model suggests in its place.
CODES = ("truth", "suggestion")
# Of programs.
LANGUAGES = ("python", "java", "javascript")
# The kinds of pairs (`pairs.pair` says what each is).
PAIR_KINDS = ("1-eq", "2-eq", "2-eq-chain", "3-eq-chain", "1-neq", "identity", "global-eq", "global-neq")
_OF_PROGRAMS, _FUNCTORS = ("pairs", "translate", "explain"), ("translate", "explain")
SORTS = Sorts(
    {name: f"--set {name}" for name in ("lines", *_OF_PROGRAMS)},
    only={
        **dict.fromkeys(("of", "projects", "per_project", "cache", "python", "memory"), ("lines",)),
        **dict.fromkeys(("data", "recorded", "ask"), _OF_PROGRAMS),
        **dict.fromkeys(("kinds", "votes"), ("pairs",)),
        **dict.fromkeys(("language", "draws"), _FUNCTORS),
        "to": ("translate",),
    },
    steps={
        "lines": ("answers", "rewrite", "score", "regenerate", "label"),
        "pairs": ("pairs", "answers"),
        "translate": ("sources", "write", "labels"),
        "explain": ("sources", "describe", "write", "labels"),
    },
)

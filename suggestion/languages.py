"""The language of a file, in the protocol's identifiers."""

from __future__ import annotations

from pathlib import PurePath

_BY_SUFFIX = {
    ".bash": "shellscript",
    ".c": "c",
    ".cc": "cpp",
    ".cjs": "javascript",
    ".cpp": "cpp",
    ".cs": "csharp",
    ".cts": "typescript",
    ".cxx": "cpp",
    ".dart": "dart",
    ".ex": "elixir",
    ".exs": "elixir",
    ".go": "go",
    ".h": "c",
    ".hh": "cpp",
    ".hpp": "cpp",
    ".hs": "haskell",
    ".java": "java",
    ".jl": "julia",
    ".js": "javascript",
    ".jsx": "javascriptreact",
    ".kt": "kotlin",
    ".lua": "lua",
    ".m": "objective-c",
    ".mjs": "javascript",
    ".ml": "ocaml",
    ".mm": "objective-cpp",
    ".mts": "typescript",
    ".php": "php",
    ".pl": "perl",
    ".py": "python",
    ".pyi": "python",
    ".r": "r",
    ".rb": "ruby",
    ".rs": "rust",
    ".scala": "scala",
    ".sh": "shellscript",
    ".sql": "sql",
    ".svelte": "svelte",
    ".swift": "swift",
    ".ts": "typescript",
    ".tsx": "typescriptreact",
    ".vue": "vue",
    ".zig": "zig",
}


def is_code(path: str | PurePath) -> bool:
    """Whether a file has code, by its suffix."""
    return PurePath(path).suffix.lower() in _BY_SUFFIX


def language_of(path: str | PurePath) -> str:
    """The language by the file's suffix; "plaintext" for one that is not known."""
    return _BY_SUFFIX.get(PurePath(path).suffix.lower(), "plaintext")

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
    ".go": "go",
    ".h": "c",
    ".hh": "cpp",
    ".hpp": "cpp",
    ".java": "java",
    ".js": "javascript",
    ".jsx": "javascriptreact",
    ".kt": "kotlin",
    ".lua": "lua",
    ".mjs": "javascript",
    ".mts": "typescript",
    ".php": "php",
    ".py": "python",
    ".pyi": "python",
    ".rb": "ruby",
    ".rs": "rust",
    ".sh": "shellscript",
    ".sql": "sql",
    ".swift": "swift",
    ".ts": "typescript",
    ".tsx": "typescriptreact",
}
# What is no code.
_TEXT = {".json": "json", ".markdown": "markdown", ".md": "markdown", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}
# Code in languages of which nothing else is known here.
_OTHER_CODE = frozenset({".dart", ".ex", ".exs", ".hs", ".jl", ".m", ".ml", ".mm", ".pl", ".r", ".scala", ".svelte", ".vue", ".zig"})


def is_code(path: str | PurePath) -> bool:
    """Whether a file has code, by its suffix."""
    suffix = PurePath(path).suffix.lower()
    return suffix in _BY_SUFFIX or suffix in _OTHER_CODE


def language_of(path: str | PurePath) -> str:
    """The language by the file's suffix; "plaintext" for one that is not known."""
    suffix = PurePath(path).suffix.lower()
    return _BY_SUFFIX.get(suffix) or _TEXT.get(suffix, "plaintext")

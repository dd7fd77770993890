"""The language of a file, in the protocol's identifiers."""

from __future__ import annotations

from pathlib import PurePath

_BY_SUFFIX = {
    ".c": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cs": "csharp",
    ".go": "go",
    ".h": "c",
    ".hpp": "cpp",
    ".java": "java",
    ".js": "javascript",
    ".jsx": "javascriptreact",
    ".kt": "kotlin",
    ".lua": "lua",
    ".php": "php",
    ".py": "python",
    ".pyi": "python",
    ".rb": "ruby",
    ".rs": "rust",
    ".sh": "shellscript",
    ".swift": "swift",
    ".ts": "typescript",
    ".tsx": "typescriptreact",
}


def language_of(path: str | PurePath) -> str:
    """The language by the file's suffix; "plaintext" for one that is not known."""
    return _BY_SUFFIX.get(PurePath(path).suffix.lower(), "plaintext")

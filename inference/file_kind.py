"""What a file is that lies where a model should: a download that was not finished, or that brought something else."""

from __future__ import annotations

import re
from pathlib import Path

from .errors import NotTheModel

# Behind the name of a file that is being downloaded (LM Studio, llama.cpp, browsers and curl's users), and before it (LM Studio).
_UNFINISHED = re.compile(
    r"(?P<name>.+\.(gguf|safetensors))\.(part|partial|download|downloading|downloadInProgress|incomplete|tmp|crdownload|aria2)",
    re.IGNORECASE,
)
_UNFINISHED_PREFIX = "downloading_"
# As much of a file as is looked at.
BEGINNING = 512
_MAX_QUOTED = 60
_KINDS: tuple[tuple[re.Pattern[bytes], str, str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), found, advice)
    for pattern, found, advice in (
        (
            rb"version https://git-lfs\.github\.com/spec/",
            "a Git LFS pointer",
            "Fetch the file that it stands for with: git lfs pull (in its repository), or download that.",
        ),
        (
            rb"(\xef\xbb\xbf)?\s*(<!doctype html|<html|<head)",
            "a web page",
            "The address that it came from is not that of the file, or wants a login: download it again.",
        ),
        (rb"\s*<\?xml", "a server's message in XML", "The download was refused: download it again."),
        (rb"PK\x03\x04|\x1f\x8b|\xfd7zXZ|7z\xbc\xaf|\(\xb5/\xfd|BZh", "an archive, or a packed file", "Unpack it, and give what is in it."),
        (rb"lmgg|fmgg|tjgg|algg", "a model in a format from before GGUF", "Download it in GGUF format, or convert it with llama.cpp."),
        (rb".{8}\{\s*\"", "a safetensors file", "Give the folder that holds it and config.json."),
        (rb"\0{64}", "filled with zeros where it begins", "Its download was not finished: download it again."),
    )
)


def unfinished(name: str) -> str:
    """The name of the file that a download will be; empty where a name is not that of a download."""
    if whole := _UNFINISHED.fullmatch(name):
        return whole["name"]
    begun = name.startswith(_UNFINISHED_PREFIX) and name.lower().endswith(".gguf")
    return name.removeprefix(_UNFINISHED_PREFIX) if begun else ""


def refuse_unfinished(path: Path) -> None:
    """Raises NotTheModel for a file that is being downloaded, by its name."""
    if unfinished(path.name):
        raise NotTheModel(
            path, "a download that was not finished (so its name says)", "Let the program that began it go on, or download it again."
        )


def refuse_other_kind(path: Path, beginning: bytes) -> None:
    """Raises NotTheModel for a file whose beginning says that it is something else that is known."""
    for pattern, found, advice in _KINDS:
        if pattern.match(beginning):
            raise NotTheModel(path, found, advice)
    text = beginning.decode("ascii").strip() if len(beginning) < BEGINNING and beginning.isascii() else ""
    if text and text[0] not in "{[" and all(character.isprintable() or character in "\t\r\n" for character in text):
        quoted = text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}…"
        raise NotTheModel(path, f"a text ({quoted.splitlines()[0]!r})", "The download brought a message instead: download it again.")

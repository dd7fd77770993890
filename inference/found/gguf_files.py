"""GGUF files among the files of a folder: one entry for a model in several files, and downloads that were not finished."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from .candidate import Candidate
from .walk import Notes, walk

_SUFFIX = ".gguf"
# As llama.cpp's gguf-split names the files of one model (llama_split_path in llama.cpp).
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)
# Behind the name of a file that is being downloaded: LM Studio, llama.cpp, browsers and curl's users; and before it: GPT4All.
_UNFINISHED = re.compile(
    r"(?P<name>.+\.gguf)\.(part|partial|download|downloading|downloadInProgress|incomplete|tmp|crdownload|aria2)", re.IGNORECASE
)
_UNFINISHED_PREFIXES = ("incomplete-", "downloading_")
# A part of a model that also sees: it encodes pictures and is no model of text.
_PROJECTOR = "mmproj"


def gguf_files(folder: Path, notes: Notes) -> Iterator[Candidate]:
    """The GGUF files below a folder, by their paths in it."""
    return candidates_of(folder, walk(folder, notes))


def candidates_of(folder: Path, files: Iterable[Path]) -> Iterator[Candidate]:
    """The models among files below a folder. A name is the path in the folder without its suffix and the number of a part."""
    split: defaultdict[tuple[str, int], dict[int, Path]] = defaultdict(dict)
    for path in files:
        name = path.relative_to(folder).as_posix()
        if path.name.lower().startswith(_PROJECTOR):
            continue
        if unfinished := _unfinished(name):
            yield Candidate(unfinished, path, problem="its download was not finished: let the program that began it go on, or delete it")
        elif part := _PART.fullmatch(name):
            split[part["stem"], int(part["count"])][int(part["number"])] = path
        elif name.lower().endswith(_SUFFIX):
            yield Candidate(name[: -len(_SUFFIX)], path)
    for (name, count), parts in split.items():
        yield _split_model(name, count, parts)


def _split_model(name: str, count: int, parts: dict[int, Path]) -> Candidate:
    paths = tuple(parts[number] for number in sorted(parts))
    missing = [number for number in range(1, min(count, 9_999) + 1) if number not in parts]
    if missing:
        problem = f"{len(missing)} of its {count} files {'is' if len(missing) == 1 else 'are'} missing: download it again"
    elif count > 1:
        problem = f"it is in {count} files: merge them with llama-gguf-split --merge {paths[0].name} whole.gguf"
    else:
        problem = ""
    return Candidate(name, paths[0], paths, problem=problem)


def _unfinished(name: str) -> str:
    """The name of the file that a download will be; empty where the name is not that of a download."""
    folder, slash, file = name.rpartition("/")
    if whole := _UNFINISHED.fullmatch(file):
        file = whole["name"]
    elif file.lower().endswith(_SUFFIX) and (prefix := next((p for p in _UNFINISHED_PREFIXES if file.startswith(p)), "")):
        file = file[len(prefix) :]
    else:
        return ""
    return f"{folder}{slash}{file[: -len(_SUFFIX)]}"

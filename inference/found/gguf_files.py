"""GGUF files among the files of a folder: one entry for a model in several files, and downloads that were not finished."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..errors import AmbiguousModelName, UnreadableModel, UnusableModel
from ..file_kind import unfinished
from ..llamacpp.header_checks import PART
from .candidate import Candidate, Notes, walk

_SUFFIX = ".gguf"
# A part of a model that also sees: it encodes pictures and is no model of text.
_PROJECTOR = "mmproj"
# Weights that transformers opens, or refuses with a reason.
_TRANSFORMERS = {".safetensors", ".bin", ".pt", ".pth", ".ckpt"}
# LM Studio and Hugging Face's cache keep the file of a model one or two folders down.
_MAX_DEPTH_OF_ONE = 2


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
        if whole := _unfinished(name):
            yield Candidate(whole, path, problem="its download was not finished: let the program that began it go on, or delete it")
        elif part := PART.fullmatch(name):
            split[part["stem"], int(part["count"])][int(part["number"])] = path
        elif name.lower().endswith(_SUFFIX):
            yield Candidate(name[: -len(_SUFFIX)], path)
    for (name, count), parts in split.items():
        yield _split_model(name, count, parts)


def gguf_in(folder: Path) -> Path | None:
    """The one GGUF model that a folder is, itself or in the folders in it; None where it has none, or is one for transformers.

    Raises AmbiguousModelName for several, UnusableModel for one whose files are not all there.
    """
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise UnreadableModel(folder, error.strerror or str(error)) from error
    if any(path.name == "config.json" for path in files) and any(path.suffix in _TRANSFORMERS for path in files):
        return None
    found = list(candidates_of(folder, files)) or list(candidates_of(folder, walk(folder, [], depth=_MAX_DEPTH_OF_ONE)))
    usable = [candidate for candidate in found if not candidate.problem]
    if len(usable) > 1:
        raise AmbiguousModelName(str(folder), [candidate.path for candidate in usable])
    if found and not usable:
        raise UnusableModel(str(found[0].path), found[0].problem)
    return usable[0].path if usable else None


def _split_model(name: str, count: int, parts: dict[int, Path]) -> Candidate:
    paths = tuple(parts[number] for number in sorted(parts))
    missing = [number for number in range(1, min(count, 9_999) + 1) if number not in parts]
    problem = f"{len(missing)} of its {count} files {'is' if len(missing) == 1 else 'are'} missing: download it again" if missing else ""
    return Candidate(name, paths[0], paths, problem=problem)


def _unfinished(name: str) -> str:
    """The path of the model that a download will be, without its suffix; empty where the path is not that of a download."""
    folder, slash, file = name.rpartition("/")
    whole = unfinished(file)
    return f"{folder}{slash}{whole[: -len(_SUFFIX)]}" if whole.lower().endswith(_SUFFIX) else ""

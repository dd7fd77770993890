"""What GGUF headers decide before a model is loaded: its files, the prompt's layout, the context's length, whether it can run here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import DamagedModel, OutOfMemory, SplitModel, UnknownLayout, UnsupportedArchitecture
from ..machine_memory import machine_memory
from ..model import KVType, Layout
from .gguf_header import GGUFHeader, read_header
from .session import BYTES_OF_KV, FORK_CELLS

# Our own key, for models trained to be asked suffix first, so that typing changes only the end of the prompt.
LAYOUT_KEY = "assay.fim.layout"
_LAYOUTS: tuple[Layout, ...] = ("anchored", "psm", "spm")
_NOT_CAUSAL = frozenset(
    {
        "bert",
        "clip",
        "jina-bert-v2",
        "jina-bert-v3",
        "modern-bert",
        "neo-bert",
        "nomic-bert",
        "nomic-bert-moe",
        "t5encoder",
        "wavtokenizer-dec",
    }
)


def layout_of(path: Path, header: GGUFHeader) -> Layout:
    """The layout of fill-in-the-middle prompts that the metadata asks for. Raises UnknownLayout."""
    asked = header.metadata.get(LAYOUT_KEY, "anchored")
    for layout in _LAYOUTS:
        if asked == layout:
            return layout
    raise UnknownLayout(path, LAYOUT_KEY, asked, " and ".join(_LAYOUTS))


def check_generates(path: Path, header: GGUFHeader) -> None:
    """Refuse a model that is not one of text. Raises UnsupportedArchitecture."""
    if header.architecture in _NOT_CAUSAL:
        raise UnsupportedArchitecture(path, f'the architecture "{header.architecture}" does not generate text')


def check_can_run(path: Path, header: GGUFHeader, n_ctx: int, kv_type: KVType) -> None:
    """Refuse a model that can't run here.

    Raises what `check_generates` raises, and OutOfMemory where the cache alone needs more memory than the machine has.
    """
    check_generates(path, header)
    cache, memory = header.cache_bytes(n_ctx + FORK_CELLS, BYTES_OF_KV[kv_type]), machine_memory()
    if memory is not None and cache > memory:
        raise OutOfMemory(path, f"the cache of {n_ctx:,} tokens takes {cache / 2**30:,.1f} GiB, this machine has {memory / 2**30:,.1f}")


PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)


def parts_of(path: Path) -> tuple[Path, ...]:
    """The files of the model that a file belongs to, in order; the file alone where its name is not that of a part.

    Names and keys: llama.cpp's gguf-split (llama_split_path in llama.cpp; `split.no`, `split.count` in the metadata of each file).
    Raises SplitModel where some are missing.
    """
    named = PART.fullmatch(path.name)
    count = int(named["count"]) if named else 1
    if named is None or not 1 <= int(named["number"]) <= count:
        return (path,)
    start, digits = named.span("number")
    parts = tuple(path.with_name(f"{path.name[:start]}{number:05}{path.name[digits:]}") for number in range(1, count + 1))
    # A file that is missing itself is told when it is read.
    if path.is_file() and (missing := [part.name for part in parts if not part.is_file()]):
        raise SplitModel(path, count, f"{_some(missing)} not beside it: download or copy all of them into one folder")
    return parts


def read_parts(parts: Sequence[Path]) -> GGUFHeader:
    """What the files of one model say together; of a model in one file what `read_header` gives, and raises.

    Raises also SplitModel, DamagedModel for files that do not belong together.
    """
    headers = [read_header(part) for part in parts]
    for number, (part, header) in enumerate(zip(parts, headers, strict=True)):
        count = header.number("split.count", 1)
        if count > 1 and len(parts) == 1:
            advice = f"its name does not say which: name the files NAME-00001-of-{count:05}.gguf and so on, as they were named"
            raise SplitModel(part, count, advice)
        if count != len(parts) or header.number("split.no", 0) != number:
            said = (
                f"it says that it is file {header.number('split.no', 0) + 1} of {count}, its name that it is {number + 1} of {len(parts)}"
            )
            raise DamagedModel(part, said)
    return replace(
        headers[0],
        parameters=sum(header.parameters for header in headers),
        tensor_types=_sum([header.tensor_types for header in headers]),
        bytes_by_role=_sum([header.bytes_by_role for header in headers]),
        size=sum(header.size for header in headers),
    )


def _sum(counts: Sequence[dict[str, int]]) -> dict[str, int]:
    together: Counter[str] = Counter()
    for count in counts:
        together.update(count)
    return dict(together)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0]}{more} {'are' if len(names) > 1 else 'is'}"

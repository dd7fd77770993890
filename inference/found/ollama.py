"""Ollama's models.

Layout (ollama/ollama: envconfig/config.go, manifest/manifest.go, manifest/paths.go, docs/faq):

    MODELS/manifests/HOST/NAMESPACE/MODEL/TAG       JSON, an image manifest of version 2
    MODELS/manifests-v2/HOST/NAMESPACE/MODEL/TAG    the same by newer versions, mostly a link to a blob; it goes before the one above
    MODELS/blobs/sha256-HEX                         the layers by their hash, those of a download end in -partial or -partial-N

The layer of type application/vnd.ollama.image.model is the GGUF file. A manifest list (newer versions) has a manifest for each runner,
itself or by the digest of a blob. MODELS is OLLAMA_MODELS, else OLLAMA_HOME/models, else ~/.ollama/models; the service of Linux has its
own home, /usr/share/ollama (some distributions: /var/lib/ollama).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..regular_file import read_regular_file
from .candidate import Candidate, Machine, Notes, Place, walk

_MODEL = "application/vnd.ollama.image.model"
_ADAPTER = "application/vnd.ollama.image.adapter"
_TENSOR = "application/vnd.ollama.image.tensor"
_HOST, _NAMESPACE = "registry.ollama.ai", "library"
_DIGEST = re.compile(r"sha256[:-]([0-9a-fA-F]{64})")
_MAX_MANIFEST_BYTES = 1 << 20
_SERVICE_HOMES = ("/usr/share/ollama/.ollama/models", "/var/lib/ollama/.ollama/models", "/var/lib/ollama/models", "/var/lib/ollama")


def folders(machine: Machine) -> Sequence[Path]:
    """The folders of models that Ollama may use."""
    if named := machine.variable("OLLAMA_MODELS"):
        return [named]
    own = (machine.variable("OLLAMA_HOME") or machine.home / ".ollama") / "models"
    return [own, *(map(Path, _SERVICE_HOMES) if machine.system == "linux" else ())]


def candidates(folder: Path, notes: Notes) -> Iterator[Candidate]:
    """The models of all manifests, by the names that `ollama list` shows."""
    blobs, seen = folder / "blobs", set[str]()
    for manifests in (folder / "manifests-v2", folder / "manifests"):
        for path in walk(manifests, notes, depth=4):
            parts = path.relative_to(manifests).parts
            if len(parts) == 4 and not parts[-1].startswith(".") and (name := short_name(*parts)) not in seen:
                seen.add(name)
                yield _candidate(name, path, blobs)
    if (folder / "blobs").is_dir():
        partial = {path.name.partition("-partial")[0] for path in walk(blobs, notes, depth=0) if "-partial" in path.name}
        if partial:
            notes.append(f"{blobs}: {len(partial)} {'download' if len(partial) == 1 else 'downloads'} of Ollama not finished")


def short_name(host: str, namespace: str, model: str, tag: str) -> str:
    """A name as `ollama list` shows it: without the usual host and namespace."""
    front = "" if (host, namespace) == (_HOST, _NAMESPACE) else f"{namespace}/" if host == _HOST else f"{host}/{namespace}/"
    return f"{front}{model}:{tag}"


def _candidate(name: str, manifest: Path, blobs: Path) -> Candidate:
    try:
        layers = _layers(_table(manifest), blobs)
    except OSError as error:
        return Candidate(name, manifest, problem=f"its manifest can't be read ({error.strerror or error})")
    except (ValueError, RecursionError) as error:
        return Candidate(name, manifest, problem=f"its manifest is damaged ({error}): pull it again")
    kinds = [str(layer.get("mediaType", "")) for layer in layers]
    files = [layer for layer, kind in zip(layers, kinds, strict=True) if kind == _MODEL]
    if not files:
        tensors = any(kind.startswith(_TENSOR) for kind in kinds)
        what = "its weights are in Ollama's own format of single tensors" if tensors else "it has no weights here: it is run elsewhere"
        return Candidate(name, manifest, problem=what)
    digest = _DIGEST.fullmatch(str(files[0].get("digest", "")))
    if digest is None:
        return Candidate(name, manifest, problem="its manifest is damaged (a digest is no SHA-256): pull it again")
    paths = tuple(blobs / f"sha256-{found[1].lower()}" for layer in files if (found := _DIGEST.fullmatch(str(layer.get("digest", "")))))
    problem = ""
    if not paths[0].exists():
        problem = "its blob is missing, the download was not finished: pull it again"
    elif len(paths) > 1:
        problem = f"it is in {len(paths)} files, which Assay does not open"
    elif _ADAPTER in kinds:
        problem = "it is an adapter on another model, which Assay does not open"
    return Candidate(name, paths[0], paths if len(paths) > 1 else (), digest[1].lower(), problem)


def _layers(manifest: dict[str, Any], blobs: Path) -> list[dict[str, Any]]:
    """The layers of a manifest; of a list of manifests those of the first with a GGUF file. Raises OSError, ValueError."""
    children = manifest.get("manifests")
    if not isinstance(children, list):
        layers = manifest.get("layers")
        if not isinstance(layers, list) or not all(isinstance(layer, dict) for layer in layers):
            raise ValueError("it has no layers")
        return layers
    found: list[dict[str, Any]] = []
    for child in children:
        if isinstance(child, dict) and (digest := _DIGEST.fullmatch(str(child.get("digest", "")))) and not child.get("layers"):
            child = _table(blobs / f"sha256-{digest[1].lower()}")
        found = _layers({"layers": child.get("layers") if isinstance(child, dict) else None}, blobs)
        if any(layer.get("mediaType") == _MODEL for layer in found):
            return found
    return found


def _table(path: Path) -> dict[str, Any]:
    value = json.loads(read_regular_file(path, _MAX_MANIFEST_BYTES))
    if not isinstance(value, dict):
        raise ValueError("it is no table of names and values")
    return value


PLACE = Place("ollama", "Ollama", folders, candidates)

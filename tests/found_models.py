"""Homes with models laid out as the programs that keep them do, for tests: real tiny GGUF files in the folders of each."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

MODEL_LAYER = "application/vnd.ollama.image.model"


def put(source: Path, target: Path) -> Path:
    """Copy a file to where a program keeps it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    return target


def ollama_blob(models: Path, source: Path) -> str:
    """Copy a file into Ollama's blobs; returns its digest."""
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    put(source, models / "blobs" / f"sha256-{digest}")
    return f"sha256:{digest}"


def ollama_manifest(models: Path, name: Sequence[str], layers: Sequence[tuple[str, str]], folder: str = "manifests") -> Path:
    """Write the manifest of a model: host, namespace, model and tag, and each layer's media type and digest."""
    path = models.joinpath(folder, *name)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"schemaVersion": 2, "layers": [{"mediaType": kind, "digest": digest, "size": 1} for kind, digest in layers]}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def ollama_model(models: Path, source: Path, *names: str) -> Path:
    """A model as `ollama pull` leaves it, under each of the names MODEL:TAG; returns its blob."""
    digest = ollama_blob(models, source)
    for name in names:
        model, _, tag = name.partition(":")
        ollama_manifest(models, ("registry.ollama.ai", "library", model, tag), [(MODEL_LAYER, digest)])
    return models / "blobs" / digest.replace(":", "-")


def hub_file(hub: Path, repository: str, source: Path, file: str, commit: str = "c0ffee") -> Path:
    """A file as huggingface_hub leaves it: a blob by its hash, and a link to it in the snapshot; returns the link."""
    root = hub / f"models--{repository.replace('/', '--')}"
    blob = put(source, root / "blobs" / hashlib.sha256(source.read_bytes()).hexdigest())
    (root / "refs").mkdir(exist_ok=True)
    (root / "refs" / "main").write_text(commit, encoding="utf-8")
    link = root / "snapshots" / commit / file
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(blob)
    return link

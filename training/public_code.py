"""Makes the public code that is shipped with the package (`offline_eval/own_code/files.py`) from the measured projects' archives.

    python -m training.public_code [--cache DIR]

Modules that are no tests, with the text of each licence and notice; the same archives give the same bytes. The projects and their licences,
as SPDX has them, are those that public.toml names: what the project says of itself, where that is MIT, BSD or Apache and the code is small.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import re
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from assay.offline_eval.own_code.files import ARCHIVE, MANIFEST
from assay.offline_eval.sets.projects import Project, SourceFile, archive_of, default_cache, is_test, named, path_in_project, sources
from assay.suggestion.memory.folder import as_code, is_own_code

_LICENCE = re.compile(r"[^/]+/(licen[cs]e|copying|notice)[^/]*", re.IGNORECASE)
_NOT_THE_PROJECT = re.compile(r"(docs?|examples?|benchmarks?|typing-examples|bench|tasks|changelog\.d)/|(setup|conftest|noxfile)\.py$")
MAX_BYTES = 2_000_000


def main() -> None:
    """Write the archive and its manifest."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cache", type=Path, default=default_cache(), help="where the archives are (default: the cache folder)")
    cache = parser.parse_args().cache
    licences = {each["name"]: each["licence"] for each in tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["project"]}
    projects = named(sorted(licences))
    files = {project.name: list(_files(project, cache)) for project in projects}
    lines = [json.dumps({"project": f.project, "path": f.path, "text": f.text}) + "\n" for found in files.values() for f in found]
    packed = lzma.compress("".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)
    if len(packed) > MAX_BYTES:
        raise SystemExit(f"the archive would have {len(packed):,} bytes, and {MAX_BYTES:,} is the most: choose fewer projects")
    ARCHIVE.write_bytes(packed)
    MANIFEST.write_text(_manifest(projects, licences, files, hashlib.sha256(packed).hexdigest()), encoding="utf-8")
    print(f"{ARCHIVE}: {len(packed):,} bytes, {len(lines)} files of {len(projects)} projects")


def _files(project: Project, cache: Path) -> Iterator[SourceFile]:
    for file in sources(project, cache):
        path = path_in_project(file.path)
        if is_own_code(path) and not is_test(path) and not _NOT_THE_PROJECT.match(path) and as_code(file.text) is not None:
            yield file
    with tarfile.open(archive_of(project, cache)) as archive:
        for member in sorted((m for m in archive if m.isfile() and _LICENCE.fullmatch(m.name)), key=lambda m: m.name):
            if (text := archive.extractfile(member)) is not None:
                yield SourceFile(project.name, member.name, text.read().decode())


def _manifest(projects: list[Project], licences: dict[str, str], files: dict[str, list[SourceFile]], sha256: str) -> str:
    blocks = [f'# Written by `python -m training.public_code`: what is in public.xz.\nsha256 = "{sha256}"\n']
    for project in projects:
        count = sum(file.path.endswith(".py") for file in files[project.name])
        assert count < len(files[project.name]), f"{project.name} has no licence"
        fields = {"name": project.name, "version": project.version, "licence": licences[project.name], "sha256": project.sha256}
        blocks.append("[[project]]\n" + "".join(f'{key} = "{value}"\n' for key, value in fields.items()) + f"files = {count}\n")
    return "\n".join(blocks)


if __name__ == "__main__":
    main()

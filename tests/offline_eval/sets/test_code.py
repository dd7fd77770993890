"""Folders and packages in any language that lines are drawn from."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from assay.offline_eval.errors import UsageError
from assay.offline_eval.sets.code import Source, folders_at, is_here, label_of, own_code, places_from
from assay.offline_eval.sets.lines import TASKS
from assay.offline_eval.sets.packages import Package, Registry, archive_of, listed_packages, named
from assay.offline_eval.sets.projects import ProjectError

JAVASCRIPT = """import fs from 'fs';
export function total(weights) {
  let found = 0;
  for (const weight of weights) {
    found += Math.abs(weight);
  }
  return found;
}
"""
JAVA = """class A {
    int total(int[] all) {
        int found = 0;
        for (int one : all) found += one;
        return found;
    }
}
"""
PYTHON = 'def total(weights):\n    """Adds them."""\n    found = sum(weights)\n    return found\n'


def tar_of(files: Mapping[str, str]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as t:
        for file, text in files.items():
            info = tarfile.TarInfo(file)
            info.size = len(text.encode())
            t.addfile(info, io.BytesIO(text.encode()))
    return data.getvalue()


def ar_of(members: Mapping[str, bytes]) -> bytes:
    """An archive of ar, as a Debian package is."""
    parts = [b"!<arch>\n"]
    for name, data in members.items():
        parts += [f"{name:16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode(), data, b"\n" * (len(data) % 2)]
    return b"".join(parts)


def package(
    cache: Path, registry: Registry, files: Mapping[str, str], *, language: str = "javascript", name: str = "@me/shapes"
) -> Package:
    """A package as the client of its registry would have left it in the cache."""
    data = tar_of(files)
    if registry == "debian":
        data = ar_of({"debian-binary": b"2.0\n", "control.tar.xz": b"odd", "data.tar.gz": data})
    made = Package(name, "1.0-1", hashlib.sha256(data).hexdigest(), language, registry, "MIT", "package/src")
    cache.mkdir(exist_ok=True)
    (cache / made.file).write_bytes(data)
    return made


def project(folder: Path) -> Path:
    for file, text in {
        "src/total.js": JAVASCRIPT,
        "src/total.test.js": JAVASCRIPT,
        "src/made.js": f"// @generated\n{JAVASCRIPT}",
        "src/A.java": JAVA,
        "tool.py": PYTHON,
        "node_modules/x/index.js": JAVASCRIPT,
        "notes.md": "# Notes",
    }.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")
    return folder


def drawn(source: Source, cache: Path, *languages: str) -> Counter[str]:
    return Counter(place.path for place in places_from(source, cache, 100, 0, TASKS, languages))


def test_a_folder_is_a_project_and_its_own_code_alone_is_drawn_from(tmp_path: Path) -> None:
    (folder,) = folders_at([project(tmp_path / "shop")])
    assert drawn(folder, tmp_path) == {"shop/src/total.js": 1, "shop/src/A.java": 1, "shop/tool.py": 1}
    assert drawn(folder, tmp_path, "java") == {"shop/src/A.java": 1}
    places = places_from(folder, tmp_path, 100, 0, TASKS)
    assert {place.project for place in places} == {"shop"}
    assert {place.language for place in places} == {"java", "javascript", "python"}
    (folder.path / "notes.md").write_text("# Others", encoding="utf-8")
    assert folders_at([folder.path]) == [folder], "what is no code does not change what a run calls it"
    assert {path for path, _ in own_code(folder, tmp_path)} == {"src/total.js", "src/total.test.js", "src/made.js", "src/A.java", "tool.py"}
    (folder.path / "src" / "A.java").write_text(JAVA + "\n", encoding="utf-8")
    assert label_of(folders_at([folder.path])[0]) != label_of(folder)


def test_folders_of_one_name_are_told_apart_and_what_is_none_is_refused(tmp_path: Path) -> None:
    one, two = project(tmp_path / "a" / "shop"), project(tmp_path / "b" / "shop")
    assert [folder.name for folder in folders_at([one, two, one])] == ["a/shop", "b/shop"]
    with pytest.raises(UsageError, match=r"total\.js is not a folder; --code takes the folder of each project"):
        folders_at([one / "src" / "total.js"])


@pytest.mark.parametrize("registry", ["npm", "debian"])
def test_a_package_is_drawn_from_in_its_own_language_below_its_sources(tmp_path: Path, registry: Registry) -> None:
    files = {"package/src/a.js": JAVASCRIPT, "package/src/b.jsx": JAVASCRIPT, "package/dist/a.js": JAVASCRIPT, "package/src/A.java": JAVA}
    made = package(tmp_path / "cache", registry, files)
    assert drawn(made, tmp_path / "cache") == {"@me-shapes/a.js": 1, "@me-shapes/b.jsx": 1}
    assert label_of(made) == "@me/shapes 1.0-1"
    assert is_here(made, tmp_path / "cache")
    assert not is_here(made, tmp_path)


def test_an_archive_with_another_hash_is_refused(tmp_path: Path) -> None:
    made = package(tmp_path, "npm", {"package/src/a.js": JAVASCRIPT})
    with pytest.raises(ProjectError, match=r"packages\.toml names 0000.*; delete the file and try again"):
        archive_of(replace(made, sha256="0" * 64), tmp_path)


def test_what_the_client_says_or_that_there_is_none_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client itself is a program that fails, so that no registry is asked."""
    made = replace(package(tmp_path / "cache", "npm", {}), version="2.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProjectError, match=r"@me/shapes 2\.0 is fetched with npm, which is not installed"):
        archive_of(made, tmp_path / "cache")
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\necho no such package >&2\nexit 1\n", encoding="utf-8")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")
    with pytest.raises(ProjectError, match=r"could not be downloaded: no such package\. With a network, try: npm pack --silent"):
        archive_of(made, tmp_path / "cache")
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["me-shapes-1.0-1.tgz"]


def test_the_list_of_packages_is_pinned_and_chosen_from_by_name_and_language() -> None:
    packages = listed_packages()
    assert len({package.name for package in packages}) == len(packages)
    assert all(len(package.sha256) == 64 and package.version and package.licence and package.below for package in packages)
    counts = Counter(package.language for package in packages)
    assert counts.keys() == {"c", "go", "java", "javascript", "rust", "typescript"}
    assert min(counts.values()) >= 6
    assert [package.name for package in named(["express", "koa"])] == ["express", "koa"]
    assert {package.language for package in named([], ["go", "rust"])} == {"go", "rust"}
    with pytest.raises(UsageError, match="no such package in the list: left-pad"):
        named(["left-pad"])
    with pytest.raises(UsageError, match="no listed package is in swift, only in javascript"):
        named(["express"], ["swift"])

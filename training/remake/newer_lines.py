"""Projects with the last release of each before Qwen2.5-Coder, which was published in November 2024: their newer lines it can't have seen.

python -m training.remake.newer_lines FOLDER        # the newest release of each project of a fit below FOLDER/code, and the last
                                                    # before the model below FOLDER/older
python -m training.remake.newer_lines FOLDER CODE   # the last before the model of each project in CODE, below FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from assay.offline_eval.sets.projects import ProjectError, default_cache, fetch, measured_projects, python_files, unpacked

# Wheels of the projects that its memory weights were fitted to, which come to those of offline_eval/sets/projects.toml.
_NEWEST = """
    alembic 1.20.1, celery 5.7.0, dask 2026.8.0, httpx 0.28.1, invoke 3.0.3, jsonschema 4.26.0, kombu 5.7.0, lark 1.3.1, luigi 3.8.1,
    mistune 3.4.0, mitmproxy 11.0.2, mkdocs 1.6.1, nibabel 5.4.2, optuna 5.0.0, pypdf 7.1.0, pyramid 2.1, redis 8.1.0, scrapy 2.19.0,
    seaborn 0.13.2, sphinx 9.0.4, tortoise-orm 1.1.9, trio 0.35.0, xlsxwriter 3.3.1
"""
# The last releases before November 2024: of the projects of fits, and of fresh ones.
_OLDER = """
    alembic 1.13.3, arrow 1.3.0, attrs 24.2.0, beautifulsoup4 4.12.3, boltons 24.0.0, bottle 0.13.2, cachetools 5.5.0, celery 5.4.0,
    click 8.1.7, dask 2024.10.0, docutils 0.21.2, flask 3.0.3, httpx 0.27.2, intervaltree 3.1.0, invoke 2.2.0, jinja2 3.1.4,
    jsonschema 4.23.0, kombu 5.4.2, lark 1.2.2, luigi 3.5.2, markdown 3.7, marshmallow 3.23.0, mistune 3.0.2, mitmproxy 11.0.0,
    mkdocs 1.6.1, more-itertools 10.5.0, mpmath 1.3.0, networkx 3.4.2, nibabel 5.3.2, nltk 3.9.1, optuna 4.0.0, paramiko 3.5.0,
    pygments 2.18.0, pyparsing 3.2.0, pypdf 5.1.0, pyramid 2.0.2, python-dateutil 2.9.0.post0, redis 5.2.0, requests 2.32.3, rich 13.9.3,
    scrapy 2.11.2, seaborn 0.13.2, sortedcontainers 2.4.0, sphinx 8.1.3, sqlparse 0.5.1, tabulate 0.9.0, toolz 1.0.0, tornado 6.4.1,
    tortoise-orm 0.21.7, tqdm 4.66.6, trio 0.27.0, werkzeug 3.0.6, xlsxwriter 3.2.0,
    adlfs 2024.7.0, aiomysql 0.2.0, aiosmtplib 3.0.2, apispec 6.7.0, asyncssh 2.18.0, avro 1.12.0, blessed 1.20.0, face 24.0.0,
    geographiclib 2.0, geopy 2.4.1, glom 23.5.0, huey 2.5.2, kfp 2.9.0, mutagen 1.47.0, pooch 1.8.2, ppft 1.7.6.9, pydeequ 1.4.0,
    pydot 3.0.2, questionary 2.0.1, sh 2.1.0, skops 0.10.0, sounddevice 0.5.1, tyro 0.8.14,
    datetime 5.5, instructor 1.6.3, fastembed 0.4.1, rdflib 7.1.1, cadwyn 4.4.1, pypika 0.48.9, pygtrie 2.5.0, cairosvg 2.7.1,
    langcodes 3.4.1, lmnr 0.4.28, pyelftools 0.31, pika 1.3.2, cronsim 2.5, zarr 2.18.3, cloudevents 1.11.0, automat 24.8.1,
    smbprotocol 1.14.0, htmldate 1.9.1, papermill 2.6.0, kaleido 0.2.1, pydash 8.0.3, motor 3.6.0
"""


def _releases(listed: str) -> dict[str, str]:
    return dict(each.split() for each in listed.split(","))


def _archive(name: str, version: str) -> Path:
    """Raises ProjectError where there is neither a wheel nor a source distribution."""
    try:
        return fetch(name, version, "wheel", default_cache())
    except ProjectError:
        return fetch(name, version, "sdist", default_cache())


def _unpack(archive: Path, name: str, folder: Path) -> None:
    for file in python_files(archive, name):
        path = folder / name / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8", newline="")


def unpack(folder: Path) -> None:
    """The newest releases and the older ones. Raises ProjectError."""
    for project in measured_projects():
        unpacked(project, folder / "code", default_cache())
    for name, version in _releases(_NEWEST).items():
        _unpack(_archive(name, version), name, folder / "code")
    unpack_older(folder / "older", (each.name for each in (folder / "code").iterdir()))


def unpack_older(folder: Path, names: Iterable[str]) -> None:
    """An empty folder for a project that had no release yet. Raises ProjectError."""
    versions = _releases(_OLDER)
    for name in names:
        (folder / name).mkdir(parents=True, exist_ok=True)
        if name in versions:
            _unpack(_archive(name, versions[name]), name, folder)


if __name__ == "__main__":
    to, *codes = map(Path, sys.argv[1:])
    if codes:
        unpack_older(to, (each.name for each in codes[0].iterdir()))
    else:
        unpack(to)

"""Code in any language that lines are drawn from: projects of projects.toml, packages of packages.toml, and folders of the user's.

Assay reads it and never runs it. Of packages and folders, files are left out that a tool wrote, or that are in a language that no parser
here knows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...analysis.lines.draw import LANGUAGES, looks_generated
from ...inference.completion.task import Task
from ...inference.project_memory.project import ProjectTooLarge
from ...suggestion.languages import language_of
from ...suggestion.memory.folder import as_code, files_in, is_own_code
from ..errors import StudyError, UsageError
from ..progress import Progress
from . import packages, projects
from .lines import Place, places_in, places_of
from .packages import Package
from .projects import Project, SourceFile


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with the code of one project. content: a hash of its code as it is now."""

    name: str
    path: Path
    content: str


Source = Project | Package | Folder


def folders_at(paths: Sequence[Path]) -> list[Folder]:
    """The projects in folders, each named by its folder; where two have one name, with the folder above. Raises UsageError, StudyError."""
    resolved = list(dict.fromkeys(path.resolve() for path in paths))
    names = [path.name for path in resolved]
    found = []
    for path, name in zip(resolved, names, strict=True):
        if not path.is_dir():
            raise UsageError(f"{path} is not a folder; --code takes the folder of each project")
        digest = hashlib.sha256()
        for file, text in _files_of(path):
            digest.update(f"{file}\0{len(text)}\0{text}".encode(errors="surrogatepass"))
        found.append(Folder(name if names.count(name) == 1 else f"{path.parent.name}/{name}", path, digest.hexdigest()[:16]))
    if len({folder.name for folder in found}) < len(found):
        raise UsageError("two folders, and those above them, have the same names: measure one of them alone")
    return found


def label_of(source: Source) -> str:
    """What a run's question calls it: its name, and which release or content it has."""
    return f"{source.name} {source.content if isinstance(source, Folder) else source.version}"


def is_here(source: Source, cache: Path) -> bool:
    """Whether nothing must be fetched for it."""
    match source:
        case Project():
            return projects.is_fetched(source, cache)
        case Package():
            return packages.is_fetched(source, cache)
        case Folder():
            return True


def own_code(source: Source, cache: Path) -> Iterator[tuple[str, str]]:
    """Path and text of the files that an editor's project memory would read. Raises ProjectError and StudyError."""
    match source:
        case Project():
            yield from projects.own_code(source, cache)
        case Package():
            for path, text in packages.files_of(source, cache):
                if is_own_code(path) and as_code(text) is not None:
                    yield path, text
        case Folder():
            yield from _files_of(source.path)


@dataclass(frozen=True, slots=True)
class Code:
    """The `own_code` of sources by their names; travels to workers. archives: where the distributions are."""

    sources: Mapping[str, Source]
    archives: Path

    def __call__(self, name: str) -> Iterator[tuple[str, str]]:
        """Raises ProjectError and StudyError."""
        return own_code(self.sources[name], self.archives)


def code_of(sources: Sequence[Source], archives: Path) -> Code:
    """The code of these sources."""
    return Code({source.name: source for source in sources}, archives)


def places_from(
    source: Source,
    cache: Path,
    most: int,
    seed: int,
    tasks: Sequence[Task],
    languages: Collection[str] = (),
    known: Collection[str] = (),
) -> list[Place]:
    """At most so many places of it, the same for the same seed. Raises as `own_code`.

    languages: those drawn in; empty: all. known: of a folder, lines that are not drawn.
    """
    if isinstance(source, Project):
        return places_of(source, cache, most, seed, tasks)
    wanted = languages or (source.languages if isinstance(source, Package) else LANGUAGES)
    files = _drawn_from(source.name, own_code(source, cache), wanted)
    return places_in(source.name, files, most, seed, tasks, documented=not isinstance(source, Folder), known=known)


def lines_of(folder: Path) -> frozenset[str]:
    """The lines of its code, without what indents them. Raises StudyError."""
    if not folder.is_dir():
        raise StudyError(f"{folder} is not a folder here: the older releases must lie at the same place on every machine")
    return frozenset(line.strip() for _, text in _files_of(folder) for line in text.splitlines())


def check_older(sources: Sequence[Source], older: Path | None) -> None:
    """Raises UsageError for a source without an older release."""
    if older and (missing := next((path for source in sources if not (path := older / source.name).is_dir()), None)):
        raise UsageError(f"{missing} is not a folder: --older needs one for each project, empty where it had no release")


def older_releases(sources: Sequence[Source], older: Path | None) -> dict[str, list[str]]:
    """What of a run's question the older releases are."""
    return {"older": [label_of(folder) for folder in folders_at([older / source.name for source in sources])]} if older else {}


@dataclass(frozen=True, slots=True)
class LineDrawing:
    """How lines of code are drawn that no test judges. most: places of each project. languages: drawn in; empty: all of the source's.

    older: the folder of the projects' older releases, in which no line that is drawn may stand.
    """

    most: int
    seed: int
    tasks: Sequence[Task]
    languages: Sequence[str] = ()
    older: Path | None = None

    def places(self, sources: Sequence[Source], archives: Path) -> list[Place]:
        """The places. Raises StudyError where there is none."""
        found = list[Place]()
        with Progress("projects read", len(sources), None) as progress:
            for source in sources:
                if not is_here(source, archives):
                    progress.say(f"fetching {label_of(source)}")
                known = lines_of(self.older / source.name) if self.older else ()
                found += places_from(source, archives, self.most, self.seed, self.tasks, self.languages, known)
                progress.step()
        if not found:
            named = ", ".join(source.name for source in sources)
            drawn = ", ".join(self.languages or LANGUAGES)
            newer = f", and must stand nowhere in {self.older}" if self.older else ""
            brackets = ", with a bracket pair" if list(self.tasks) == ["line_middle"] else ""
            what = f"lines are drawn outside of tests from functions of four lines or more in {drawn}{brackets}{newer}"
            raise StudyError(f"there is no line to complete in {named}: {what}")
        return found


def _drawn_from(name: str, files: Iterable[tuple[str, str]], languages: Collection[str]) -> Iterator[SourceFile]:
    """The files that people wrote in these languages, each below a folder with the name, as in a distribution."""
    for path, text in files:
        if language_of(path) in languages and not looks_generated(text):
            yield SourceFile(name, f"{name.replace('/', '-')}/{path}", text)


def _files_of(folder: Path) -> Iterator[tuple[str, str]]:
    try:
        for path, text in files_in(folder):
            yield path, text.replace("\r\n", "\n")
    except ProjectTooLarge as error:
        raise StudyError(f"{folder} is too large for a project ({error}): name the folder of each project") from error

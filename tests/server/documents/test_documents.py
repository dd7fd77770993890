from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lsprotocol import types
from offsets import offset_at

from assay.server.documents import documents
from assay.server.documents.documents import Change, Document, Documents, OutOfSync
from assay.server.documents.workspace import Roots, pure_path, root_of, roots_of
from assay.suggestion.cursor import Window
from assay.suggestion.positions import Encoding, Position, Range, position_at, split_lines

from ...suggestion.test_remainder import ENCODINGS, TEXTS

POSITIONS = st.builds(Position, st.integers(0, 8), st.integers(0, 12))
EDITS = st.lists(st.tuples(POSITIONS, POSITIONS, TEXTS), max_size=8)
BLOCKS = st.sampled_from([1, 3, 1 << 14])


@contextmanager
def block_size(characters: int) -> Iterator[None]:
    """Documents of few characters are then cut up as those of many are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "_BLOCK", characters)
        yield


def document_of(text: str, encoding: Encoding = "utf-16") -> Document:
    return Document("file:///a.py", "python", 1, text, encoding)


@given(TEXTS, EDITS, st.sampled_from(ENCODINGS), BLOCKS)
def test_edits_are_those_of_a_plain_string(text: str, edits: list[tuple[Position, Position, str]], encoding: Encoding, block: int) -> None:
    with block_size(block):
        document = document_of(text, encoding)
        for first, second, new in edits:
            start, end = sorted((first, second))
            did = document.apply(Change(new, Range(start, end)))
            assert text[did.start : did.end] == did.removed
            told = text[: did.start] + did.added + text[did.end :]
            text = text[: offset_at(text, start, encoding)] + new + text[offset_at(text, end, encoding) :]
            assert document.text == told == text
            lines = split_lines(text)
            assert [document.line(number) for number in range(document.line_count)] == lines
            assert document.length == len(text)


@given(TEXTS, POSITIONS, st.sampled_from(ENCODINGS), BLOCKS)
def test_a_clamped_position_is_in_the_text_and_means_the_same(text: str, position: Position, encoding: Encoding, block: int) -> None:
    with block_size(block):
        document = document_of(text, encoding)
        clamped = document.clamp(position)
        offset = offset_at(text, position, encoding)
        assert document.offset(position) == document.offset(clamped) == offset
        assert document.clamp(clamped) == clamped
        assert clamped == position_at(text, offset, encoding)


@given(TEXTS, st.integers(0, 32), BLOCKS)
@example("a\r\nb", 2, 1)
def test_the_head_is_as_many_whole_lines_as_fit(text: str, limit: int, block: int) -> None:
    with block_size(block):
        expected = ""
        for line in split_lines(text):
            if len(expected) + len(line) > limit:
                break
            expected += line
        assert document_of(text).head(limit) == expected


@given(TEXTS, POSITIONS, st.integers(0, 20), st.integers(0, 20), st.integers(1, 5), st.sampled_from(ENCODINGS), BLOCKS)
def test_around_is_before_and_behind(
    text: str, position: Position, before: int, after: int, step: int, encoding: Encoding, block: int
) -> None:
    with block_size(block):
        document = document_of(text, encoding)
        prefix, suffix = document.around(position, Window(before, after, step))
    offset = offset_at(text, position, encoding)
    assert text[:offset].endswith(prefix)
    assert suffix == text[offset : offset + after]
    assert min(before, offset) <= len(prefix) < before + step or prefix == text[:offset]
    assert (offset - len(prefix)) % step == 0


def test_a_range_that_ends_before_it_starts_is_refused_and_the_document_waits_for_its_whole_text() -> None:
    documents = Documents("utf-16")
    documents.open("u", "python", 1, "abc")
    with pytest.raises(OutOfSync, match="ends before it starts"):
        documents.change("u", 2, [Change("x", Range(Position(0, 2), Position(0, 1)))])
    assert documents.get("u") is None
    documents.change("u", 3, [Change("y", Range(Position(0, 0), Position(0, 0)))])
    assert documents.get("u") is None
    documents.change("u", 4, [Change("whole")])
    document = documents.get("u")
    assert (document.text, document.version) == ("whole", 4)


def test_losing_an_unknown_document_loses_all() -> None:
    documents = Documents("utf-16")
    documents.open("u", "python", 1, "")
    documents.open("v", "python", 1, "")
    documents.lose("u")
    assert documents.get("u") is None
    assert documents.get("v") is not None
    documents.lose(None)
    assert documents.get("v") is None
    documents.open("v", "python", 1, "again")
    assert documents.get("v") is not None


@given(TEXTS, st.integers(0, 35), st.integers(0, 35), st.sampled_from(ENCODINGS), BLOCKS)
def test_the_text_between_offsets_and_the_position_of_one(text: str, start: int, end: int, encoding: Encoding, block: int) -> None:
    with block_size(block):
        document = document_of(text, encoding)
        assert document.between(start, end) == text[start:end]
        assert document.position(start) == position_at(text, min(start, len(text)), encoding)


posix_only = pytest.mark.skipif(Path("/").drive != "" or not Path("/a").is_absolute(), reason="file names of POSIX")


def folder(uri: str) -> types.WorkspaceFolder:
    return types.WorkspaceFolder(uri, uri)


def params(*, folders: list[str] | None = None, uri: str | None = None, path: str | None = None) -> types.InitializeParams:
    named = None if folders is None else [folder(name) for name in folders]
    return types.InitializeParams(types.ClientCapabilities(), workspace_folders=named, root_uri=uri, root_path=path)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c/%C3%A9.py", "/a/b c/é.py"),
        ("file:///a/b#L3", "/a/b"),
        ("file:///a/../../b/./c", "/b/c"),
        ("file:///%ff", "/\udcff"),
        ("file:///c%3A/x", "/c:/x"),
        ("vscode-notebook-cell:/a/n.ipynb#W0sZmlsZQ==", "/a/n.ipynb"),
    ],
)
def test_a_file_uri_is_a_path(uri: str, path: str) -> None:
    assert pure_path(uri, windows=False) == PurePosixPath(path)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///c%3A/Users/x.py", "C:\\Users\\x.py"),
        ("file:///C:/Users/../x.py", "C:\\x.py"),
        ("file://server/share/x.py", "\\\\server\\share\\x.py"),
        ("vscode-notebook-cell:/c%3A/n.ipynb#X", "C:\\n.ipynb"),
    ],
)
def test_on_windows_a_path_has_a_drive_in_upper_case_or_a_server(uri: str, path: str) -> None:
    found = pure_path(uri, windows=True)
    assert found == PureWindowsPath(path)
    assert str(found) == path
    assert found.is_absolute()


@pytest.mark.parametrize(
    "uri",
    [
        "untitled:Untitled-1",
        "vscode-notebook-cell:Untitled-1.ipynb#X",
        "git:/a/b",
        "https://host/a",
        "file://[",
        "file:///a%00b",
        "",
        "/a/b",
        "file://server/share/x",
    ],
)
def test_what_is_in_no_file_of_this_machine_has_no_path_and_no_root(uri: str) -> None:
    assert pure_path(uri, windows=False) is None
    if not uri.startswith("file://server"):
        assert pure_path(uri, windows=True) is None
    assert root_of(uri, Roots((Path("/"),))) is None


@given(st.text(st.characters(codec=None)), st.sampled_from(["", "file:", "file://", "file:///", "file:///c:/"]), st.booleans())
def test_no_uri_raises_and_a_path_is_always_absolute(text: str, start: str, windows: bool) -> None:
    path = pure_path(start + text, windows=windows)
    assert path is None or (path.is_absolute() and ".." not in path.parts)


@posix_only
def test_the_innermost_root_that_a_document_is_in_is_its_root() -> None:
    roots = roots_of(params(folders=["file:///projects", "file:///projects/a%20b/inner", "file:///projects/a%20b"]))
    assert root_of("file:///projects/x.py", roots) == Path("/projects")
    assert root_of("file:///projects/a%20b/x.py", roots) == Path("/projects/a b")
    assert root_of("file:///projects/a b/inner/deep/x.py", roots) == Path("/projects/a b/inner")
    assert root_of("vscode-notebook-cell:/projects/a b/n.ipynb#W1", roots) == Path("/projects/a b")
    assert root_of("file:///projectsshop/x.py", roots) is None
    assert root_of("file:///projects/a b/../../elsewhere/x.py", roots) is None
    assert root_of("file:///projects", roots) == Path("/projects")


@posix_only
def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    roots = roots_of(params(folders=[(tmp_path / "link").as_uri()]))
    assert roots.paths == (tmp_path / "link",)
    assert root_of((tmp_path / "link" / "x.py").as_uri(), roots) == tmp_path / "link"
    assert root_of((tmp_path / "real" / "x.py").as_uri(), roots) is None


@posix_only
def test_a_client_without_folders_has_its_root_and_one_without_a_root_none() -> None:
    assert roots_of(params(folders=["file:///a"], uri="file:///b", path="/c")).paths == (Path("/a"),)
    assert roots_of(params(folders=[], uri="file:///b", path="/c")).paths == (Path("/b"),)
    assert roots_of(params(uri="file:///b", path="/c")).paths == (Path("/b"),)
    assert roots_of(params(path="/c/")).paths == (Path("/c"),)
    assert roots_of(params(path="c")).paths == ()
    assert roots_of(params()).paths == ()
    assert roots_of(params(folders=["untitled:x", "file:///a", "file:///a/"])).paths == (Path("/a"),)


@posix_only
def test_folders_come_and_go_while_the_client_works() -> None:
    roots = roots_of(params(folders=["file:///a", "file:///b"]))
    event = types.WorkspaceFoldersChangeEvent(added=[folder("file:///c%20d"), folder("file:///b")], removed=[folder("file:///a/")])
    changed = roots.changed(event)
    assert changed.paths == (Path("/b"), Path("/c d"))
    assert changed.changed(types.WorkspaceFoldersChangeEvent(added=[], removed=[folder("file:///never")])) == changed
    assert roots.paths == (Path("/a"), Path("/b"))

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from assay.server.documents.workspace import Roots, path_of, pure_path, root_of, roots_of

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
        ("file:///a/é;v=1.py", "/a/é;v=1.py"),
        ("FILE://localhost/a/b", "/a/b"),
        ("file:/a/b", "/a/b"),
        ("file:///a/b#L3", "/a/b"),
        ("file:///a/../../b/./c", "/b/c"),
        ("file:////a", "/a"),
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
        ("file:///d:", "D:\\"),
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
        "untitled:/unsaved/a.py",
        "vscode-notebook-cell:Untitled-1.ipynb#X",
        "git:/a/b",
        "https://host/a",
        "file://[",
        "file:a",
        "file:///a%00b",
        "",
        "a/b",
        "/a/b",
        ":",
        "file:",
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
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1), min_size=1))
def test_the_path_of_a_paths_uri_is_the_path(parts: list[str]) -> None:
    path = Path("/", *(part for part in parts if part not in (".", "..")))
    assert path_of(path.as_uri()) == path


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

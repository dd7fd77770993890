from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from editors.nvim_suggestion import CODE
from editors.nvim_terminal import VERSIONS, Neovim, neovim, why_not


@pytest.fixture(scope="session", params=list(VERSIONS), ids=[f"nvim-{version}" for version in VERSIONS.values()])
def suite(request: pytest.FixtureRequest) -> str:
    """The Debian suite of a Neovim that is installed here."""
    name: str = request.param
    if why := why_not(name):
        pytest.skip(why)
    return name


@pytest.fixture(scope="module")
def shared(suite: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neovim]:
    """One Neovim for a module: its server has the model already."""
    with neovim(suite, tmp_path_factory.mktemp("nv")) as editor:
        editor.edit("first.py", "\n")
        editor.ready()
        yield editor


@pytest.fixture
def nvim(shared: Neovim, request: pytest.FixtureRequest) -> Iterator[Neovim]:
    """The shared Neovim with a file of its own, whatever the last test left behind. The server remembers no suggestion for its text."""
    shared.fresh()
    # the test's name without that of the Neovim: the same text, and so the same suggestion, in all of them
    name = re.sub(r"nvim-[0-9.]+-?", "", request.node.name)
    shared.text = f"# {name}\n{CODE}"
    shared.edit("a.py", shared.text)
    yield shared
    assert "stack traceback" not in shared.messages()


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short path: that of a socket may not be long."""
    return tmp_path_factory.mktemp("nv")

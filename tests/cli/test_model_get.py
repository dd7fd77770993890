"""`assay model get` as a user runs it, with a hub on the loopback that HF_ENDPOINT names."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from house.running import assay
from hub_server import COMMIT, Hub, hub_of

from assay.inference.hub.catalogue import catalogue

# What the hub tells of it is taken, so that it may be any file.
ANY = next(entry for entry in catalogue() if not entry.sha256 and entry.commercial_use)
RESEARCH = next(entry for entry in catalogue() if not entry.commercial_use)


@pytest.fixture
def hub(tiny_gguf: Path) -> Iterator[Hub]:
    with hub_of(tiny_gguf.read_bytes()) as hub:
        yield hub


def user_of(hub: Hub, home: Path) -> dict[str, str]:
    """The environment of a user of the hub whose cache is below the folder."""
    empty = dict.fromkeys(("HF_HUB_CACHE", "HF_TOKEN", "HF_HUB_OFFLINE", "XDG_CACHE_HOME"), "")
    return {
        **{name: value for name, value in empty.items() if name in os.environ},
        "HF_ENDPOINT": hub.endpoint,
        "HF_HOME": str(home / "hf"),
    }


def started(name: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "assay", "model", "get", name]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})


@pytest.mark.slow
def test_a_model_is_downloaded_and_used_by_its_name(hub: Hub, tmp_path: Path, tiny_gguf: Path) -> None:
    user = user_of(hub, tmp_path)
    early = assay("model", "info", "--model", ANY.name, **user)
    assert f"not on this machine yet. Download it: assay model get {ANY.name}" in early.stderr
    ran = assay("model", "get", ANY.name, **user)
    assert ran.returncode == 0, ran.stderr
    path, use, numbers = ran.stdout.splitlines()
    assert Path(path).read_bytes() == tiny_gguf.read_bytes()
    assert f"--model {ANY.name}," in use
    assert f"assay calibrate model --model {ANY.name}" in numbers
    assert "MB" in ran.stderr
    used = assay("model", "info", "--json", "--model", ANY.name, **user)
    assert json.loads(used.stdout)["file"] == path, used.stderr
    listed = json.loads(assay("model", "list", "--json", "--folder", tmp_path / "none", **user).stdout)
    assert ANY.model in [model["name"] for model in listed["models"]]
    offered = json.loads(assay("model", "get", "--json", **user).stdout)["models"]
    assert [model["name"] for model in offered if model["path"] == path] == [ANY.name]


def test_the_table_shows_what_fits_and_marks_one(hub: Hub, tmp_path: Path) -> None:
    ran = assay("model", "get", **user_of(hub, tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("recommended") <= 1
    assert all(entry.name in ran.stdout for entry in catalogue())
    assert "estimates" in ran.stdout
    assert hub.asked == []


def test_a_licence_that_forbids_commercial_use_is_said_before_anything_is_asked_for(hub: Hub, tmp_path: Path) -> None:
    ran = assay("model", "get", RESEARCH.name, **user_of(hub, tmp_path))
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n"), hub.asked) == (2, "", 1, [])
    assert f"{RESEARCH.licence}) forbids commercial use" in ran.stderr
    ran = assay("model", "get", RESEARCH.name, "--yes", **user_of(hub, tmp_path))
    # The hub's file is another than the catalogue knows.
    assert (ran.returncode, "has another" in ran.stderr) == (1, True)


def test_what_goes_wrong_is_a_line_and_no_traceback(hub: Hub, tmp_path: Path) -> None:
    hub.refused = (429, {"Retry-After": "77"})
    ran = assay("model", "get", ANY.name, **user_of(hub, tmp_path))
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.splitlines()[-1].startswith(f"assay: {hub.endpoint}: too busy (HTTP 429). Try again in 77 s.")
    assert "Traceback" not in ran.stderr


def test_a_variable_that_has_no_sense_is_said_in_a_line(hub: Hub, tmp_path: Path) -> None:
    ran = assay("model", "get", ANY.name, **{**user_of(hub, tmp_path), "ALL_PROXY": "gopher://proxy"})
    assert (ran.returncode, ran.stdout, "Traceback" in ran.stderr) == (1, "", False)
    assert "a variable of the environment can't be used" in ran.stderr.splitlines()[-1]


def test_an_interrupted_download_goes_on_where_it_was(hub: Hub, tmp_path: Path) -> None:
    hub.held_at = len(hub.content) // 2
    user = user_of(hub, tmp_path)
    with started(ANY.name, user) as first:
        assert hub.reached.wait(60)
        (part,) = waited_for(tmp_path / "hf/hub", hub.held_at)
        first.send_signal(signal.SIGINT)
        said = first.communicate(timeout=60)[1]
    assert (first.returncode, "What has come is kept" in said, "Traceback" in said) == (130, True, False)
    have = part.stat().st_size
    hub.go_on.set()
    ran = assay("model", "get", ANY.name, **user)
    assert ran.returncode == 0, ran.stderr
    assert hub.ranges[1:] == [f"bytes={have}-"]
    assert have > 0


def test_of_two_at_once_one_downloads_and_the_other_waits(hub: Hub, tmp_path: Path) -> None:
    hub.held_at = len(hub.content) // 2
    user = user_of(hub, tmp_path)
    with started(ANY.name, user) as first:
        assert hub.reached.wait(60)
        with started(ANY.name, user) as second:
            assert "another program downloads it already" in [second.stderr.readline() for _ in range(2)][1]
            hub.go_on.set()
            path = second.communicate(timeout=60)[0].splitlines()[0]
        assert first.communicate(timeout=60)[0].splitlines()[0] == path
    assert (first.returncode, second.returncode) == (0, 0)
    assert Path(path).read_bytes() == hub.content
    assert Path(path).parent.name == COMMIT
    assert len(hub.ranges) == 1


def waited_for(folder: Path, size: int) -> list[Path]:
    """The unfinished files below a folder once the larger part of so many bytes is in them."""
    while True:
        parts = list(folder.rglob("*.incomplete"))
        if parts and parts[0].stat().st_size > size // 2:
            return parts

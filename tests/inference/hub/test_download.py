"""Downloads from a hub on the loopback, as it does well and badly."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from found_models import hub_file
from hub_server import COMMIT, Hub, hub_of
from huggingface_hub import constants

from assay.inference.errors import DownloadFailed
from assay.inference.found import huggingface
from assay.inference.hub import download as downloads
from assay.inference.hub.catalogue import Entry
from assay.inference.hub.download import cached, download

ENTRY = Entry("tiny", "org/tiny-GGUF", "tiny-q4_k_m.gguf", 1_000, "apache-2.0", "qwen2.5-coder")
PINNED = replace(ENTRY, revision="a" * 40)
CONTENT = bytes(range(256)) * 2_000


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub, and a cache of it in the test's folder, as HF_ENDPOINT and HF_HOME would name them."""
    with hub_of(CONTENT) as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", f"{hub.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}")
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no token"))
        monkeypatch.setattr(downloads, "_PAUSE_S", 0.0)
        for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        yield hub


def get(entry: Entry = ENTRY) -> tuple[Path, list[int]]:
    """Download it; gives the file, and how much was there, is wanted, and came in each part."""
    seen: list[int] = []

    def progress(have: int, size: int) -> AbstractContextManager:
        seen.extend((have, size))
        return nullcontext(seen.append)

    return download(entry, progress, lambda _: None), seen


def part(tmp_path: Path) -> Path:
    return tmp_path / f"hub/models--org--tiny-GGUF/blobs/{hashlib.sha256(CONTENT).hexdigest()}.incomplete"


def refusal(entry: Entry = ENTRY) -> str:
    with pytest.raises(DownloadFailed) as caught:
        get(entry)
    return str(caught.value)


def test_a_download_follows_the_redirect_into_the_cache_that_is_listed(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    path, (have, size, *parts) = get()
    assert path.read_bytes() == CONTENT
    assert path == tmp_path / f"hub/models--org--tiny-GGUF/snapshots/{COMMIT}/{ENTRY.file}"
    assert (have, size, sum(parts)) == (0, len(CONTENT), len(CONTENT))
    (found,) = huggingface.candidates(tmp_path / "hub", notes := [])
    assert (found.name, found.sha256, notes) == ("org/tiny-GGUF/tiny-q4_k_m", hub.sha256, [])
    # The token goes to the hub and not to whoever it redirects to.
    tokens = {(path.split("/")[1], headers.get("authorization")) for _, path, headers in hub.asked}
    assert tokens == {("org", "Bearer hf_secret"), ("bytes", None)}
    hub.asked.clear()
    assert (get(), cached(ENTRY), hub.asked) == ((path, []), path, []), "what is there is not asked for again"


def test_a_cut_connection_goes_on_where_it_was_cut(hub: Hub) -> None:
    hub.cuts = [100_000, 0, 50_000]
    path, (_, size, *parts) = get()
    assert path.read_bytes() == CONTENT
    assert sum(parts) == size
    assert hub.ranges == [None, "bytes=100000-", "bytes=100000-", "bytes=150000-"]


def test_a_download_that_was_given_up_is_kept_and_gone_on_with(hub: Hub, tmp_path: Path) -> None:
    hub.cuts = [100_000, *[0] * 5]
    said = refusal()
    assert "What has come is kept" in said
    assert part(tmp_path).stat().st_size == 100_000
    path, (have, *_) = get()
    assert (path.read_bytes(), have) == (CONTENT, 100_000)
    assert not part(tmp_path).exists()


def test_a_server_that_sends_all_again_is_not_appended_to_what_is_there(hub: Hub) -> None:
    hub.cuts, hub.takes_ranges = [100_000], False
    path, (_, size, *parts) = get()
    assert (path.read_bytes(), sum(parts)) == (CONTENT, size)


def test_a_file_of_another_hash_is_deleted(hub: Hub, tmp_path: Path) -> None:
    hub.sent = bytes(len(CONTENT))
    assert f"what came is damaged (SHA-256 {hashlib.sha256(hub.sent).hexdigest()[:12]}…, not {hub.sha256[:12]}…)" in refusal()
    assert not [path for path in (tmp_path / "hub").rglob("*") if path.is_file() and path.stat().st_size > 100]
    hub.sent = None
    assert get()[0].read_bytes() == CONTENT


def test_a_page_in_place_of_the_rest_leaves_what_came_before(hub: Hub, tmp_path: Path) -> None:
    hub.cuts = [100_000, *[0] * 5]
    assert "was cut off" in refusal()
    there = part(tmp_path).stat().st_size
    hub.cuts, hub.takes_ranges, hub.sent = [], False, b"<html>log in</html>"
    assert "a page or another file" in refusal()
    assert part(tmp_path).stat().st_size == there > 0
    hub.takes_ranges, hub.sent = True, None
    path, (have, *_) = get()
    assert (path.read_bytes(), have) == (CONTENT, there)


def test_a_file_that_was_replaced_or_is_larger_than_the_disk_is_not_downloaded(hub: Hub) -> None:
    known = replace(ENTRY, sha256="0" * 64)
    assert f"{hub.endpoint}/org/tiny-GGUF: has another tiny-q4_k_m.gguf" in refusal(known)
    assert hub.ranges == []
    hub.size = 1 << 60
    assert "MB are needed, and" in refusal()
    assert hub.ranges == []


def test_a_damaged_file_in_the_cache_is_not_taken_for_the_model(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "copy").write_bytes(CONTENT)
    path = hub_file(tmp_path / "hub", "org/tiny-GGUF", tmp_path / "copy", ENTRY.file)
    path.resolve().write_bytes(CONTENT[:-1])
    assert f"{path.resolve()}: not the published file" in refusal()
    assert hub.asked == []


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (404, {"X-Error-Code": "EntryNotFound"}, "choose another: assay model get"),
        (404, {"X-Error-Code": "RepoNotFound"}, "has no tiny-q4_k_m.gguf any more"),
        (401, {"X-Error-Code": "GatedRepo"}, "hf auth login"),
        (403, {"X-Error-Code": "GatedRepo"}, "refuses the file (HTTP 403)"),
        (429, {"Retry-After": "77"}, "Try again in 77 s"),
        (503, {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}, "after Fri, 31 Dec 1999"),
        (200, {}, "answers, but not as a hub does"),
    ],
)
def test_each_refusal_says_what_to_do(hub: Hub, monkeypatch: pytest.MonkeyPatch, status: int, headers: dict[str, str], said: str) -> None:
    hub.refused = (status, headers)
    assert said in refusal()
    if status == 403:
        monkeypatch.setenv("HF_TOKEN", "hf_secret")
        assert "Your token may not read it" in refusal()
    hub.refused, hub.busy = None, (429, {"Retry-After": "9"})
    assert "Try again in 9 s" in refusal(), "the host of the bytes"


def test_without_a_network_it_says_which_file_goes_where(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    said = refusal(PINNED)
    place = tmp_path / f"hub/models--org--tiny-GGUF/snapshots/{'a' * 40}/{ENTRY.file}"
    assert said.startswith("HF_HUB_OFFLINE is set")
    assert f"download {ENTRY.file} from {hub.endpoint}/org/tiny-GGUF and put it at {place}" in said
    assert "--model takes its path" in refusal()
    # A file that was brought there is found, and is the model.
    place.parent.mkdir(parents=True)
    place.write_bytes(CONTENT)
    assert get(PINNED)[0] == place
    assert [found.path for found in huggingface.candidates(tmp_path / "hub", [])] == [place]


def test_a_hub_that_is_not_there_is_named(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", "http://127.0.0.1:9/{repo_id}/resolve/{revision}/{filename}")
    assert refusal().startswith("http://127.0.0.1:9, which HF_ENDPOINT names, can't be reached (")
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", "nonsense/{repo_id}/resolve/{revision}/{filename}")
    assert "a variable of the environment can't be used" in refusal()


def test_a_disk_that_fills_up_is_said(hub: Hub, tmp_path: Path) -> None:
    part(tmp_path).parent.mkdir(parents=True)
    part(tmp_path).symlink_to("/dev/full")
    assert "the disk is full" in refusal()


def test_a_cache_that_is_a_file_is_named(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "hub").write_text("")
    said = refusal()
    assert said.startswith(str(tmp_path / "hub"))
    assert "HF_HOME" in said


def test_a_blob_with_other_bytes_than_its_name_says_is_downloaded_again(hub: Hub, tmp_path: Path) -> None:
    get()
    blob = next((tmp_path / "hub").rglob(f"blobs/{hub.sha256}"))
    for link in (tmp_path / "hub").rglob(f"snapshots/*/{ENTRY.file}"):
        link.unlink()
    blob.write_bytes(bytes(len(CONTENT)))
    assert get()[0].read_bytes() == CONTENT

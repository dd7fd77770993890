"""Downloads a model of the catalogue into the hub's own cache, where every program that uses the hub finds it.

Requests, tokens, proxies and the cache are huggingface_hub's. The bytes are not: interrupted, it deletes what it has (2.4,
`_download_to_tmp_and_move`). So they are written here to the file BLOB.incomplete that its older versions used, hashed, and put in the
place of the blob, which `hf_hub_download` then finds and links.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import logging
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import KEPT, DownloadFailed, pip_advice
from ..file_hash import file_sha256
from .catalogue import Entry


def bad_environment(reason: str) -> DownloadFailed:
    """A variable of the environment has a value that huggingface_hub can't use."""
    return DownloadFailed(
        f"a variable of the environment can't be used: {reason.rstrip('.')}. Check those that begin with HF_, and HTTP_PROXY, "
        "HTTPS_PROXY and ALL_PROXY."
    )


try:
    from filelock import Timeout
    from httpx2 import HTTPError, InvalidURL, TransportError, UnsupportedProtocol
    from huggingface_hub import constants, get_hf_file_metadata, get_token, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled
    from huggingface_hub.file_download import repo_folder_name
    from huggingface_hub.utils import WeakFileLock, build_hf_headers, get_session, hf_raise_for_status  # type: ignore[attr-defined]
except ImportError as error:
    raise DownloadFailed(pip_advice("huggingface_hub", error, "huggingface_hub>=2.4,<3")) from error
except ValueError as error:  # it reads its variables when it is imported
    raise bad_environment(str(error)) from error

_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
# Connections in a row that bring nothing.
_MAX_FAILURES = 5
_PAUSE_S = 1.0
# Left free on the disk, which other programs need, too.
_SPARE = 1 << 26
_LOCKED_BY_ANOTHER_S = 0.2

# Gives what is told of each part that came; the arguments are the bytes that are there already and those of the whole.
Progress = Callable[[int, int], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True, slots=True)
class Remote:
    """What the hub says of a file."""

    revision: str
    sha256: str
    size: int


def page_of(entry: Entry) -> str:
    """The address of a model's page, for people."""
    return f"{constants.ENDPOINT}/{entry.repository}"


def cached(entry: Entry) -> Path | None:
    """The file in the cache of the hub, of whichever revision has it; None where it is not there. Nothing is asked of the hub."""
    for path in sorted(_repository(entry).glob(f"snapshots/*/{glob.escape(entry.file)}")):
        known = not entry.sha256 or entry.sha256 == path.resolve().name or entry.revision == path.parent.name
        if path.exists() and known and entry.bytes in (0, path.stat().st_size):
            return path
    return None


def download(entry: Entry, progress: Progress, tell: Callable[[str], None]) -> Path:
    """The file in the cache of the hub, downloaded unless it is there, and of the hash that it should have.

    tell: told, for people, what is waited for. Raises DownloadFailed. Interrupted, the next call goes on where this one ended.
    """
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # what goes wrong is said here
    constants.HF_HUB_DISABLE_TELEMETRY = True  # else it tells the hub which packages and which agent are here
    with _said(entry):
        if there := cached(entry):
            return _checked(there, entry.sha256)
        try:
            get_session()
        except OSError as error:
            raise bad_environment(f"no certificates are read ({error.strerror or error}); see SSL_CERT_FILE and SSL_CERT_DIR") from error
        remote = _remote(entry)
        repository = _repository(entry)
        blob = repository / "blobs" / remote.sha256
        with _lock(Path(constants.HF_HUB_CACHE, ".locks", repository.name, f"{remote.sha256}.lock"), tell):
            if blob.exists() and file_sha256(blob) != remote.sha256:
                blob.unlink()
            if not blob.exists():
                blob.parent.mkdir(parents=True, exist_ok=True)
                _bring(entry, remote, blob, progress)
        return Path(hf_hub_download(entry.repository, entry.file, revision=remote.revision))


def _remote(entry: Entry) -> Remote:
    found = get_hf_file_metadata(_url(entry, entry.revision), timeout=constants.HF_HUB_ETAG_TIMEOUT)
    commit = found.commit_hash or ""
    if not _COMMIT.fullmatch(commit) or not found.size or found.size < 0:
        raise _not_a_hub("no commit or size of the file")
    sha256 = found.etag or ""
    if not _SHA256.fullmatch(sha256):
        raise _not_a_hub("no SHA-256 of the file")
    if entry.sha256 and sha256 != entry.sha256:
        raise DownloadFailed(
            f"{page_of(entry)}: has another {entry.file} than Assay knows (SHA-256 {sha256[:12]}…, not {entry.sha256[:12]}…), so nothing "
            "was downloaded. Update Assay, or download it yourself, if you trust it, and use it with --model FILE."
        )
    return Remote(commit, sha256, found.size)


def _bring(entry: Entry, remote: Remote, blob: Path, progress: Progress) -> None:
    part = blob.with_name(f"{blob.name}.incomplete")
    have = _size(part)
    needed, free = remote.size - have + _SPARE, shutil.disk_usage(blob.parent).free
    if free < needed:
        raise _no_room(blob.parent, f"{needed / 1e6:,.0f} MB are needed, and {free / 1e6:,.0f} MB are free")
    with progress(have, remote.size) as came:
        failures = 0
        while (have := _size(part)) < remote.size:
            reason = "it ended early"
            try:
                _append(_url(entry, remote.revision), part, remote.size, came)
            except TransportError as error:
                reason = str(error) or type(error).__name__
            if _size(part) < remote.size:
                failures = 0 if _size(part) > have else failures + 1
                if failures == _MAX_FAILURES:
                    so_far = f"{have / 1e6:,.0f} of {remote.size / 1e6:,.0f} MB"
                    raise DownloadFailed(f"{entry.file}: the download was cut off after {so_far} ({reason}). {KEPT}")
                time.sleep(_PAUSE_S)
    with part.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != remote.sha256:
        part.unlink()
        raise DownloadFailed(
            f"{entry.file}: what came is damaged (SHA-256 {found[:12]}…, not {remote.sha256[:12]}…) and was deleted. Try again; if it "
            "happens again, something between here and the hub changes it."
        )
    part.replace(blob)


def _append(url: str, part: Path, size: int, came: Callable[[int], None]) -> None:
    """Write to the end of a file what is missing of it, in one request. Whoever the hub redirects to is not sent the token."""
    have = _size(part)
    headers = {**build_hf_headers(), "Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    with get_session().stream("GET", url, headers=headers, timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT, follow_redirects=True) as response:
        hf_raise_for_status(response)
        again = response.status_code != 206
        if int(response.headers.get("Content-Length", 0)) not in (0, size if again else size - have):
            raise _not_a_hub("a page or another file in place of the model; what came before is kept")
        with part.open("ab") as file:
            if have and again:  # all of it comes again
                file.truncate(0)
                came(-have)
                have = 0
            for block in response.iter_raw():
                file.write(block)
                have += len(block)
                came(len(block))
                if have > size:  # the hash will say that this is another file
                    return


@contextmanager
def _lock(path: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """That of huggingface_hub for the file, so that two programs do not write it at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with WeakFileLock(path, timeout=_LOCKED_BY_ANOTHER_S):
            yield
        return
    except Timeout:
        tell("another program downloads it already: waiting until that has ended")
    with WeakFileLock(path):
        yield


@contextmanager
def _said(entry: Entry) -> Iterator[None]:
    """Say what goes wrong as errors of ours."""
    try:
        yield
    except HfHubHTTPError as error:
        raise _of_status(entry, error.response.status_code, error.response.headers.get("Retry-After", "")) from error
    except (InvalidURL, UnsupportedProtocol) as error:
        raise bad_environment(f"{constants.ENDPOINT}: {error}") from error
    except (OfflineModeIsEnabled, LocalEntryNotFoundError, HTTPError) as error:
        if isinstance(error, LocalEntryNotFoundError) and isinstance(error.__cause__, HfHubHTTPError):
            answer = error.__cause__.response
            raise _of_status(entry, answer.status_code, answer.headers.get("Retry-After", "")) from error
        offline = constants.is_offline_mode()
        named = ", which HF_ENDPOINT names," if "HF_ENDPOINT" in os.environ else ""
        reason = "HF_HUB_OFFLINE is set, so the hub is not asked" if offline else f"{constants.ENDPOINT}{named} can't be reached ({error})"
        raise _no_connection(reason, entry) from error
    except (ValueError, ImportError) as error:  # of huggingface_hub and httpx, at a variable's value: a time out of range, a SOCKS proxy
        raise bad_environment(str(error)) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _no_room(Path(constants.HF_HUB_CACHE), "the disk is full") from error
        where, reason = error.filename or constants.HF_HUB_CACHE, error.strerror or str(error)
        raise DownloadFailed(f"{where}: can't be written ({reason}). Name another folder with HF_HOME, or mend its permissions.") from error


def _of_status(entry: Entry, status: int, after: str) -> DownloadFailed:
    """What an answer that is not the file means. after: when to come back, "" where the hub does not say."""
    page = page_of(entry)
    if status == 404:
        return DownloadFailed(
            f"{page}: has no {entry.file} any more (HTTP 404). See there whether it was renamed, or choose another: assay model get. "
            "A newer Assay may know where it is."
        )
    if status in (401, 403):
        advice = "Accept its licence on that page while logged in, then run: hf auth login (or set HF_TOKEN). Or it is gone."
        if get_token() is not None:
            advice = (
                "Your token may not read it: accept its licence on that page while logged in, and let the token read such repositories."
            )
        return DownloadFailed(f"{page}: the hub refuses the file (HTTP {status}). {advice}")
    if status == 429 or status >= 500:
        when = f"in {after} s" if after.isdigit() else f"after {after}" if after else "in some minutes"
        token = " A token raises the limit: hf auth login." if status == 429 else ""
        return DownloadFailed(f"{constants.ENDPOINT}: too busy (HTTP {status}). Try again {when}.{token} {KEPT}")
    return DownloadFailed(f"{page}: the hub answers HTTP {status} in place of the file. Try again later. {KEPT}")


def _not_a_hub(lacking: str) -> DownloadFailed:
    """Something answers that is not the hub, such as a proxy's page."""
    return DownloadFailed(
        f"{constants.ENDPOINT}: answers, but not as a hub does ({lacking}). Check HF_ENDPOINT, and any proxy or login page in between."
    )


def _no_room(folder: Path, what: str) -> DownloadFailed:
    return DownloadFailed(f"{folder}: {what}. Make room, or name a folder on another disk with HF_HOME. {KEPT}")


def _no_connection(reason: str, entry: Entry) -> DownloadFailed:
    """The hub was not reached. Where the file's revision is known, so is where it goes by hand, so that it is found."""
    where, found = "anywhere on this machine", "--model takes its path"
    if entry.revision:
        where, found = f"at {_repository(entry) / 'snapshots' / entry.revision / entry.file}", "assay model list shows it then"
    return DownloadFailed(f"{reason}. Where there is a network, download {entry.file} from {page_of(entry)} and put it {where}: {found}.")


def _checked(path: Path, sha256: str) -> Path:
    name = path.resolve().name
    wanted = sha256 or (name if _SHA256.fullmatch(name) else "")
    if wanted and file_sha256(path) != wanted:
        raise DownloadFailed(f"{path.resolve()}: not the published file (its SHA-256 is not {wanted[:12]}…). Delete it, then try again.")
    return path


def _repository(entry: Entry) -> Path:
    return Path(constants.HF_HUB_CACHE, repo_folder_name(repo_id=entry.repository, repo_type="model"))


def _url(entry: Entry, revision: str) -> str:
    return hf_hub_url(entry.repository, entry.file, revision=revision or None)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0

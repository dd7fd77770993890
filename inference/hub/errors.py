"""What keeps a model from being had. Every message says what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import ModelError, pip_advice

# Said where a download stops in its middle.
KEPT = "What has come is kept: the same command goes on from there."


class NotInTheCatalogue(ModelError):
    """No model of the catalogue has the name. near: those most like it."""

    def __init__(self, name: str, near: Sequence[str]) -> None:
        meant = f"Did you mean {' or '.join(near)}? " if near else ""
        super().__init__(
            f"{name}: no model of that name. {meant}assay model get shows those that there are; any other GGUF file of yours is used with "
            "--model FILE."
        )


class LicenceNotAccepted(ModelError):
    """The licence forbids commercial use, and the user did not say that this is none."""

    def __init__(self, name: str, licence: str, page: str) -> None:
        super().__init__(
            f"{name}: its licence ({licence}) forbids commercial use, so nothing was downloaded. Read it at {page}. If your use is not "
            f"commercial: assay model get {name} --yes"
        )


class DownloadFailed(ModelError):
    """The model could not be had."""


class HubMissing(DownloadFailed):
    """The package that asks the hub can't be imported."""

    def __init__(self, reason: str) -> None:
        super().__init__(pip_advice("huggingface_hub", reason, "huggingface_hub>=2.4,<3"))


class BadEnvironment(DownloadFailed):
    """A variable of the environment has a value that huggingface_hub can't use."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"a variable of the environment can't be used: {reason.rstrip('.')}. Check those that begin with HF_, and HTTP_PROXY, "
            "HTTPS_PROXY and ALL_PROXY."
        )


class NoConnection(DownloadFailed):
    """The hub was not reached. place: where the file goes by hand, so that it is found."""

    def __init__(self, reason: str, file: str, page: str, place: Path | None) -> None:
        found = "assay model list shows it then" if place else "--model takes its path"
        super().__init__(
            f"{reason}. Where there is a network, download {file} from {page} and put it "
            f"{f'at {place}' if place else 'anywhere on this machine'}: {found}."
        )


class NotAHub(DownloadFailed):
    """Something answers that is not the hub, such as a proxy's page."""

    def __init__(self, endpoint: str, lacking: str) -> None:
        super().__init__(
            f"{endpoint}: answers, but not as a hub does ({lacking}). Check HF_ENDPOINT, and any proxy or login page in between."
        )


class Gone(DownloadFailed):
    """The repository has no such file any more."""

    def __init__(self, file: str, page: str) -> None:
        super().__init__(
            f"{page}: has no {file} any more (HTTP 404). See there whether it was renamed, or choose another: assay model get. "
            "A newer Assay may know where it is."
        )


class LoginWanted(DownloadFailed):
    """The hub gives the file to known users only, or not to this one."""

    def __init__(self, page: str, status: int, has_token: bool) -> None:
        if has_token:
            advice = (
                "Your token may not read it: accept its licence on that page while logged in, and let the token read such repositories."
            )
        else:
            advice = "Accept its licence on that page while logged in, then run: hf auth login (or set HF_TOKEN). Or it is gone."
        super().__init__(f"{page}: the hub refuses the file (HTTP {status}). {advice}")


class HubBusy(DownloadFailed):
    """The hub asks to come back later. after: in how many seconds, "" where it does not say."""

    def __init__(self, endpoint: str, status: int, after: str) -> None:
        when = f"in {after} s" if after.isdigit() else f"after {after}" if after else "in some minutes"
        token = " A token raises the limit: hf auth login." if status == 429 else ""
        super().__init__(f"{endpoint}: too busy (HTTP {status}). Try again {when}.{token} {KEPT}")


class HubRefused(DownloadFailed):
    """Any other answer that is not the file."""

    def __init__(self, page: str, status: int) -> None:
        super().__init__(f"{page}: the hub answers HTTP {status} in place of the file. Try again later. {KEPT}")


class CutOff(DownloadFailed):
    """The connection broke, again and again."""

    def __init__(self, file: str, have: int, size: int, reason: str) -> None:
        super().__init__(f"{file}: the download was cut off after {have / 1e6:,.0f} of {size / 1e6:,.0f} MB ({reason}). {KEPT}")


class AnotherFile(DownloadFailed):
    """The publisher has put another file in the place of the one that the catalogue knows."""

    def __init__(self, file: str, page: str, known: str, found: str) -> None:
        super().__init__(
            f"{page}: has another {file} than Assay knows (SHA-256 {found[:12]}…, not {known[:12]}…), so nothing was downloaded. Update "
            "Assay, or download it yourself, if you trust it, and use it with --model FILE."
        )


class WrongHash(DownloadFailed):
    """What came is not what was promised, and was deleted."""

    def __init__(self, file: str, wanted: str, found: str) -> None:
        super().__init__(
            f"{file}: what came is damaged (SHA-256 {found[:12]}…, not {wanted[:12]}…) and was deleted. Try again; if it happens again, "
            "something between here and the hub changes it."
        )


class Damaged(DownloadFailed):
    """A file that is in the cache already is not what it should be."""

    def __init__(self, path: Path, wanted: str) -> None:
        super().__init__(f"{path}: not the published file (its SHA-256 is not {wanted[:12]}…). Delete it, then try again.")


class NoRoom(DownloadFailed):
    """The disk has no room for the file, or was full in its middle."""

    def __init__(self, folder: Path, what: str) -> None:
        super().__init__(f"{folder}: {what}. Make room, or name a folder on another disk with HF_HOME. {KEPT}")


class NotWritable(DownloadFailed):
    """The cache can't be written."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: can't be written ({reason}). Name another folder with HF_HOME, or mend its permissions.")

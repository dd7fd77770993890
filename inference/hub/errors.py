"""What keeps a model from being had. Every message says what is wrong and what to do."""

from __future__ import annotations

from ..errors import ModelError

# Said where a download stops in its middle.
KEPT = "What has come is kept: the same command goes on from there."


class DownloadFailed(ModelError):
    """The model could not be had."""


def bad_environment(reason: str) -> DownloadFailed:
    """A variable of the environment has a value that huggingface_hub can't use."""
    return DownloadFailed(
        f"a variable of the environment can't be used: {reason.rstrip('.')}. Check those that begin with HF_, and HTTP_PROXY, "
        "HTTPS_PROXY and ALL_PROXY."
    )

"""A server's address and key."""

from __future__ import annotations

import contextlib
import ipaddress
import os
from pathlib import Path

from ..errors import BadServerAddress, HttpxMissing, UnreadableKey
from ..regular_file import read_regular_file

try:
    import httpx
except ImportError as missing:
    raise HttpxMissing(str(missing)) from missing

_MAX_KEY_BYTES = 1 << 16
KEY_VARIABLE = "ASSAY_API_KEY"


def server_address(url: str) -> str:
    """The address without a query, a final slash or /v1. Raises BadServerAddress."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError, ValueError) as error:
        raise BadServerAddress("the server's address", f"not a URL ({error})") from None
    if parsed.userinfo:
        where = f"{parsed.scheme}://{parsed.host}"
        raise BadServerAddress(where, "a name and password in the address; a key goes into a file or into ASSAY_API_KEY")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise BadServerAddress(url, "neither http:// nor https:// and a host")
    if parsed.port is not None and not 0 < parsed.port < 1 << 16:
        raise BadServerAddress(url, f"port {parsed.port}, which is not between 1 and 65535")
    path = parsed.path.rstrip("/").removesuffix("/v1").removesuffix("/completions").removesuffix("/v1").rstrip("/")
    return f"{parsed.scheme}://{parsed.netloc.decode('ascii')}{path}"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name or number. Names are not looked up."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def find_key(key: str | None = None, key_file: str | Path | None = None) -> str | None:
    """The server's key: the one given, else the file's, else the environment's, else None. Raises UnreadableKey."""
    if key is None and key_file is not None:
        path = Path(key_file)
        try:
            key = read_regular_file(path, _MAX_KEY_BYTES).decode("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableKey(path, f"can't be read ({getattr(error, 'strerror', None) or 'it is no text'})") from error
        if not key:
            raise UnreadableKey(path, "is empty")
        where = path
    else:
        where = Path(KEY_VARIABLE)
        key = key if key is not None else os.environ.get(KEY_VARIABLE, "").strip()
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise UnreadableKey(where, "holds what no key has: a space, or a character outside of ASCII")
    return key or None

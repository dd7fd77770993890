"""A server's address and key."""

from __future__ import annotations

import contextlib
import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import BadServerAddress, PackageMissing, UnreadableKey
from ..regular_file import read_regular_file

try:
    import httpx
except ImportError as missing:
    raise PackageMissing("the package of assay[remote]", missing, "httpx>=0.27") from missing

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


def origin(url: str) -> str:
    """The scheme, host and port of an address: what a key belongs to. Raises BadServerAddress."""
    parsed = httpx.URL(server_address(url))
    return f"{parsed.scheme}://{parsed.host}:{parsed.port or (443 if parsed.scheme == 'https' else 80)}"


def key_file_of(url: str, key_files: Mapping[str, str]) -> str | None:
    """The file with the key of a server: of the first address with its origin, else that of "", else None. Raises BadServerAddress."""
    own = origin(url)
    return next((file for address, file in key_files.items() if address and origin(address) == own), key_files.get(""))


def key_source(url: str, key_files: Mapping[str, str]) -> str:
    """Where a server's key comes from, and where it goes, in words. Raises BadServerAddress."""
    file = key_file_of(url, key_files)
    source = KEY_VARIABLE if file is None and os.environ.get(KEY_VARIABLE, "").strip() else file
    return f"of {source}, sent to {origin(url)} alone" if source else "none"


def find_key(url: str, key_files: Mapping[str, str]) -> str | None:
    """A server's key, by `ModelOptions.key_files`; None for none. Raises UnreadableKey, BadServerAddress."""
    file = key_file_of(url, key_files)
    if file is None:
        return _checked(os.environ.get(KEY_VARIABLE, "").strip(), Path(KEY_VARIABLE)) or None
    return read_key(Path(file)) if file else None


def read_key(path: Path) -> str:
    """The key that a file holds. Raises UnreadableKey."""
    try:
        key = read_regular_file(path, _MAX_KEY_BYTES).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableKey(path, f"can't be read ({getattr(error, 'strerror', None) or 'it is no text'})") from error
    if not key:
        raise UnreadableKey(path, "is empty")
    return _checked(key, path)


def _checked(key: str, where: Path) -> str:
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise UnreadableKey(where, "holds what no key has: a space, or a character outside of ASCII")
    return key

"""`assay/explain`: why a suggestion has its confidence."""

from __future__ import annotations

from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from ..language_server import AssayServer

EXPLAIN = "assay/explain"


async def explain(ls: AssayServer, params: Any) -> dict[str, Any]:
    """`assay/explain` {id}: all that is known of a suggestion's confidence. Raises JsonRpcInvalidParams for an id that is not known."""
    name = _id_in(params)
    given = ls.requests.find(name)
    if given is None:
        raise JsonRpcInvalidParams(f"{EXPLAIN}: no suggestion {name!r} was given out lately")
    return (await ls.requests.explain(given)).as_json()


def _id_in(params: Any) -> str:
    """The id in params that pygls left as they came: a dictionary, or an object made of one."""
    value = params.get("id") if isinstance(params, dict) else getattr(params, "id", None)
    if not isinstance(value, str):
        raise JsonRpcInvalidParams(f'{EXPLAIN}: "id" is a string')
    return value

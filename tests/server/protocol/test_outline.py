from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.server.protocol.outline import is_deeper, outline

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.sampled_from(["id", "method"]), inner, max_size=3),
)


@given(st.integers(-(10**9), 10**9) | st.text(), st.text(), JSON, st.booleans())
def test_the_outline_has_the_messages_own_id_and_method_and_none_from_within(
    number: int | str, method: str, params: object, is_first: bool
) -> None:
    fields = {"id": number, "method": method, "jsonrpc": "2.0"}
    message = {**fields, "params": params} if is_first else {"params": params, **fields}
    assert outline(json.dumps(message).encode()) == fields


@pytest.mark.parametrize("body", [b"", b"[]", b'{"id": 1', b'{"id": 1, "params": [}', b"\xff", b"9" * 5_000])
def test_of_what_is_cut_off_or_no_message_nothing_is_known(body: bytes) -> None:
    assert outline(body) == {}


@pytest.mark.parametrize("name", ["id", "method", "jsonrpc"])
def test_a_field_that_is_too_long_is_there_but_unknown(name: str) -> None:
    assert outline(f'{{"{name}": {"9" * 5_000}}}'.encode()) == {name: None}


@pytest.mark.parametrize(("data", "depth"), [(1, 0), ([], 1), ({"a": 1}, 1), ([{"a": [[]]}], 4)])
def test_the_depth_counts_lists_and_objects(data: object, depth: int) -> None:
    assert not is_deeper(data, depth)
    assert depth == 0 or is_deeper(data, depth - 1)

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from assay.server.protocol.malformed import outline

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.sampled_from(["id", "method"]), inner, max_size=3),
)


@given(st.integers(-(10**9), 10**9) | st.text(), st.text(), JSON, st.booleans())
def test_the_outline_has_id_and_method_of_the_message_itself(number: int | str, method: str, params: object, is_first: bool) -> None:
    fields = {"id": number, "method": method, "jsonrpc": "2.0"}
    message = {**fields, "params": params} if is_first else {"params": params, **fields}
    assert outline(json.dumps(message).encode()) == fields

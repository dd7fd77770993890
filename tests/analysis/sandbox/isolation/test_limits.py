from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.sandbox.isolation.limits import Limits


@given(st.sampled_from(["cpu_s", "wall_s", "memory_bytes", "processes", "output_bytes", "file_bytes"]), st.floats(max_value=0))
def test_a_limit_that_is_not_positive_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})

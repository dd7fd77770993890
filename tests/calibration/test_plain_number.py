"""Numbers in sentences have no exponent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.plain_number import plain


@given(st.floats(1e-6, 1e14), st.integers(1, 6))
def test_a_number_of_a_usual_size_has_no_exponent_and_so_many_digits(value: float, digits: int) -> None:
    shown = plain(value, digits)
    assert "e" not in shown
    assert float(shown.replace(",", "")) == pytest.approx(value, rel=10.0 ** (1 - digits))

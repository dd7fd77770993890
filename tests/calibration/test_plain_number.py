"""Numbers in sentences have no exponent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.plain_number import plain


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (100.0, 2, "100"), (99.6, 2, "100"), (9.96, 2, "10"), (0.0123, 2, "0.012"), (3.5, 2, "3.5"), (0.5, 6, "0.5"), (-250.4, 2, "-250"),
        (1_200_000.0, 6, "1,200,000"), (60.0, 6, "60"), (0.0, 2, "0"), (0.00001, 4, "0.00001"), (123456.7, 3, "123,457"),
    ],
)  # fmt: skip
def test_a_number_is_shown_as_people_write_it(value: float, digits: int, shown: str) -> None:
    assert plain(value, digits) == shown


@given(st.floats(1e-6, 1e14), st.integers(1, 6))
def test_a_number_of_a_usual_size_has_no_exponent_and_so_many_digits(value: float, digits: int) -> None:
    shown = plain(value, digits)
    assert "e" not in shown
    assert float(shown.replace(",", "")) == pytest.approx(value, rel=10.0 ** (1 - digits))

import math

import numpy as np
import pytest

from assay.inference.healing.healing import Healing


def test_a_token_that_is_next_to_impossible_has_its_share_beside_a_likely_one() -> None:
    pieces = [b" ab", b" ad", b"x"]
    weights = np.array([1.0, 1e-20, 0.5])
    along = Healing(pieces).typed_along()
    along.step(weights.__getitem__, float(weights.sum()), b" ad")
    (shares,) = along.shares([b" ad"])
    assert shares[:2] == pytest.approx([math.log(2 / 3)] * 2)
    assert shares[2] == pytest.approx(math.log(1e-20 / 1.5))

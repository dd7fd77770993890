"""The Python that runs the tests of small projects, and an oracle of one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_python import make_bare_python
from shop_project import SHOP, TESTS, isolated, write

from assay.analysis.oracle.oracle import Oracle


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bare_python(tmp_path_factory.mktemp("environment"))


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("shop"), {"shop.py": SHOP, "tests/test_shop.py": TESTS})


@pytest.fixture(scope="session")
def oracle(shop: Path, python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    with Oracle(shop, python, isolated(), cache=tmp_path_factory.mktemp("cache")) as made:
        yield made

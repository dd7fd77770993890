"""A small project, the Python that runs its tests, and an oracle of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from shop_project import SHOP, TESTS, isolated, write

from assay.analysis.oracle.oracle import Oracle


@pytest.fixture(scope="session")
def python(bare_python: Path) -> Path:
    return bare_python


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("shop"), {"shop.py": SHOP, "tests/test_shop.py": TESTS})


@pytest.fixture(scope="session")
def oracle(shop: Path, python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    with Oracle(shop, python, isolated(), cache=tmp_path_factory.mktemp("cache")) as made:
        yield made

"""docs/formats.md has the fields of the classes that hold the formats."""

from __future__ import annotations

from docs import formats


def test_the_page_has_the_fields_as_they_are() -> None:
    page = formats.PAGE.read_text(encoding="utf-8")
    assert formats.written(page) == page, "run `make formats`"

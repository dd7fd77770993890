"""The examples of the pages on the foundations of studies, run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "prints"),
    [
        ("morphisms", ["reorder_condition", "unused_statement"]),
        ("judging", ["True\nAssertionError (test, line 1: assert f(1) == 2)\n"]),
        ("regions", ["'"]),
    ],
)
def test_the_example_of_a_page_runs_as_it_stands_there(page: str, prints: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    if page == "judging":
        try:
            best_level()
        except NoIsolation as error:
            pytest.skip(str(error))
    examples = re.findall(r"^```python\n(.*?)^```$", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, f"{page}.md", "exec", dont_inherit=True), {"__name__": "example"})
    said = capsys.readouterr().out
    assert all(text in said for text in prints), said

"""Code in a report stands as it was written, and can't end its block."""

from __future__ import annotations

import pytest

from assay.calibration.report.blocks import Code
from assay.calibration.report.markdown import as_markdown
from assay.calibration.report.page import as_page

TEXT = "def f(x):\n    return '<b>' + `x`\n"


def test_code_keeps_its_lines_in_markdown_and_on_the_page() -> None:
    assert as_markdown([Code("The answer", TEXT)]) == f"The answer\n\n```\n{TEXT}```\n"
    page = as_page("Report", [Code("The answer", TEXT)])
    assert "<pre><code>def f(x):\n    return &#x27;&lt;b&gt;&#x27; + `x`\n</code></pre>" in page


@pytest.mark.parametrize("fence", ["```", "`````"])
def test_a_fence_in_the_code_does_not_end_it(fence: str) -> None:
    shown = as_markdown([Code("The answer", f"{fence}python\n# Heading\n{fence}\x1b[2J")])
    _, _, first, *inside, last = shown.rstrip("\n").split("\n")
    assert first == last == f"{fence}`"
    assert inside == [f"{fence}python", "# Heading", f"{fence}\\x1b[2J"]

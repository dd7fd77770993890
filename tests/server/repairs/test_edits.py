"""A repair as an edit: whatever it is, the text is the repaired one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.confidence import uncalibrated
from assay.server.documents.documents import Change, Document
from assay.server.repairs.edits import text_edit, workspace_edit
from assay.server.repairs.lines import Lines
from assay.suggestion.positions import Encoding, Position, Range, column_at
from assay.suggestion.repair.request import Repair
from assay.suggestion.suggestion import Suggestion

TEXT = st.text("ab 😀é", max_size=6)


def repair(old: list[str], new: list[str], above: int, encoding: Encoding, newline: str) -> Repair:
    place = Range(Position(above, 0), Position(above + len(old) - 1, column_at(old[-1], len(old[-1]), encoding)))
    suggestion = Suggestion("a" * 12, newline.join(new), place, "repair", uncalibrated("tests_pass"), {}, {})
    return Repair(suggestion, newline.join(old), ("rules",), (), mends=False)


@given(
    st.lists(TEXT, max_size=2),
    st.lists(TEXT, min_size=1, max_size=3),
    st.lists(TEXT, min_size=1, max_size=3),
    st.sampled_from(("utf-8", "utf-16", "utf-32")),
    st.sampled_from(("\n", "\r\n")),
)
def test_it_makes_the_repaired_text_and_changes_no_other_line(
    above: list[str], old: list[str], new: list[str], encoding: Encoding, newline: str
) -> None:
    before, after = (newline.join([*above, *lines, "below"]) for lines in (old, new))
    document = Document("file:///a.py", "python", 1, before, encoding)
    place, text = text_edit(repair(old, new, len(above), encoding, newline), encoding)
    document.apply(Change(text, place))
    assert document.text == after


def test_it_is_for_the_version_that_it_was_made_for_where_the_client_looks_at_versions() -> None:
    made, lines = repair(["a < b"], ["a <= b"], 3, "utf-16", "\n"), Lines("file:///a.py", 7, 3, 4, "")
    versioned = workspace_edit(made, lines, "utf-16", versioned=True)
    assert versioned.document_changes is not None
    (change,) = versioned.document_changes
    assert (change.text_document.version, change.edits[0].new_text) == (7, "=")  # type: ignore[union-attr]
    assert list(workspace_edit(made, lines, "utf-16", versioned=False).changes or {}) == ["file:///a.py"]

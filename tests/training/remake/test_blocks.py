from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.remake.blocks import NOT_MEASURED, Block, BlockError, blocks_of, filled, withdrawn
from training.remake.present import Present

PAGE = """# Title

<!-- remake one: begin; model a, prompt b -->

| a |

<!-- remake one: end -->

* a point

  <!-- remake two: begin; not measured -->

  Not measured.

  <!-- remake two: end -->

The end.
"""
LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20), min_size=1, max_size=5)


def test_blocks_are_read_without_their_indentation() -> None:
    assert list(blocks_of(PAGE)) == [Block("one", "model a, prompt b", "| a |"), Block("two", NOT_MEASURED, "Not measured.")]


@given(LINES, st.sampled_from(["one", "two"]))
def test_a_filled_block_has_the_content_and_filling_it_twice_changes_nothing(lines: list[str], name: str) -> None:
    content = "\n".join(lines)
    page = filled(PAGE, name, content, "model c, prompt d")
    found = {block.name: block for block in blocks_of(page)}
    assert found[name] == Block(name, "model c, prompt d", content)
    other = {"one": "two", "two": "one"}[name]
    assert found[other] in blocks_of(PAGE)
    assert filled(page, name, content, "model c, prompt d") == page
    assert page.startswith("# Title\n\n")
    assert page.endswith("\n\nThe end.\n")


def test_a_withdrawn_block_says_so_to_the_reader() -> None:
    page = withdrawn(PAGE, "one")
    assert "| a |" not in page
    assert "Not measured for this version" in page
    assert next(iter(blocks_of(page))).of == NOT_MEASURED


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (PAGE + PAGE, "two blocks are named 'one'"),
        (PAGE.replace("<!-- remake one: end -->", ""), "has no partner"),
        (PAGE.replace("remake one: end", "remake other: end"), "has no partner"),
    ],
)
def test_a_page_with_broken_markers_is_refused(page: str, why: str) -> None:
    with pytest.raises(BlockError, match=why):
        list(blocks_of(page))
    with pytest.raises(BlockError, match="there is no block 'three'"):
        filled(PAGE, "three", "", "")


def test_what_is_named_holds_for_the_present_model_and_any_of_its_prompts() -> None:
    now = Present("aa", {"line": "11", "line_rest": "11", "block": "22"})
    assert now.named("line", "line_rest") == "model aa, prompt 11"
    assert now.named() == "model aa, prompt 11 22"
    assert all(map(now.holds, (now.named("line"), now.named("block"), now.named())))
    assert not any(map(now.holds, ("model aa, prompt 11 33", "model bb, prompt 11", "model aa", "", NOT_MEASURED)))

"""The order in which places are asked about."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.offline_eval.own_code.draw import MAX_PER_FILE, OwnPlace, in_turn, own_places, public_places, turns
from assay.offline_eval.own_code.files import Folder, authorship
from assay.offline_eval.own_code.public import public_projects
from assay.offline_eval.sets.lines import Place

FUNCTION = 'def f{n}(items):\n    """Sum."""\n    total = 0\n    for item in items:\n        total += item\n    return total\n\n\n'


def place(project: str, number: int) -> OwnPlace:
    return OwnPlace(Place(project, "a.py", "", "f", number, ()), "you")


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 5)), min_size=1, max_size=5))
def test_turns_give_everything_once_and_in_its_own_order(sizes: list[tuple[int, int]]) -> None:
    sources = [([place(f"p{index}", number) for number in range(size)], count) for index, (size, count) in enumerate(sizes)]
    taken = list(turns([(iter(source), count) for source, count in sources]))
    assert len(taken) == sum(size for size, _ in sizes)
    for index, (source, _) in enumerate(sources):
        assert [each for each in taken if each.place.project == f"p{index}"] == source


def test_the_users_code_and_public_code_take_turns_so_that_any_beginning_has_both(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("".join(FUNCTION.format(n=n) for n in range(2 * MAX_PER_FILE)))
    folder = Folder(tmp_path)
    own = own_places(folder, authorship(folder, ("python",)), 0)
    first = [asked for asked, _ in zip(in_turn([own], public_places(0)), range(27), strict=False)]
    mine = [asked for asked in first if asked.author != "public"]
    assert len(mine) == 18
    assert {asked.place.project for asked in mine} == {folder.name}
    # no file speaks for a project
    by_file = [asked.place.path for asked in own_places(folder, authorship(folder, ("python",)), 0)]
    assert {path: by_file.count(path) for path in by_file} == dict.fromkeys((f"{folder.name}/a.py", f"{folder.name}/b.py"), MAX_PER_FILE)


@pytest.mark.slow
def test_the_places_of_public_code_are_of_every_project_and_the_same_each_time() -> None:
    places = list(public_places(0))
    assert {asked.place.project for asked in places[:60]} == {project.name for project in public_projects()}
    assert [asked.id for asked in places[:20]] == [asked.id for asked, _ in zip(public_places(0), range(20), strict=False)]
    assert len({asked.id for asked in places}) == len(places)


def test_functions_without_a_docstring_are_asked_about_in_code_of_the_users(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(items):\n    total = 0\n    for item in items:\n        total += item\n    return total\n")
    folder = Folder(tmp_path)
    (asked,) = own_places(folder, authorship(folder, ("python",)), 0)
    assert asked.place.function == "f"

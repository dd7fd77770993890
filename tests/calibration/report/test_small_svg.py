"""A picture in fewer bytes is the same picture."""

import re
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.report.small_svg import small_svg

COORDINATES = st.floats(-2000, 2000).map(lambda x: round(x, 6))
FRAME = '<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg" version="1.1">{}</svg>'


def drawn(svg: str) -> list[tuple[float, float]]:
    """The points of its one path, absolute."""
    (path,) = re.findall(r' d="([^"]*)"', svg)
    points, here = [], np.zeros(2)
    for command, numbers in re.findall(r"([Mlhv])([^Mlhvz]*)", path):
        values = [float(word) for word in re.findall(r"-?[\d.]+", numbers)]
        step = {"h": [*values, 0], "v": [0, *values]}.get(command, values)
        here = np.array(step) if command == "M" else here + step
        points.append((float(here[0]), float(here[1])))
    return points


def distance(point: tuple[float, float], start: tuple[float, float], end: tuple[float, float]) -> float:
    along, away = np.subtract(end, start), np.subtract(point, start)
    at = np.clip(away @ along / (along @ along), 0, 1) if along.any() else 0.0
    return float(np.hypot(*(away - at * along)))


@given(st.lists(st.tuples(COORDINATES, COORDINATES), min_size=2, max_size=60))
def test_no_point_of_a_curve_moves_by_more_than_is_seen(points: list[tuple[float, float]]) -> None:
    path = "M " + " L ".join(f"{x} {y}" for x, y in points)
    kept = drawn(small_svg(FRAME.format(f'<path d="{path}" style="fill: none; stroke: #222222"/>')))
    if len(kept) == 1:
        kept *= 2
    for point in points:
        assert min(distance(point, *pair) for pair in pairwise(kept)) < 0.15


def test_a_straight_line_of_many_points_is_a_line_of_two() -> None:
    path = "M " + " L ".join(f"{x / 10} {x / 5}" for x in range(1000))
    assert drawn(small_svg(FRAME.format(f'<path d="{path}"/>'))) == [(0, 0), (99.9, 199.8)]


def test_a_tick_is_drawn_where_it_was_referred_to() -> None:
    mark = '<defs><path id="m1" d="M 0 0 L 0 3.5" style="stroke: #222222; stroke-width: 0.8"/></defs>'
    use = '<use xlink:href="#m1" x="{}" y="266.4" style="fill: #222222; stroke: #222222; stroke-width: 0.8"/>'
    svg = small_svg(FRAME.format(f"<g>{mark}{use.format(48.184615)}</g><g>{use.format(98.030769)}</g>"))
    assert 'd="M48.18 266.4v3.5M98.03 266.4v3.5"' in svg
    assert "<use" not in svg


def test_a_word_that_stands_twice_is_written_once() -> None:
    glyphs = "".join(f'<path id="DejaVuSans-{k}" d="M {k} 64 L 640 640 z" transform="scale(0.015625)"/>' for k in (1, 2))
    word = '<use xlink:href="#DejaVuSans-1"/><use xlink:href="#DejaVuSans-2" transform="translate(63.6 0)"/>'
    text = '<g style="fill: #222222" transform="translate({} 9) scale(0.09 -0.09)">{}{}</g>'
    svg = small_svg(FRAME.format(text.format(10, f"<defs>{glyphs}</defs>", word) + text.format(200, "", word)))
    assert svg.count('x="64"') == 1
    ids, uses = re.findall(r' id="(\w+)"', svg), re.findall(r'href="#(\w+)"', svg)
    assert sorted(ids) == sorted(set(ids))
    assert set(uses) == set(ids)


def test_what_lies_above_another_part_stays_above_it() -> None:
    parts = "".join(f'<path d="M 0 0 L 9 9" style="fill: {colour}"/>' for colour in ("#ffffff", "#222222", "#ffffff"))
    assert re.findall("fill: (#[0-9a-f]+)", small_svg(FRAME.format(parts))) == ["#ffffff", "#222222", "#ffffff"]

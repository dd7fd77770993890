"""Points, polygons and bounding boxes in the plane."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A point, or the vector that leads to it from the origin."""

    x: float
    y: float

    def __add__(self, other: Point) -> Point:
        """Return the sum of two vectors."""
        return Point(self.x + other.x, self.y + other.y)

    def __sub__(self, other: Point) -> Point:
        """Return the vector from the other point to this one."""
        return Point(self.x - other.x, self.y - other.y)

    def __mul__(self, factor: float) -> Point:
        """Return the vector stretched by a factor."""
        return Point(self.x * factor, self.y * factor)

    def dot(self, other: Point) -> float:
        """Return the dot product of two vectors."""
        return self.x * other.x + self.y * other.y

    def cross(self, other: Point) -> float:
        """Return the z component of the cross product of two vectors."""
        return self.x * other.y - self.y * other.x

    def distance(self, other: Point) -> float:
        """Return the Euclidean distance between two points."""
        return math.hypot(self.x - other.x, self.y - other.y)

    def rotated(self, angle: float) -> Point:
        """Return the point rotated about the origin by an angle in radians, counter-clockwise."""
        cos, sin = math.cos(angle), math.sin(angle)
        return Point(self.x * cos - self.y * sin, self.x * sin + self.y * cos)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with sides parallel to the axes."""

    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def around(cls, points: Iterable[Point]) -> Box:
        """Return the smallest box that contains all the points."""
        points = list(points)
        if not points:
            raise ValueError("no box is around no points")
        xs = [point.x for point in points]
        ys = [point.y for point in points]
        return cls(min(xs), min(ys), max(xs), max(ys))

    @property
    def width(self) -> float:
        """The length of the horizontal sides."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """The length of the vertical sides."""
        return self.top - self.bottom

    def contains(self, point: Point) -> bool:
        """Return whether the point lies in the box or on its border."""
        return self.left <= point.x <= self.right and self.bottom <= point.y <= self.top


class Polygon:
    """A simple polygon, given by its corners in order."""

    def __init__(self, corners: Sequence[Point]) -> None:
        if len(corners) < 3:
            raise ValueError(f"a polygon has at least 3 corners, not {len(corners)}")
        self.corners = tuple(corners)

    def edges(self) -> Iterator[tuple[Point, Point]]:
        """Yield the end points of each edge, the closing one included."""
        for i, corner in enumerate(self.corners):
            yield corner, self.corners[(i + 1) % len(self.corners)]

    def area(self) -> float:
        """Return the area by the shoelace formula."""
        return abs(sum(a.cross(b) for a, b in self.edges())) / 2

    def perimeter(self) -> float:
        """Return the sum of the lengths of all edges."""
        return sum(a.distance(b) for a, b in self.edges())

    def contains(self, point: Point) -> bool:
        """Return whether a ray from the point to the right crosses the border an odd number of times."""
        inside = False
        for a, b in self.edges():
            if (a.y > point.y) != (b.y > point.y):
                x = a.x + (point.y - a.y) * (b.x - a.x) / (b.y - a.y)
                if point.x < x:
                    inside = not inside
        return inside


def main() -> None:
    """Measure a triangle."""
    triangle = Polygon([Point(0, 0), Point(4, 0), Point(0, 3)])
    print(triangle.area(), triangle.perimeter(), triangle.contains(Point(1, 1)), Box.around(triangle.corners))


if __name__ == "__main__":
    main()

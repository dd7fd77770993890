"""A set of numbers kept as disjoint half-open intervals, in order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, order=True, slots=True)
class Interval:
    """All numbers x with start <= x < end."""

    start: float
    end: float

    def __post_init__(self) -> None:
        """Refuse an interval that ends before it starts."""
        if self.end < self.start:
            raise ValueError(f"interval ends at {self.end}, before its start {self.start}")

    @property
    def length(self) -> float:
        """The distance from start to end."""
        return self.end - self.start

    def overlaps(self, other: Interval) -> bool:
        """Return whether the two intervals share at least one number."""
        return self.start < other.end and other.start < self.end

    def intersection(self, other: Interval) -> Interval | None:
        """Return what both intervals cover, or None if they share nothing."""
        if not self.overlaps(other):
            return None
        return Interval(max(self.start, other.start), min(self.end, other.end))


class IntervalSet:
    """A mutable set of numbers. Intervals that touch are merged when they are added."""

    def __init__(self, intervals: Iterable[Interval] = ()) -> None:
        self._starts: list[float] = []
        self._ends: list[float] = []
        for interval in intervals:
            self.add(interval)

    def __iter__(self) -> Iterator[Interval]:
        """Yield the intervals from the lowest to the highest."""
        for start, end in zip(self._starts, self._ends, strict=True):
            yield Interval(start, end)

    def __len__(self) -> int:
        """Return the number of disjoint intervals."""
        return len(self._starts)

    def __contains__(self, number: float) -> bool:
        """Return whether the number lies in one of the intervals."""
        index = bisect_right(self._starts, number) - 1
        return index >= 0 and number < self._ends[index]

    def add(self, interval: Interval) -> None:
        """Add an interval and merge it with all those that it touches."""
        if interval.length == 0:
            return
        first = bisect_left(self._ends, interval.start)
        last = bisect_right(self._starts, interval.end)
        start, end = interval.start, interval.end
        if first < last:
            start = min(start, self._starts[first])
            end = max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    def remove(self, interval: Interval) -> None:
        """Remove every number of the interval from the set."""
        kept: list[Interval] = []
        for old in self:
            if not old.overlaps(interval):
                kept.append(old)
                continue
            if old.start < interval.start:
                kept.append(Interval(old.start, interval.start))
            if old.end > interval.end:
                kept.append(Interval(interval.end, old.end))
        self._starts = [interval.start for interval in kept]
        self._ends = [interval.end for interval in kept]

    def gaps(self) -> list[Interval]:
        """Return the intervals between those of the set."""
        intervals = list(self)
        return [Interval(a.end, b.start) for a, b in pairwise(intervals)]

    @property
    def total_length(self) -> float:
        """The sum of the lengths of all intervals."""
        return sum(interval.length for interval in self)


def main() -> None:
    """Merge, cut and measure a few intervals."""
    opening_hours = IntervalSet([Interval(9, 12), Interval(13, 18), Interval(12, 12.5)])
    print(list(opening_hours), opening_hours.total_length)
    opening_hours.remove(Interval(15, 16))
    print(15.5 in opening_hours, 14.5 in opening_hours, opening_hours.gaps())


if __name__ == "__main__":
    main()

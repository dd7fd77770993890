"""Which pool does the work."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass

from . import local, ray
from .interface import Answer, Finished, Item, Start


@dataclass(frozen=True, slots=True)
class Pool:
    """Processes of this machine or, where an address is given, of the Ray cluster there.

    workers: how many; by default one here, and on a cluster one for each CPU but one.
    """

    workers: int | None = None
    ray: str | None = None

    def check(self) -> None:
        """Raises PoolError where nothing listens at the cluster's address."""
        if self.ray:
            ray.check_reachable(self.ray)

    def run(
        self, start: Start[Item, Answer], items: Iterable[Item], *, max_item_s: float | None = None
    ) -> Generator[Finished[Item, Answer], None, None]:
        """Every item with its answer, in the order in which they are finished. See `local.run`."""
        if self.ray:
            return ray.run(start, items, self.ray, workers=self.workers, max_item_s=max_item_s)
        return local.run(start, items, self.workers or 1, max_item_s=max_item_s)

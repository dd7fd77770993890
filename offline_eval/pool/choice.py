"""Which pool does the work."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass

from . import local, ray, threads
from .interface import Answer, Finished, Item, Start

# So many requests are under way at a server unless the user says otherwise.
WAITING = 4


@dataclass(frozen=True, slots=True)
class Pool:
    """Processes of this machine or, where an address is given, of the Ray cluster there; threads for work that waits for a server.

    workers: how many; by default one process here, four threads, and on a cluster one for each CPU but one.
    """

    workers: int | None = None
    ray: str | None = None

    def check(self) -> None:
        """Raises PoolError where nothing listens at the cluster's address."""
        if self.ray:
            ray.check_reachable(self.ray)

    def run(
        self, start: Start[Item, Answer], items: Iterable[Item], *, max_item_s: float | None = None, waits: bool = False
    ) -> Generator[Finished[Item, Answer], None, None]:
        """Every item with its answer, in the order in which they are finished. See `local.run`.

        waits: the work function waits for a server, which has time limits of its own.
        """
        if self.ray:
            return ray.run(start, items, self.ray, workers=self.workers, max_item_s=max_item_s)
        if waits:
            return threads.run(start, items, self.workers or WAITING)
        return local.run(start, items, self.workers or 1, max_item_s=max_item_s)

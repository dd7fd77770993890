"""A cache of bounded size whose entries expire: the least recently used one makes room for a new one."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Entry(Generic[V]):
    """A value and the moment from which it is no longer valid."""

    value: V
    expires_at: float


class ExpiringCache(Generic[K, V]):
    """At most `capacity` entries, each valid for `lifetime` seconds.

    The clock is a parameter so that tests need not wait.
    """

    def __init__(self, capacity: int, lifetime: float, clock: Callable[[], float] = time.monotonic) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, not {capacity}")
        self.capacity = capacity
        self.lifetime = lifetime
        self.clock = clock
        self.hits = 0
        self.misses = 0
        self._entries: OrderedDict[K, Entry[V]] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of entries, expired ones included."""
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        """Return whether a valid entry is stored under the key, without counting as a use."""
        entry = self._entries.get(key)
        return entry is not None and entry.expires_at > self.clock()

    def get(self, key: K, default: V | None = None) -> V | None:
        """Return the value stored under the key, or the default if there is none or it has expired."""
        entry = self._entries.get(key)
        if entry is None:
            self.misses += 1
            return default
        if entry.expires_at <= self.clock():
            del self._entries[key]
            self.misses += 1
            return default
        self._entries.move_to_end(key)
        self.hits += 1
        return entry.value

    def put(self, key: K, value: V) -> None:
        """Store the value under the key and drop the least recently used entry if there are too many."""
        self._entries[key] = Entry(value, self.clock() + self.lifetime)
        self._entries.move_to_end(key)
        while len(self._entries) > self.capacity:
            self._entries.popitem(last=False)

    def get_or_compute(self, key: K, compute: Callable[[], V]) -> V:
        """Return the value stored under the key; compute and store it if there is none."""
        value = self.get(key)
        if value is None:
            value = compute()
            self.put(key, value)
        return value

    def purge(self) -> int:
        """Remove all expired entries and return how many there were."""
        now = self.clock()
        expired = [key for key, entry in self._entries.items() if entry.expires_at <= now]
        for key in expired:
            del self._entries[key]
        return len(expired)

    @property
    def hit_rate(self) -> float:
        """The share of lookups that found a valid entry; 0.0 before the first lookup."""
        total = self.hits + self.misses
        return self.hits / total if total else 0.0


def main() -> None:
    """Show that the oldest entry goes first and that an entry expires."""
    now = 0.0
    cache: ExpiringCache[str, int] = ExpiringCache(capacity=2, lifetime=10.0, clock=lambda: now)
    cache.put("one", 1)
    cache.put("two", 2)
    cache.get("one")
    cache.put("three", 3)
    print("two" in cache, "one" in cache, "three" in cache)
    now = 11.0
    print(cache.get("one"), cache.purge(), f"{cache.hit_rate:.2f}")


if __name__ == "__main__":
    main()

"""A small event bus: functions subscribe to a type of event and are called when one is published."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

E = TypeVar("E")
Subscriber = Callable[[Any], None]


@dataclass(order=True, slots=True)
class Subscription:
    """A subscriber and its place in the order of calls; higher priorities come first."""

    sort_key: tuple[int, int]
    event_type: type = field(compare=False)
    subscriber: Subscriber = field(compare=False)
    once: bool = field(default=False, compare=False)


class EventBus:
    """Calls subscribers in the order of their priority, then in the order in which they subscribed."""

    def __init__(self) -> None:
        self._subscriptions: defaultdict[type, list[Subscription]] = defaultdict(list)
        self._counter = 0

    def subscribe(self, event_type: type[E], subscriber: Callable[[E], None], *, priority: int = 0, once: bool = False) -> Subscription:
        """Call the subscriber for each event of the type; with `once`, only for the first."""
        self._counter += 1
        subscription = Subscription((-priority, self._counter), event_type, subscriber, once)
        self._subscriptions[event_type].append(subscription)
        self._subscriptions[event_type].sort()
        return subscription

    def unsubscribe(self, subscription: Subscription) -> bool:
        """Remove the subscription and return whether it was there."""
        subscriptions = self._subscriptions[subscription.event_type]
        if subscription not in subscriptions:
            return False
        subscriptions.remove(subscription)
        return True

    def publish(self, event: object) -> int:
        """Call every subscriber to the event's type or one of its bases; return how many did not fail.

        An exception in a subscriber is logged and does not keep the others from being called.
        """
        called = 0
        for subscription in self._matching(type(event)):
            if subscription.once:
                self.unsubscribe(subscription)
            try:
                subscription.subscriber(event)
            except Exception:
                logger.exception("subscriber %r failed on %r", subscription.subscriber, event)
            else:
                called += 1
        return called

    def _matching(self, event_type: type) -> list[Subscription]:
        matching: list[Subscription] = []
        for base in event_type.__mro__:
            matching.extend(self._subscriptions.get(base, []))
        return sorted(matching)

    def on(self, event_type: type[E], *, priority: int = 0) -> Callable[[Callable[[E], None]], Callable[[E], None]]:
        """Return a decorator that subscribes the function that it is applied to."""

        def decorate(function: Callable[[E], None]) -> Callable[[E], None]:
            self.subscribe(event_type, function, priority=priority)
            return function

        return decorate


@dataclass(frozen=True, slots=True)
class OrderPlaced:
    """A customer ordered something."""

    order_id: int
    total: float


def main() -> None:
    """Publish two orders to three subscribers."""
    bus = EventBus()

    @bus.on(OrderPlaced)
    def send_receipt(event: OrderPlaced) -> None:
        print(f"receipt for order {event.order_id}: {event.total:.2f}")

    @bus.on(OrderPlaced, priority=10)
    def reserve_stock(event: OrderPlaced) -> None:
        print(f"reserve stock for order {event.order_id}")

    bus.subscribe(OrderPlaced, lambda event: print("first order!", event.order_id), once=True)
    print(bus.publish(OrderPlaced(1, 19.9)), bus.publish(OrderPlaced(2, 5.0)))


if __name__ == "__main__":
    main()

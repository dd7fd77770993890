"""The tests of one request for repairs. They run while the model still looks for more, always with the best that nobody has tried."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from ...suggestion.repair.request import Repair
from ...suggestion.repair.verified import Verification, Verified, key_of, with_lines
from .found import Found

More = Callable[[Sequence[Verification]], bool]


class Trial:
    """Judges repairs of a text until enough pass. said: what the tests say, by `key_of`."""

    def __init__(
        self,
        text: str,
        judge: Callable[[str], Awaitable[Verification]],
        more: More,
        tell: Callable[[str], None],
        *,
        begins: bool,
    ) -> None:
        """judge: is given the text with a repair made. more: whether more are wanted, from what the tests say of those that were tried.

        tell: told in words how far it is. begins: whether it begins before all repairs are there.
        """
        self.said: dict[tuple[int, int, str], Verification] = {}
        self._text, self._judge, self._more, self._tell = text, judge, more, tell
        self._repairs: Sequence[Repair] = ()
        self._begins, self._are_all = begins, False
        self._news, self._on_enough = asyncio.Event(), list[Callable[[], object]]()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_enough(self) -> bool:
        """Whether so many pass that no more repairs are wanted."""
        return any(said.passed for said in self.said.values()) and not self._is_more_wanted

    def when_enough(self, stop: Callable[[], object]) -> None:
        """Have this called when no more repairs are wanted."""
        self._on_enough.append(stop)

    def know(self, found: Found) -> None:
        """What the tests said of repairs of the same text before."""
        said = {repair.suggestion.id: repair for repair in found.candidates}
        known = {name: each for name, each in found.verifications.items() if each.passed is not None and name in said}
        self.said |= {key_of(said[name]): each for name, each in known.items()}

    def offer(self, repairs: Sequence[Repair], *, all_of_them: bool = False) -> None:
        """The repairs that are there now, the best first."""
        self._repairs, self._are_all = repairs, all_of_them
        self._news.set()
        if self._task is None and (self._begins or all_of_them) and self._next() is not None:
            self._task = asyncio.create_task(self._run())

    async def of_all(self, repairs: Sequence[Repair], seconds: float, why_late: str) -> Verified:
        """What the tests say of these, which are all, once enough pass, all are judged, or the time is up. What runs then goes on."""
        self.offer(repairs, all_of_them=True)
        late = False
        if self._task is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._task
            late = self._is_more_wanted and self._next() is not None
        judged = tuple((repair, self.said[key_of(repair)]) for repair in repairs if key_of(repair) in self.said)
        return Verified(judged, tuple(repair for repair in repairs if key_of(repair) not in self.said), why_late if late else "")

    def close(self) -> None:
        """Try no more."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        while self._is_more_wanted:
            self._news.clear()
            if (repair := self._next()) is not None:
                self.said[key_of(repair)] = await self._judge(with_lines(self._text, repair.suggestion))
                tried = sum(key_of(each) in self.said for each in self._repairs)
                self._tell(f"tests: {tried} of {len(self._repairs)} repairs tried")
            elif self._are_all:
                return
            else:
                await self._news.wait()
        if self.is_enough:
            for stop in self._on_enough:
                stop()

    @property
    def _is_more_wanted(self) -> bool:
        return self._more(list(self.said.values()))

    def _next(self) -> Repair | None:
        return next((repair for repair in self._repairs if key_of(repair) not in self.said), None)

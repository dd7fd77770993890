"""A clock that stands still while the process is stopped."""

from __future__ import annotations

import pytest

from assay.offline_eval.own_code import study as active_clock
from assay.offline_eval.own_code.study import ActiveClock


class Machine:
    """A machine's clock."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


def test_time_in_which_the_process_was_stopped_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine()
    monkeypatch.setattr(active_clock, "time", machine)
    clock = ActiveClock()
    for _ in range(4):
        machine.now += 0.5
        assert clock() >= 0.5
    assert clock() == 2.0
    machine.now += 3600.0
    assert clock() <= 4.0

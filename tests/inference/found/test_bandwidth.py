"""The memory's speed is measured once, and fast."""

import time

from assay.inference.found.bandwidth import memory_bandwidth, reading_speed


def test_the_memory_is_measured_once_in_a_process() -> None:
    memory_bandwidth.cache_clear()
    first = memory_bandwidth()
    assert 0 < reading_speed() <= first
    assert 1e8 < first < 1e14
    began = time.process_time()
    assert memory_bandwidth() == first
    assert time.process_time() - began < 0.01

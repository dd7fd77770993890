"""Which cores threads may compute on."""

from pathlib import Path

import pytest

from assay.inference.llamacpp import threads
from assay.inference.llamacpp.threads import fast_cores, most_running, physical_cores


@pytest.mark.parametrize(("share", "at_most"), [("100000 100000", 1), ("50000 100000", 1), ("max 100000", 4096), ("", 4096), ("1 0", 4096)])
def test_a_container_s_share_of_time_bounds_the_threads(tmp_path: Path, share: str, at_most: int) -> None:
    (tmp_path / "cpu.max").write_text(share)
    unlimited = physical_cores(tmp_path / "absent")
    assert physical_cores(tmp_path / "cpu.max") == min(unlimited, at_most)
    assert most_running(tmp_path / "cpu.max") == min(most_running(tmp_path / "absent"), at_most)


def machine(folder: Path, files: dict[str, str]) -> tuple[Path, Path]:
    """A file without a limit, and a folder that describes processors as Linux does."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text + "\n")
    return folder / "absent", folder


@pytest.mark.parametrize(
    ("files", "fast"),
    [
        ({}, 8),
        ({"cpu_core/cpus": "0-3"}, 4),
        ({"cpu_core/cpus": "0,2-3"}, 3),
        ({"cpu_core/cpus": "100-107"}, 8),  # none of those that this process may use
        ({f"system/cpu/cpu{n}/cpu_capacity": "1024" if n < 2 else "446" for n in range(8)}, 2),
        ({f"system/cpu/cpu{n}/cpufreq/cpuinfo_max_freq": "5100000" if n < 6 else "3800000" for n in range(8)}, 6),
        ({f"system/cpu/cpu{n}/cpufreq/cpuinfo_max_freq": "5100000" if n < 6 else "4900000" for n in range(8)}, 8),
        ({f"system/cpu/cpu{n}/topology/thread_siblings_list": f"{n // 2 * 2}-{n // 2 * 2 + 1}" for n in range(8)}, 4),
    ],
)
def test_performance_cores_are_told_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], fast: int) -> None:
    monkeypatch.setattr(threads, "usable_cpus", lambda: set(range(8)))
    assert fast_cores(*machine(tmp_path, files)) == fast

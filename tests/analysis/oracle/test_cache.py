"""What is kept of a suite on disk."""

from __future__ import annotations

from pathlib import Path

from assay.analysis.oracle.cache import load, store


def test_what_is_damaged_on_disk_is_not_there(tmp_path: Path) -> None:
    content = {"outcomes": {f"test_{number}": "passed" for number in range(50)}}
    store(tmp_path, "key", "baseline", content)
    assert load(tmp_path, "key", "baseline") == content
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for at in range(len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert load(tmp_path, "key", "baseline") in (None, content)  # some bytes of the head say nothing

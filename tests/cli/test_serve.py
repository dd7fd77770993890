"""`assay serve`."""

from pathlib import Path

import pytest
from house.running import assay


@pytest.mark.slow
def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = assay("serve", "--tcp", str(port), cwd=tmp_path)
    assert ran.returncode == 1
    assert f"can't listen on port {port}" in ran.stderr
    assert "Traceback" not in ran.stderr

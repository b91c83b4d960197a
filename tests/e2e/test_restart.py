"""Commands that are under way go on when the server comes back, on whatever port."""

import subprocess
from pathlib import Path

import pytest

from e2e.conftest import Weft

pytestmark = pytest.mark.slow


@pytest.mark.heavy
def test_each_survives_a_restart_of_the_server(tmp_path: Path) -> None:
    own = Weft(tmp_path / "home")
    assert own.run("up", "--port", "0", "--detach").returncode == 0
    try:
        command = ("each", "--", "sh", "-c", "echo {}; sleep 0.05")
        with own.started(*command, stdin=subprocess.PIPE) as process:
            process.stdin.write(b"".join(b"%d\n" % n for n in range(100)))
            process.stdin.close()
            first = process.stdout.readline()
            assert own.run("down").returncode == 0
            assert own.run("up", "--port", "0", "--detach").returncode == 0
            rest = process.stdout.read()
            assert process.wait(90) == 0
    finally:
        own.run("down")

    assert (first + rest).split() == [b"%d" % n for n in range(100)]

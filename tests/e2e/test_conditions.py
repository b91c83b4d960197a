"""docs/guides/when-things-break.md does what it says, with fewer jobs and a port of its own."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from e2e.conftest import Weft, until
from e2e.test_guide import commands_of

pytestmark = [pytest.mark.slow, pytest.mark.heavy, pytest.mark.timeout(400)]
GUIDE = Path(__file__).parents[2] / "docs/guides/when-things-break.md"
N_JOBS = 30
UP = "weft up"


@pytest.fixture
def guided(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Iterator[Weft]:
    """Give a home whose weft the guide starts; nothing of it is left."""
    home = tmp_path_factory.mktemp("home")
    yield Weft(home)
    Weft(home).run("down")
    pid = tmp_path / "service.pid"
    if pid.exists():
        with suppress(ProcessLookupError):
            os.kill(int(pid.read_text()), signal.SIGKILL)


def test_commands_of_the_guide(guided: Weft, tmp_path: Path) -> None:
    (tmp_path / "weft").write_text(f'#!/bin/sh\nexec {sys.executable} -m weft.cli "$@"\n')
    (tmp_path / "weft").chmod(0o700)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    page = GUIDE.read_text().replace("8123", port).replace("count: 1000", f"count: {N_JOBS}")
    said: dict[str, str] = {}
    for command, text in commands_of(page):
        if command.startswith("cat "):
            (tmp_path / command.split()[1]).write_text(text)
            continue
        if command == "weft condition ls":
            until(lambda: _waiting(guided) == [N_JOBS])
        done = subprocess.run(
            ["bash", "-c", command.replace(UP, f"{UP} --port 0")],
            check=False,
            timeout=100,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=guided.environment({"PATH": f"{tmp_path}:{os.environ['PATH']}"}),
        )
        is_over = "test c1" in command and "does not exist" in done.stderr  # its date was first
        assert done.returncode == 0 or is_over, (command, done.stdout, done.stderr)
        said[command] = done.stdout

    assert re.search(
        rf"^c1\tconnection_failed\ttcp host=127.0.0.1 port={port}\t",
        said["weft condition ls"],
        re.MULTILINE,
    )
    assert f"tcp host=127.0.0.1 port={port}" in said["weft top"]
    assert f"with {N_JOBS - 1} others for tcp host=127.0.0.1" in said["weft why b1.j7"]
    assert "weft condition test c1" in said["weft why b1.j7"]
    until(lambda: _waiting(guided) == [])


def _waiting(weft: Weft) -> list[int]:
    """Return how many jobs wait for each condition."""
    done = weft.run("condition", "ls", "--json")
    return [one["n_jobs"] for one in json.loads(done.stdout) if one["n_jobs"]]

"""A job of all cores behind an endless stream of small ones that come before it."""

import json
import socket
from pathlib import Path

import pytest

from e2e.conftest import Weft, until

pytestmark = pytest.mark.slow


def test_a_large_job_starts_while_small_ones_that_come_first_still_wait(tmp_path: Path) -> None:
    weft, go, name = Weft(tmp_path / "home"), tmp_path / "go", socket.gethostname()

    def told(*arguments: str) -> str:
        done = weft.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    def submitted(job: dict[str, object]) -> str:
        document = json.dumps({"jobs": [{"resources": {"cpu": 1}, **job}]}).encode()
        done = weft.run("submit", "-", "--format", "json", stdin=document)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().strip()

    up = weft.run(
        "up", "--port", "0", "--worker-cpu", "2", "--detach", env={"WEFT_RESERVE_AFTER_S": "1"}
    )
    assert up.returncode == 0, up.stderr.decode()
    try:
        wait = ["sh", "-c", f"while [ ! -e {go} ]; do sleep 0.02; done"]
        stream = submitted({"command": wait, "count": 20_000})
        until(lambda: json.loads(told("status", stream, "--json"))["n_running"] >= 2)
        large = submitted({"command": ["true"], "resources": {"cpu": 2}, "priority": -1})
        until(lambda: json.loads(told("worker", "show", name, "--json"))["kept_for"] is not None)
        shown = told("worker", "show", name)
        until(lambda: "which is kept for it" in told("why", f"{large}.j1"))
        go.touch()
        waited = weft.run("wait", large)
        left = json.loads(told("status", stream, "--json"))["n_ready"]
        told("cancel", stream)
    finally:
        weft.run("down")

    assert waited.returncode == 0
    assert left > 0
    assert f"Kept for\t{large}.j1 since " in shown

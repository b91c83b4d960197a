"""A worker on which everything fails is put aside, and comes back when it works again."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contexts import fixture_of
from e2e.conftest import PROGRAM, Weft, weft_up
from weft import Client

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
WITHIN_S = 90
SETTINGS = {
    "WEFT_BLACK_HOLE_FAILURES": "2",
    "WEFT_BLACK_HOLE_BATCHES": "2",
    "WEFT_BLACK_HOLE_RETRY_S": "1",
}
own = fixture_of(lambda tmp_path: weft_up(tmp_path / "home", **SETTINGS))


@pytest.fixture
def broken(own: Weft, tmp_path: Path) -> Iterator[Path]:
    """Start a second worker, on which jobs fail while a file is there; return that file."""
    file = tmp_path / "tmp" / "broken"
    file.parent.mkdir()
    file.touch()
    options = ("--worker-name", "bad", "--worker-cpu", "1", "--worker-memory", "1Gi")
    with subprocess.Popen(
        [*PROGRAM, "worker", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=own.environment({"TMPDIR": str(file.parent)}),
    ) as process:
        try:
            yield file
        finally:
            process.terminate()


def told(own: Weft) -> dict[str, Any]:
    """Return what is said of the broken worker; nothing before it has come."""
    listed = json.loads(own.run("worker", "ls", "--json").stdout)
    return next((one for one in listed if one["worker"] == "bad"), {"state": "none"})


def until(own: Weft, client: Client, state: str) -> None:
    """Submit batches, whose jobs may fail, until the broken worker has a state."""
    for _ in range(200):
        if told(own)["state"] == state:
            return
        builder = client.create_batch()
        builder.create_job(["sh", "-c", 'test ! -e "$TMPDIR/broken" && sleep 0.02'], count=20)
        builder.submit().wait()
    raise AssertionError(told(own))


def test_a_broken_worker_is_put_aside_and_comes_back(own: Weft, broken: Path) -> None:
    with Client(home=own.home) as client:
        until(own, client, "active")
        until(own, client, "cordoned")
        aside = told(own)
        broken.unlink()
        until(own, client, "active")
    log = json.loads(own.run("pool", "log", "default", "--json").stdout)
    events = (own.home / "log" / "driver.log").read_text()

    assert aside["cordoned_by"] == "weft"
    assert (
        "in a row failed at once here, while others succeeded elsewhere" in aside["cordon_reason"]
    )
    assert sorted(one["kind"] for one in log) == ["cordon", "uncordon"]
    assert "worker.black_hole" in events

"""A job of all cores behind an endless stream of small ones that come before it."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.conftest import Weft, until

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
NAME = socket.gethostname()


class Site:
    """A weft with one worker of two cores, and a way to submit jobs of one."""

    def __init__(self, weft: Weft) -> None:
        self.weft = weft

    def told(self, *arguments: str) -> str:
        done = self.weft.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    def submitted(self, job: dict[str, object]) -> str:
        document = json.dumps({"jobs": [{"resources": {"cpu": 1}, **job}]}).encode()
        done = self.weft.run("submit", "-", "--format", "json", stdin=document)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().strip()

    def count(self, batch: str, what: str) -> int:
        return int(json.loads(self.told("status", batch, "--json"))[what])

    def kept_for(self) -> dict[str, object]:
        return json.loads(self.told("worker", "show", NAME, "--json"))["kept_for"] or {}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    weft = Weft(tmp_path_factory.mktemp("home"))
    up = weft.run(
        "up", "--port", "0", "--worker-cpu", "2", "--detach", env={"WEFT_RESERVE_AFTER_S": "1"}
    )
    assert up.returncode == 0, up.stderr.decode()
    try:
        yield Site(weft)
    finally:
        weft.run("down")


def waiting_for(path: Path) -> list[str]:
    return ["sh", "-c", f"while [ ! -e {path} ]; do sleep 0.02; done"]


def test_a_large_job_starts_while_small_ones_that_come_first_still_wait(
    site: Site, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    stream = site.submitted({"command": waiting_for(go), "count": 20_000})
    until(lambda: site.count(stream, "n_running") >= 2)
    large = site.submitted({"command": ["true"], "resources": {"cpu": 2}, "priority": -1})
    until(lambda: bool(site.kept_for()))
    shown = site.told("worker", "show", NAME)
    until(lambda: "which is kept for it" in site.told("why", f"{large}.j1"))
    go.touch()
    waited = site.weft.run("wait", large)
    left = site.count(stream, "n_ready")
    site.told("cancel", stream)

    assert waited.returncode == 0
    assert left > 0
    assert f"Kept for\t{large}.j1 since " in shown


def test_a_short_job_runs_before_a_large_one_that_has_no_room_yet(
    site: Site, tmp_path: Path
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    running = [
        site.submitted({"command": waiting_for(path), "timeout_s": 600}) for path in (one, other)
    ]
    until(lambda: sum(site.count(batch, "n_running") for batch in running) == 2)
    endless = site.submitted({"command": ["true"], "count": 20, "priority": 1})
    large = site.submitted({"command": ["true"], "resources": {"cpu": 2}, "priority": -1})
    until(lambda: site.kept_for().get("fill_until") is not None)
    shown = site.told("worker", "show", NAME)
    short = site.submitted({"command": ["true"], "timeout_s": 60})
    one.touch()
    filled = site.weft.run("wait", short)
    waiting = site.count(endless, "n_succeeded"), site.count(large, "n_succeeded")
    other.touch()
    waited = site.weft.run("wait", large)

    assert filled.returncode == 0
    assert waiting == (0, 0)
    assert waited.returncode == 0
    assert f"Kept for\t{large}.j1 since " in shown
    assert ", short jobs may run until " in shown

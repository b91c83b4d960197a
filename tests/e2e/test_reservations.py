"""A job of all cores behind an endless stream of small ones that come before it."""

import json
import socket
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from e2e.conftest import WITHIN_S, Weft, until, weft_up
from weft.settings import load_settings

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
NAME = socket.gethostname()
LIMIT_S = 30


class Site:
    """A weft with one worker of two cores, and a way to submit jobs of one."""

    def __init__(self, weft: Weft) -> None:
        self.weft = weft

    def told(self, *arguments: str) -> str:
        done = self.weft.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    def submitted(self, job: dict[str, object]) -> str:
        return self.weft.submit({"resources": {"cpu": 1}, **job})

    def count(self, batch: str, what: str) -> int:
        return int(json.loads(self.told("status", batch, "--json"))[what])

    def started_at(self, batch: str) -> datetime:
        job = json.loads(self.told("status", f"{batch}.j1", "--json"))
        return datetime.fromisoformat(job["started_at"])

    def kept_for(self) -> dict[str, object]:
        return json.loads(self.told("worker", "show", NAME, "--json"))["kept_for"] or {}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    with weft_up(home, "--worker-cpu", "2", WEFT_RESERVE_AFTER_S="1") as weft:
        yield Site(weft)


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


def test_a_large_job_starts_within_the_time_limits_there_and_a_heartbeat(
    site: Site, tmp_path: Path
) -> None:
    """Whatever fills the gap runs for as long as its limit allows."""
    go, long = tmp_path / "go", ["sleep", "600"]
    limited = site.submitted({"command": long, "timeout_s": LIMIT_S})
    other = site.submitted({"command": waiting_for(go), "timeout_s": 600})
    until(lambda: site.count(limited, "n_running") + site.count(other, "n_running") == 2)
    endless = site.submitted({"command": long, "count": 9, "priority": 1})
    large = site.submitted({"command": ["true"], "resources": {"cpu": 2}, "priority": -1})
    until(lambda: site.kept_for().get("fill_until") is not None)
    fillers = site.submitted({"command": long, "timeout_s": 10, "count": 9, "priority": 1})
    go.touch()
    waited = site.weft.run("wait", large, timeout_s=2 * WITHIN_S)
    took = site.started_at(large) - site.started_at(limited)
    n_ready = site.count(endless, "n_ready"), site.count(fillers, "n_ready")
    for batch in (endless, fillers):
        site.told("cancel", batch)

    assert waited.returncode == 0
    assert took <= timedelta(seconds=LIMIT_S + load_settings(environ={}).heartbeat_s)
    assert n_ready[0] >= 7  # the two that may start as soon as the large one has ended
    assert n_ready[1] < 9

"""A `weft up` that goes on whatever dies around it. All tests share one."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from up.weft_up import Up, client_of, get, post, processes_of, run_weft, temporary_home, up
from weft.run.home import Home
from weft.run.login import password_of

pytestmark = pytest.mark.heavy

ROLES = ("api", "driver", "worker")


@pytest.fixture(scope="module")
def weft() -> Iterator[Up]:
    with temporary_home() as home, up(home) as weft:
        weft.until_ready()
        yield weft


@pytest.mark.parametrize("role", ROLES)
def test_killed_role_is_started_again_at_once(weft: Up, role: str) -> None:
    home = weft.home
    token = client_of(home)["token"]
    before = weft.pid(role)
    os.kill(before, signal.SIGKILL)
    ended = weft.until("up.role_ended", started=role)
    after = weft.until_ready_again(role)

    assert after != before
    assert (ended["end"], ended["restart_in_s"]) == ("SIGKILL", 0)
    assert "items" in get(home, "/v1/batches")
    assert client_of(home)["token"] == token


def test_killed_api_comes_back_on_its_port(weft: Up) -> None:
    """Port 0 was asked for, but clients know the one that it got."""
    home = weft.home
    url = client_of(home)["url"]
    os.kill(weft.pid("api"), signal.SIGKILL)
    weft.until_ready_again("api")

    assert client_of(home)["url"] == url


def test_killed_database_is_started_again_and_keeps_what_was_acknowledged(weft: Up) -> None:
    home = weft.home
    batch = post(home, "/v1/batches", {"name": "kept"})
    os.kill(weft.pid("postgres"), signal.SIGKILL)
    weft.until("up.role_ended", started="postgres")
    weft.until("up.database_ready")

    assert get(home, f"/v1/batches/{batch['id']}")["name"] == "kept"


def test_second_up_on_a_live_home_is_refused(weft: Up) -> None:
    home = weft.home
    second = run_weft("up", "--home", str(home), "--port", "0")
    detached = run_weft("up", "--home", str(home), "--port", "0", "--detach")

    assert (second.returncode, detached.returncode) == (4, 4)
    assert f"weft is already running on {home}" in second.stderr
    assert str(weft.process.pid) in second.stderr
    assert "items" in get(home, "/v1/batches")


def test_two_homes_live_side_by_side(weft: Up) -> None:
    with temporary_home() as other, up(other) as two:
        url = two.until_ready()
        post(weft.home, "/v1/batches", {"name": "here"})

        assert url != client_of(weft.home)["url"]
        assert get(weft.home, "/v1/batches")["items"] != []
        assert get(other, "/v1/batches")["items"] == []


def test_no_secret_is_in_arguments_or_environment(weft: Up) -> None:
    home = weft.home
    passwords = [password_of(dsn) for dsn in Home(home).secrets().values()]
    for pid in processes_of(home):
        process = Path(f"/proc/{pid}")
        text = ""
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            text = (process / "cmdline").read_text() + (process / "environ").read_text()

        assert [word for word in [*passwords, client_of(home)["token"]] if word in text] == []


@pytest.mark.heavy
def test_leader_that_was_put_to_sleep_is_ended_and_succeeded() -> None:
    with temporary_home() as home, up(home, WEFT_DRIVERS="2", WEFT_HEARTBEAT_S="5") as weft:
        weft.until_ready()  # a driver says its state first, and then where its pid is
        weft.until_seen("driver.state_changed", state="standby")
        leader = weft.until_seen("driver.state_changed", state="leader")["role"]
        os.kill(weft.pid(leader), signal.SIGSTOP)
        asleep = weft.until("up.role_asleep")
        weft.until("driver.state_changed", state="leader")

        assert asleep["started"] == leader

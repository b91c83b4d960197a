"""`weft up` with all its real processes."""

import json
import os
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from up.weft_up import client_of, get, kill, post, processes_of, run_weft, up
from worker.spawner_process import until_gone

pytestmark = pytest.mark.slow

ROLES = ("api", "driver", "worker")


def test_up_brings_all_roles_and_ctrl_c_ends_them_all(
    home: Path, record_property: Callable[[str, object], None]
) -> None:
    with up(home) as weft:
        url = weft.until_ready()
        alive = processes_of(home)
        roles_ready = [(home / "run" / f"{role}.ready").exists() for role in ROLES]
        listed = get(home, "/v1/batches")
        limits = [Path(f"/proc/{weft.pid(role)}/limits").read_text() for role in ROLES]
        weft.signal(signal.SIGINT)
        stopped = weft.until("up.stopped")
        code = weft.finish()
        assert weft.process.stdout is not None
        said = weft.process.stdout.read()
    record_property("stop_ms", stopped["ms"])

    assert all(roles_ready)
    assert "up.role_ended" not in {event.get("event") for event in weft.events}
    assert all(re.search(r"^Max core file size +[01] ", one, re.MULTILINE) for one in limits)
    assert url == client_of(home)["url"]
    assert url in said
    assert str(home) in said
    assert listed["items"] == []
    assert code == 0
    until_gone(*alive)
    assert list((home / "run").glob("*.ready")) == []


@pytest.mark.heavy
def test_everything_killed_at_once_goes_on_at_the_next_start(home: Path) -> None:
    with up(home) as weft:
        weft.until_ready()
        token = client_of(home)["token"]
        batch = post(home, "/v1/batches", {"name": "kept"})
        everything = [weft.process.pid, *processes_of(home)]
        kill(everything)
        weft.finish()
    with up(home) as weft:
        weft.until_ready()

        assert client_of(home)["token"] == token
        assert get(home, f"/v1/batches/{batch['id']}")["name"] == "kept"


@pytest.mark.heavy
def test_killed_supervisor_takes_its_roles_and_database_with_it(home: Path) -> None:
    with up(home) as weft:
        weft.until_ready()
        others = [pid for pid in processes_of(home) if pid != weft.process.pid]
        weft.signal(signal.SIGKILL)
        weft.finish()

        assert len(others) > len(ROLES)
        until_gone(*others)


@pytest.mark.heavy
def test_next_start_takes_over_from_a_supervisor_that_was_killed_this_moment(home: Path) -> None:
    with up(home) as weft:
        weft.until_ready()
        batch = post(home, "/v1/batches", {"name": "kept"})
        weft.signal(signal.SIGKILL)
        weft.finish()
        with up(home) as again:
            again.until_ready()

            assert get(home, f"/v1/batches/{batch['id']}")["name"] == "kept"


@pytest.mark.heavy
def test_detached_up_returns_when_all_is_ready_and_down_ends_it(home: Path) -> None:
    started = run_weft("up", "--home", str(home), "--port", "0", "--detach")
    listed = get(home, "/v1/batches")
    alive = processes_of(home)
    (home / "weft.toml").write_text("port = [broken\n")
    stopped = run_weft("down", "--home", str(home))
    nothing = run_weft("down", "--home", str(home))
    (home / "weft.toml").unlink()
    plan = run_weft("db", "migrate", "--plan", "--home", str(home))

    assert (started.returncode, stopped.returncode, nothing.returncode) == (0, 0, 0)
    assert client_of(home)["url"] in started.stdout
    steps = "(weft: starting …\n)?weft: creating the database …\nweft: bringing the schema "
    assert re.match(steps, started.stderr)
    assert "  pages  weft open, " in started.stdout
    assert listed["items"] == []
    assert "has stopped" in stopped.stdout
    assert "is not running" in nothing.stdout
    assert "`weft up` starts it" in plan.stderr
    until_gone(*alive)


@pytest.mark.heavy
def test_down_ends_what_a_killed_supervisor_left(home: Path) -> None:
    """Here the roles are frozen first, so that they cannot end by themselves."""
    with up(home) as weft:
        weft.until_ready()
        left = [pid for pid in processes_of(home) if pid != weft.process.pid]
        for role in ROLES:
            os.kill(weft.pid(role), signal.SIGSTOP)
        weft.signal(signal.SIGKILL)
        weft.finish()
        down = run_weft("down", "--home", str(home))

        assert "has stopped" in down.stdout
        until_gone(*left)


def test_port_in_use_is_said_with_a_way_out(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        foreground = run_weft("up", "--home", str(home), "--port", port)
        detached = run_weft("up", "--home", str(home), "--port", port, "--detach")

    for refused in (foreground, detached):
        assert refused.returncode == 4
        assert f"port {port}" in refused.stderr
        assert "--port 0" in refused.stderr
    assert processes_of(home) == {}


def test_address_that_is_not_ours_is_refused(home: Path) -> None:
    refused = run_weft("up", "--home", str(home), "--port", "0", "--host", "203.0.113.1")

    assert refused.returncode == 4
    assert "203.0.113.1" in refused.stderr
    assert processes_of(home) == {}


@pytest.mark.heavy
def test_killed_leader_is_succeeded_by_the_standby(home: Path) -> None:
    with up(home, WEFT_DRIVERS="2") as weft:
        role_by_state: dict[str, str] = {}
        while len(role_by_state) < 2:
            changed = weft.until("driver.state_changed")
            role_by_state[changed["state"]] = changed["role"]
        weft.until_ready()
        os.kill(weft.pid(role_by_state["leader"]), signal.SIGKILL)
        succeeded = weft.until("driver.state_changed", state="leader")

        assert succeeded["role"] in role_by_state.values()


@pytest.mark.heavy
def test_ctrl_c_during_the_start_ends_everything(home: Path) -> None:
    with up(home) as weft:
        weft.until("up.role_started", started="api")
        weft.signal(signal.SIGINT)

        assert weft.finish() == 0
        assert processes_of(home) == {}


@pytest.mark.heavy
def test_closed_terminal_stops_it_in_order(home: Path) -> None:
    with up(home) as weft:
        weft.until_ready()
        weft.signal(signal.SIGHUP)
        weft.until("up.stopped")

        assert weft.finish() == 0
        assert processes_of(home) == {}


@pytest.mark.heavy
def test_long_home_gets_a_short_socket_path(home: Path) -> None:
    deep = home / ("deep" * 20) / ("deeper" * 10)
    deep.mkdir(parents=True)
    with up(deep) as weft:
        weft.until_ready()

        assert get(deep, "/v1/batches")["items"] == []
        assert (deep / "run" / "pg.json").exists()


@pytest.mark.heavy
def test_up_and_down_tell_machines_what_they_did(home: Path) -> None:
    started = run_weft("up", "--home", str(home), "--port", "0", "--detach", "--json")
    stopped = [run_weft("down", "--home", str(home), "--json") for _ in range(2)]

    assert json.loads(started.stdout)["url"].startswith("http://127.0.0.1:")
    assert json.loads(started.stdout)["home"] == str(home)
    assert [json.loads(one.stdout)["stopped"] for one in stopped] == [True, False]

"""A `weft up` that goes on whatever dies around it, and what a person sees of a role whose
database is out of reach, or whose login is the wrong one.
"""

import json
import logging
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest
import structlog
from structlog.testing import capture_logs

from up.weft_up import (
    DEADLINE_S,
    WEFT,
    Up,
    client_of,
    get,
    post,
    processes_of,
    run_weft,
    temporary_home,
    up,
)
from weft.run.home import Home
from weft.run.login import password_of
from weft.store.database import open_database

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


def test_leader_that_was_put_to_sleep_is_ended_and_succeeded() -> None:
    with temporary_home() as home, up(home, WEFT_DRIVERS="2", WEFT_HEARTBEAT_S="5") as weft:
        weft.until_ready()  # a driver says its state first, and then where its pid is
        weft.until_seen("driver.state_changed", state="standby")
        leader = weft.until_seen("driver.state_changed", state="leader")["role"]
        os.kill(weft.pid(leader), signal.SIGSTOP)
        asleep = weft.until("up.role_asleep")
        weft.until("driver.state_changed", state="leader")

        assert asleep["started"] == leader


NOBODY = "postgresql://weft_worker:hunter2@127.0.0.1:{port}/nowhere"


@contextmanager
def role(name: str, home: Path, dsn: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Run a role; its log is its stderr."""
    words = [str(WEFT), name, "--home", str(home), "--port", "0", "--database", dsn, *options]
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=DEADLINE_S)


def said(process: subprocess.Popen[str], event: str) -> Mapping[str, Any]:
    """Return the next line of the log with this event."""
    assert process.stderr is not None
    for line in process.stderr:
        found: Mapping[str, Any] = json.loads(line)
        if found["event"] == event:
            return found
    raise AssertionError(event)


@pytest.fixture
def taken() -> Iterator[socket.socket]:
    """Give a socket whose port nobody else gets, and that refuses connections until it listens."""
    with closing(socket.socket()) as result:
        result.bind(("127.0.0.1", 0))
        yield result


@pytest.mark.parametrize("name", ROLES)
def test_role_without_its_database_says_so_and_tries_again(
    home: Path, taken: socket.socket, name: str
) -> None:
    port = taken.getsockname()[1]
    with role(name, home, NOBODY.format(port=port)) as process:
        line = said(process, "database.unreachable")
        taken.listen()
        taken.settimeout(DEADLINE_S)
        again, _ = taken.accept()
        again.close()

    assert line["error"] == "could not reach the database; trying again"
    assert "No server accepts connections there" in line["detail"]
    assert "host and port" in line["hint"]
    assert (line["database"], line["level"]) == (f"127.0.0.1:{port}/nowhere", "warning")
    assert "hunter2" not in str(line)


def test_role_whose_database_is_silent_says_what_it_waits_for(
    home: Path, taken: socket.socket
) -> None:
    """It is told long before the connection times out."""
    taken.listen()
    with role("worker", home, NOBODY.format(port=taken.getsockname()[1])) as process:
        line = said(process, "database.unreachable")

    assert line["error"] == "the database has not answered yet; trying again"


def test_on_a_terminal_an_outage_is_told_in_sentences(home: Path, taken: socket.socket) -> None:
    port = taken.getsockname()[1]
    with role("worker", home, NOBODY.format(port=port), "--log-format", "console") as process:
        assert process.stderr is not None
        lines = [process.stderr.readline().rstrip() for _ in range(4)]

    assert "database.unreachable" in lines[0]
    assert lines[1] == "    could not reach the database; trying again"
    assert lines[3].startswith("    Check that the server runs")


@pytest.mark.parametrize(
    ("name", "login"), [("worker", "weft_api"), ("driver", "weft_worker"), ("api", "weft_driver")]
)
def test_login_of_another_role_is_refused(
    home: Path, database: dict[str, str], name: str, login: str
) -> None:
    words = (name, "--home", str(home), "--port", "0", "--database", database[login])
    done = run_weft(*words)
    (line,) = [json.loads(text) for text in done.stderr.splitlines() if "role.failed" in text]

    assert (done.returncode, line["code"]) == (4, "STORE.WRONG_LOGIN")
    assert line["error"] == f"this role needs the login weft_{name}"
    assert line["detail"] == (
        f"The setting `database` logs in as {login}, which may not act as weft_{name}."
    )


async def test_log_says_when_a_database_goes_away_and_when_it_is_back(
    own_database: dict[str, str],
) -> None:
    """The same reason is told once."""
    name = urlsplit(own_database["admin"]).path.strip("/")
    owner = await asyncpg.connect(own_database["admin"].replace(f"/{name}?", "/postgres?"))
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))
    with capture_logs() as told:
        async with open_database(
            own_database["weft_worker"], connections_max=1, timeout_s=DEADLINE_S
        ) as store:
            await owner.execute(f"ALTER DATABASE {name} RENAME TO {name}_away")
            for _ in range(2):
                with pytest.raises(Exception, match="does not exist"):
                    await store.call("schema_range")
            await owner.execute(f"ALTER DATABASE {name}_away RENAME TO {name}")
            for _ in range(2):
                await store.call("schema_range")
    await owner.close()
    events = [one["event"] for one in told if one["event"].startswith("database.")]

    assert events == ["database.unreachable", "database.reached"]

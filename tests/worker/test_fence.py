"""The spawner stops its jobs by itself when nobody renews them."""

import select
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from weft.core.states import Reason
from weft.wire.spawner import ProcessEnd, Renew, Start, frame
from weft.worker import boottime
from weft.worker.spawner import fence
from weft.worker.spawner.loop import EventLoop
from worker.spawner_process import (
    PATH,
    SUSPENDED_S,
    Agent,
    SpawnerProcess,
    can_suspend,
    clocks_of_timers,
    process,
)

NOT_READY = b"E\0\0\0\x48SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"
READY = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0"
MS = 1_000_000


def renew(agent: Agent, *, after_s: float, database: Path | None = None) -> None:
    until_ns = boottime.now_ns() + int(after_s * 1000) * MS
    agent.send(Renew(until_ns, str(database or ""), 2500 * MS))


def started_ns(agent: Agent) -> int:
    """Start a job that runs for long; return when."""
    agent.start(process(1, "sleep", "60"))
    return agent.until_started(1).started_ns


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """Be a server that accepts connections and, for now, says nothing."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        server.settimeout(20)
        yield server


def answer(server: socket.socket, words: bytes) -> None:
    connection, _ = server.accept()
    with connection:
        assert connection.recv(1024)
        connection.sendall(words)


def test_jobs_that_are_not_renewed_are_killed(agent: Agent) -> None:
    begun_ns = started_ns(agent)
    renew(agent, after_s=0.5)
    ended = agent.until_ended(1)

    assert ended.killed_for == Reason.LOST
    assert ended.ended_ns - begun_ns > 400 * MS


def test_nothing_is_started_until_the_next_renewal(agent: Agent) -> None:
    """An agent that was asleep may send jobs that others have been given meanwhile."""
    started_ns(agent)
    renew(agent, after_s=0.1)
    agent.until_ended(1)
    agent.start(process(2, "true"))
    late = agent.until_ended(2)
    renew(agent, after_s=60)

    assert (late.killed_for, late.started_ns) == (Reason.LOST, 0)
    assert agent.run("true", job_id=3).exit_code == 0


def killed_after_s(agent: Agent, since: float) -> float:
    ended: ProcessEnd = agent.until_ended(1)
    assert ended.killed_for == Reason.LOST
    return time.monotonic() - since


@pytest.mark.heavy
def test_jobs_go_on_while_a_database_of_this_host_is_gone(agent: Agent, tmp_path: Path) -> None:
    started_ns(agent)
    renew(agent, after_s=0.2, database=tmp_path / "s")
    went_on = not agent.has_ended(1, within_s=5)
    back_at = time.monotonic()
    with listening(tmp_path / "s") as server:
        answer(server, NOT_READY)
        answer(server, READY)
        answer(server, READY)
        took_s = killed_after_s(agent, back_at)

    assert went_on
    assert took_s > 2


@pytest.mark.heavy
def test_jobs_go_on_while_a_database_of_this_host_sleeps(agent: Agent, tmp_path: Path) -> None:
    with listening(tmp_path / "s") as server:
        started_ns(agent)
        renew(agent, after_s=4, database=tmp_path / "s")
        went_on = not agent.has_ended(1, within_s=8)
        awake_at = time.monotonic()
        answer(server, READY)
        answer(server, READY)
        # The answer to a heartbeat from before the sleep, which must not end the jobs either.
        agent.send(Renew(boottime.now_ns() - 1000 * MS, str(tmp_path / "s"), 2500 * MS))
        took_s = killed_after_s(agent, awake_at)

    assert went_on
    assert took_s > 1


def test_fence_counts_the_time_of_a_suspension(agent: Agent, spawner: SpawnerProcess) -> None:
    """A timer of this clock fires as soon as the host is awake again."""
    assert clocks_of_timers(spawner.pid) == {time.CLOCK_BOOTTIME}
    assert agent.run("true").exit_code == 0


@pytest.mark.skipif(not can_suspend(), reason="the kernel lends no time namespace")
def test_jobs_that_were_not_renewed_before_a_suspension_are_killed(short_path: Path) -> None:
    with SpawnerProcess(short_path, after_suspension=True) as spawner:
        agent = spawner.connect()
        begun_ns = started_ns(agent)
        renew(agent, after_s=SUSPENDED_S / 2)
        ended = agent.until_ended(1)

    assert ended.killed_for == Reason.LOST
    assert ended.ended_ns > begun_ns


def test_a_renewal_that_is_over_lets_nothing_start(agent: Agent, tmp_path: Path) -> None:
    """As one that a database answered late: both come in one piece."""
    start = Start([{"PATH": PATH}], [process(1, "touch", str(tmp_path / "ran"))])
    over = Renew(boottime.now_ns() - MS, "", 2500 * MS)
    agent.send_bytes(frame(over) + frame(start))

    assert agent.until_ended(1).killed_for == Reason.LOST
    assert not (tmp_path / "ran").exists()


def test_a_renewal_without_end_lifts_one_that_is_over(agent: Agent) -> None:
    over = Renew(boottime.now_ns() - MS, "", 2500 * MS)
    agent.send_bytes(frame(over) + frame(Renew(0)))

    assert agent.run("true").killed_for is None


def test_timer_is_due_if_it_was_stopped_while_set(monkeypatch: pytest.MonkeyPatch) -> None:
    look, timer = boottime.now_ns, boottime.BoottimeTimer()
    looks = iter([look(), look() - 60_000 * MS])
    monkeypatch.setattr(boottime, "now_ns", lambda: next(looks, 0) or look())
    timer.set(look() + MS)

    assert select.select([timer.fd], [], [], 20)[0]


class DueTimer(boottime.BoottimeTimer):
    """Rings at once, whenever it is set: the times of a test are not those of this machine, which
    may have been started a minute ago.
    """

    def set(self, due_ns: int) -> None:
        del due_ns
        super().set(1)


class Host:
    """A fence on a host whose clocks a test moves. Its timer is always due."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 1_000_000 * MS
        self.suspended_ns = 0
        monkeypatch.setattr(fence, "now_ns", lambda: self.now_ns)
        monkeypatch.setattr(fence, "suspended_ns", lambda: self.suspended_ns)
        monkeypatch.setattr(fence, "BoottimeTimer", DueTimer)
        self._loop = EventLoop()
        self.fence = fence.Fence(self._loop, lambda: None)
        self.database: socket.socket | None = None
        self.words = READY
        """What the database answers."""

    def renew(self, *, after_s: float, database: Path | None) -> None:
        """Confirm the worker."""
        until_ns = self.now_ns + int(after_s * 1000) * MS
        self.fence.renew(Renew(until_ns, str(database or ""), 2500 * MS))

    def is_killing(self, *, after_s: float, suspended: bool = False) -> bool:
        """Say whether the jobs are killed after this time."""
        passed_ns = int(after_s * 1000) * MS
        self.now_ns += passed_ns
        self.suspended_ns += passed_ns if suspended else 0
        self._loop.turn(None)
        asked = [] if self.database is None else select.select([self.database], [], [], 0)[0]
        for server in [] if self.fence.has_expired else asked:
            answer(server, self.words)
            self._loop.turn(None)
        return self.fence.has_expired


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    one = Host(monkeypatch)
    yield one
    one.fence.renew(Renew(0))


@pytest.mark.parametrize(
    "words", [READY, b"E\0\0\0\x10C53300\0too many clients"], ids=["ready", "busy"]
)
def test_jobs_do_not_go_on_while_the_database_answers(
    host: Host, tmp_path: Path, words: bytes
) -> None:
    host.words = words
    with listening(tmp_path / "s") as host.database:
        host.renew(after_s=27, database=tmp_path / "s")

        assert not any(host.is_killing(after_s=one) for one in (24, 1, 1))
        assert host.is_killing(after_s=1)


def test_suspension_counts_if_the_database_is_elsewhere(host: Host) -> None:
    host.renew(after_s=27, database=None)

    assert not host.is_killing(after_s=20)
    assert host.is_killing(after_s=3600, suspended=True)


def test_database_of_this_host_sleeps_with_it(host: Host, tmp_path: Path) -> None:
    """The agent has some seconds to reach it; later silence counts as it always does."""
    with listening(tmp_path / "s") as host.database:
        host.renew(after_s=27, database=tmp_path / "s")

        assert not host.is_killing(after_s=3600, suspended=True)
        assert not host.is_killing(after_s=1)
        host.renew(after_s=27, database=tmp_path / "s")
        assert not host.is_killing(after_s=20)
        assert host.is_killing(after_s=8)


def test_heartbeat_from_before_a_suspension_ends_no_jobs(host: Host, tmp_path: Path) -> None:
    """Its answer may be read before the timer."""
    with listening(tmp_path / "s") as host.database:
        host.renew(after_s=27, database=tmp_path / "s")
        host.now_ns += 3_600_000 * MS
        host.suspended_ns += 3_600_000 * MS
        host.renew(after_s=-3500, database=tmp_path / "s")

        assert not host.is_killing(after_s=1)
        assert host.is_killing(after_s=3)

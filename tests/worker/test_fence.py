"""The spawner stops its jobs by itself when nobody renews them."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from weft.core.states import Reason
from weft.wire.spawner import Ended, Renew
from worker.spawner_process import Agent, process

NOT_READY = b"E\0\0\0\x48SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"
READY = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0"
MS = 1_000_000


def renew(agent: Agent, *, after_s: float, database: Path | None = None) -> None:
    until_ns = time.monotonic_ns() + int(after_s * 1000) * MS
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
    assert 400 * MS < ended.ended_ns - begun_ns < 5000 * MS


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
    ended: Ended = agent.until_ended(1)
    assert ended.killed_for == Reason.LOST
    return time.monotonic() - since


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


def test_jobs_go_on_while_a_database_of_this_host_sleeps(agent: Agent, tmp_path: Path) -> None:
    with listening(tmp_path / "s") as server:
        started_ns(agent)
        renew(agent, after_s=4, database=tmp_path / "s")
        went_on = not agent.has_ended(1, within_s=8)
        awake_at = time.monotonic()
        answer(server, READY)
        answer(server, READY)
        # The answer to a heartbeat from before the sleep, which must not end the jobs either.
        agent.send(Renew(time.monotonic_ns() - 1000 * MS, str(tmp_path / "s"), 2500 * MS))
        took_s = killed_after_s(agent, awake_at)

    assert went_on
    assert took_s > 1


@pytest.mark.parametrize("words", [READY, b"E\0\0\0\x10C53300\0too many clients"])
def test_jobs_do_not_go_on_while_the_database_answers(
    agent: Agent, tmp_path: Path, words: bytes
) -> None:
    with listening(tmp_path / "s") as server:
        started_ns(agent)
        renew(agent, after_s=0.9, database=tmp_path / "s")
        begun = time.monotonic()
        answer(server, words)

        assert killed_after_s(agent, begun) < 3

"""The embedded server, with real processes and real kills."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import pytest

from contexts import connected, scratch
from weft.store.embedded import EmbeddedServer, EmbeddedServerFailed
from weft.store.embedded.account import NoUserName, check_user_name
from weft.store.embedded.leftovers import server_pids
from worker.spawner_process import until_gone

PASSWORD = "a password"
LEAVE_IT = """
import sys
from pathlib import Path
from weft.store.embedded import EmbeddedServer
EmbeddedServer(Path(sys.argv[1]), Path(sys.argv[2])).start()
print("started", flush=True)
sys.stdin.read()
"""


def test_user_without_a_name_is_told_what_to_do() -> None:
    """Such as one that a container was started with by its number."""
    check_user_name(os.geteuid())
    with pytest.raises(NoUserName, match="user 54321 has no name") as refused:
        check_user_name(54321)

    assert "`weft:x:54321:54321::/:/bin/sh` to its /etc/passwd" in refused.value.hint


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    with scratch("weft-embedded-") as base:
        server = EmbeddedServer(base / "pg", base / "run")
        server.initialise(PASSWORD, durable=False)
        yield server
        server.stop(fast=False)


def ask(server: EmbeddedServer, question: str, password: str = PASSWORD) -> object:
    async def run() -> object:
        async with connected(server.dsn("postgres", password)) as connection:
            return await connection.fetchval(question)

    return asyncio.run(run())


def test_it_is_safe_and_asks_for_the_password(server: EmbeddedServer) -> None:
    server.start()

    assert ask(server, "SELECT current_setting('server_version_num')::int / 10000") == 18
    for name in ("fsync", "synchronous_commit", "full_page_writes", "data_checksums"):
        assert ask(server, f"SHOW {name}") == "on"
    assert ask(server, "SHOW listen_addresses") == ""
    assert ask(server, "SHOW server_encoding") == "UTF8"
    with pytest.raises(asyncpg.InvalidPasswordError):
        ask(server, "SELECT 1", password="another")


@pytest.mark.heavy
def test_only_its_user_and_we_reach_its_files(server: EmbeddedServer) -> None:
    server.start()

    assert server.data_dir.stat().st_mode & 0o077 == 0
    assert server.socket_dir.stat().st_mode & 0o077 == 0


def test_what_was_committed_survives_a_kill_of_everything(server: EmbeddedServer) -> None:
    server.start()
    ask(server, "CREATE TABLE kept AS SELECT 42 AS answer")
    pids = list(server_pids(server.data_dir))
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    server._process.wait()  # type: ignore[union-attr]  # it was started
    server.start()

    assert ask(server, "SELECT answer FROM kept") == 42


@pytest.mark.heavy
def test_orphans_of_a_killed_postmaster_do_not_prevent_the_next_start(
    server: EmbeddedServer,
) -> None:
    """A backend that is busy survives its postmaster and keeps the shared memory in use."""
    process = server.start()

    async def kill_beside_a_busy_backend() -> list[int]:
        connection = await asyncpg.connect(server.dsn("postgres", PASSWORD))
        busy = asyncio.create_task(
            connection.fetch("SELECT count(*) FROM generate_series(1, 1e12::bigint)")
        )
        backend = connection.get_server_pid()
        watcher = await asyncpg.connect(server.dsn("postgres", PASSWORD))
        async with asyncio.timeout(60):
            while not await watcher.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND state = 'active'",
                backend,
            ):
                pass
        await watcher.close()
        process.kill()
        process.wait()
        orphans = [pid for pid in server_pids(server.data_dir) if pid == backend]
        server.start()
        await asyncio.gather(busy, return_exceptions=True)
        return orphans

    orphans = asyncio.run(kill_beside_a_busy_backend())

    assert len(orphans) == 1
    until_gone(*orphans)
    assert ask(server, "SELECT 1") == 1


def test_pid_file_that_names_another_process_does_not_prevent_the_start(
    server: EmbeddedServer,
) -> None:
    """After a restart of the machine the number may belong to anybody."""
    lines = f"{os.getppid()}\n{server.data_dir}\n1\n5432\n{server.socket_dir}\n\n0 0\nready\n"
    (server.data_dir / "postmaster.pid").write_text(lines)
    server.socket_dir.mkdir(exist_ok=True)
    (server.socket_dir / ".s.PGSQL.5432.lock").write_text(lines)
    server.start()

    assert ask(server, "SELECT 1") == 1


@contextmanager
def started_in_another_process(server: EmbeddedServer) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", LEAVE_IT, server.data_dir, server.socket_dir],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"started\n"
        yield other
        other.kill()


@pytest.mark.heavy
def test_server_of_somebody_else_is_ended_first(server: EmbeddedServer) -> None:
    with started_in_another_process(server):
        before = server.pid
        process = server.start()

        assert before not in (None, process.pid)
        assert server.pid == process.pid


@pytest.mark.heavy
def test_server_ends_when_its_supervisor_is_killed(server: EmbeddedServer) -> None:
    with started_in_another_process(server) as other:
        pids = list(server_pids(server.data_dir))
        other.kill()

        assert pids
        until_gone(*pids)


@pytest.mark.heavy
def test_killed_initialisation_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "pg", tmp_path / "run")
    half_made = tmp_path / "pg.new"
    half_made.mkdir()
    (half_made / "PG_VERSION").write_text("18")

    before = server.is_initialised
    server.initialise(PASSWORD, durable=False)

    assert (before, server.is_initialised) == (False, True)
    assert not half_made.exists()


def test_too_long_socket_path_is_refused_with_its_limit(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "pg", tmp_path / ("x" * 100))
    server.initialise(PASSWORD, durable=False)

    with pytest.raises(EmbeddedServerFailed, match="too long") as caught:
        server.start()
    assert "107" in caught.value.detail


def test_start_that_fails_says_what_the_server_said(server: EmbeddedServer) -> None:
    with pytest.raises(EmbeddedServerFailed) as caught:
        server.start(options=("shared_buffers=nonsense",))

    assert "shared_buffers" in caught.value.detail


def test_ctrl_c_at_our_terminal_does_not_reach_it(server: EmbeddedServer) -> None:
    process = server.start()

    assert os.getsid(process.pid) == process.pid

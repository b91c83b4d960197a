"""A primary and its streaming standby. One address leads to the one that is in charge."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faults.books import query_at
from faults.waiting import until
from up.external_server import (
    INSTALLED,
    PASSWORD,
    SUPERUSER,
    ExternalServer,
    external_server,
    start_server,
)
from up.weft_up import kill
from weft.store.embedded.account import server_account
from weft.store.embedded.leftovers import server_pids
from weft.store.embedded.server import _program

SENDERS = "SELECT pid, sync_state FROM pg_stat_replication WHERE state = 'streaming'"
SKIP_NUMBERS = """SELECT setval(pg_get_serial_sequence('weft.batch', 'batch_id'),
    (SELECT coalesce(max(batch_id), 0) + 1000000 FROM weft.batch))"""
"""As docs/operations/high-availability.md says for a standby that may lack commits."""


class Pair:
    """Two servers; `dsn` is the way of weft to one of them."""

    def __init__(self, primary: ExternalServer) -> None:
        self._primary = primary
        self._standby = ExternalServer(primary.data.with_name("standby"))
        self._address = primary.data.with_name("address")
        self._address.symlink_to(primary.data)
        self.dsn = ExternalServer(self._address).dsn()

    @contextmanager
    def following(self, program: Path) -> Iterator[None]:
        """Run the standby, made from a copy of the primary."""
        data, account = self._standby.data, server_account(self._primary.data)
        data.mkdir(mode=0o700)
        account.give(data)
        subprocess.run(
            [
                program.with_name("pg_basebackup"),
                "-D",
                data,
                "-h",
                self._primary.data,
                "-U",
                SUPERUSER,
                "-R",
                "-X",
                "stream",
                "-c",
                "fast",
                "--no-sync",
            ],
            check=True,
            cwd=data,
            env={"PGPASSWORD": PASSWORD},
            **account.popen_options(),
        )
        (data / ".s.PGSQL.5432.lock").unlink()  # of the primary, whose socket is there too
        process = start_server(program, data)
        try:
            until(self._senders, "the standby follows")
            yield
        finally:
            process.kill()
            process.wait()

    def _senders(self) -> dict[int, str]:
        return dict(query_at(self._primary.dsn(), SENDERS))

    def wait_for_standby(self) -> None:
        """Let each commit wait for the standby."""
        query_at(self._primary.dsn(), "ALTER SYSTEM SET synchronous_standby_names = '*'")
        query_at(self._primary.dsn(), "SELECT pg_reload_conf()")
        until(lambda: "sync" in self._senders().values(), "the standby is synchronous")

    def hold_back(self) -> None:
        """Send nothing more to the standby."""
        for pid in self._senders():
            os.kill(pid, signal.SIGSTOP)

    def fail_over(self, *, lags: bool) -> None:
        """Kill the primary and put the standby in charge, by the steps of the documentation."""
        kill(server_pids(self._primary.data))
        query_at(self._standby.dsn(), "SELECT pg_promote()")
        if lags:
            query_at(self._standby.dsn(), SKIP_NUMBERS)
        moved = self._address.with_name("moved")
        moved.symlink_to(self._standby.data)
        moved.rename(self._address)


@contextmanager
def replicated() -> Iterator[Pair]:
    """Give a pair, of the distribution's PostgreSQL if it is there."""
    program = (
        INSTALLED[-1] if INSTALLED else _program("postgres", server_account(Path("/nonexistent")))
    )
    with external_server(program) as primary:
        pair = Pair(primary)
        with pair.following(program):
            yield pair

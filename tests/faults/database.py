"""A PostgreSQL of our own that a test can stop and start again, as an external one."""

import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from contexts import scratch
from up.weft_up import kill
from weft.store.embedded import EmbeddedServer, new_password
from weft.store.embedded.leftovers import server_pids

FAST = ("fsync=off", "full_page_writes=off", "max_connections=60")


class StoppableServer:
    """A server that nobody but the test supervises."""

    def __init__(self, base: Path) -> None:
        self._data = base / "pg"
        self._server = EmbeddedServer(self._data, base / "run")
        password = new_password()
        self._server.initialise(password, durable=False)
        self.dsn = self._server.dsn("postgres", password)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it is ready."""
        self._process = self._server.start(options=FAST)

    def stop(self) -> None:
        """Stop it as an administrator does: sessions are ended, everything is written out."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        self._process.wait()

    def pids(self) -> Iterable[int]:
        """Return those of all of its processes."""
        return server_pids(self._data)

    def kill(self) -> None:
        """Kill all of its processes."""
        if self._process is None:
            return
        kill(list(self.pids()))
        self._process.wait()


@contextmanager
def stoppable_server() -> Iterator[StoppableServer]:
    """Give a server that runs."""
    with scratch("weft-fault-") as base:
        server = StoppableServer(base)
        try:
            server.start()
            yield server
        finally:
            server.kill()

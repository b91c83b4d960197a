"""A real agent process on a real database, without the rest of weft."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from weft.plugins.runners.spawner.start import is_locked
from weft.run.home import Home
from worker.spawner_process import AFTER_SUSPENSION, DEADLINE_S, until_gone


class AgentProcess:
    """`python -m weft.run.worker` on a home of its own."""

    def __init__(
        self, root: Path, dsns: dict[str, str], *, after_suspension: bool = False, **settings: str
    ) -> None:
        self.home = Home(root / "home")
        self.home.prepare()
        self.home.write_secrets(dsns)
        self._settings = {"WEFT_WORKER_NAME": "w", "WEFT_WORKER_CPU_M": "2000", **settings}
        self._prefix = AFTER_SUSPENSION if after_suspension else ()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it says that it is ready."""
        ready = self.home.run / "worker-w.ready"
        ready.unlink(missing_ok=True)
        self.process = self._begin()
        deadline = time.monotonic() + DEADLINE_S
        while not ready.exists():
            assert self.process.poll() is None, self.log()
            assert time.monotonic() < deadline, self.log()

    def _begin(self) -> subprocess.Popen[bytes]:
        with (self.home.role_logs / "worker.log").open("ab") as log:
            return subprocess.Popen(
                [*self._prefix, sys.executable, "-m", "weft.run.worker"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "WEFT_HOME": str(self.home.path), **self._settings},
            )

    def run_another(self) -> int:
        """Start one more beside it, which ends by itself; return its exit code."""
        with self._begin() as other:
            try:
                return other.wait(DEADLINE_S)
            finally:
                other.kill()

    def log(self) -> str:
        """Return what it said."""
        return (self.home.role_logs / "worker.log").read_text()

    def kill(self) -> None:
        """Kill the agent; its spawner lives."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(DEADLINE_S)

    def spawner_pids(self) -> list[int]:
        """Return the spawner and who holds its namespace."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_bytes()
                except OSError:
                    continue
                if b"weft.worker.spawner" in words and bytes(self.home.run) in words:
                    found.append(int(entry.name))
        return found

    def kill_spawner(self) -> None:
        """Kill the spawner at once."""
        pids = self.spawner_pids()
        assert pids
        for pid in pids:
            with suppress(ProcessLookupError):  # who holds the namespace takes the spawner along
                os.kill(pid, signal.SIGKILL)
        until_gone(*pids)

    def stop(self) -> None:
        """Stop as the supervisor does."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(DEADLINE_S)

    def end(self) -> None:
        """Leave nothing behind, whatever the test did."""
        self.stop()
        pids = self.spawner_pids()
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        until_gone(*pids)
        assert not is_locked(self.home.run / "spawner-w.lock")

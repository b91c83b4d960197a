"""A Ray of the tests: a head and a node of the resource `side` (`tests/servers/ray.sh`)."""

import json
import os
import signal
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from servers.on_this_host import running, start

START_S = 600
PORT = 28900


class RayCluster:
    """A cluster that runs."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.address = f"http://127.0.0.1:{PORT}"

    def ask(self, method: str, path: str) -> Any:  # noqa: ANN401 (a document of Ray's)
        """Call Ray's API."""
        request = urllib.request.Request(f"{self.address}/api/{path}", method=method)  # noqa: S310 (ours)
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 (ours)
            return json.load(answer)

    def jobs(self) -> list[Any]:
        """Return the jobs of gateways."""
        return [one for one in self.ask("GET", "jobs/") if one["submission_id"]]

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[None]:
        """Let Ray answer nobody; what it is asked meanwhile, it does afterwards."""
        (dashboard,) = (
            int(one.name)
            for one in Path("/proc").iterdir()
            if one.name.isdecimal() and self._is_dashboard(one)
        )
        os.kill(dashboard, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(dashboard, signal.SIGCONT)

    def _is_dashboard(self, process: Path) -> bool:
        try:
            words = (process / "cmdline").read_text()
        except OSError:
            return False
        return "dashboard/dashboard.py" in words and str(self.directory) in words

    def start(self) -> None:
        """Start what does not run of it."""
        start("Ray", self.directory, PORT, within_s=START_S)

    def kill(self, process: str) -> None:
        """Kill all of `head` or `side`, and what it runs, at once; as a host that loses power."""
        pid = int((self.directory / "run" / f"{process}.pid").read_text().split()[0])
        os.killpg(pid, signal.SIGKILL)

    def end(self, number: str) -> None:
        """Remove a job, which is stopped first."""
        try:
            while self.ask("GET", f"jobs/{number}")["status"] in {"PENDING", "RUNNING"}:
                self.ask("POST", f"jobs/{number}/stop")
            self.ask("DELETE", f"jobs/{number}")
        except HTTPError as error:
            if error.code != 404:
                raise

    def purge(self) -> None:
        """Remove all jobs."""
        for one in self.jobs():
            self.end(one["submission_id"])


@contextmanager
def ray_cluster() -> Iterator[RayCluster]:
    """Run a cluster; skip the test where there cannot be one."""
    with running("Ray", PORT, within_s=START_S) as directory:
        yield RayCluster(directory)

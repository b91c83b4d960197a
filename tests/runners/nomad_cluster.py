"""A Nomad of the tests: server and client in one process (`tests/servers/nomad.sh`)."""

import json
import os
import shutil
import signal
import subprocess
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "servers" / "nomad.sh"
START_S = 1800
PORT = 17946


class NomadCluster:
    """A cluster that runs."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.address = f"http://127.0.0.1:{PORT}"

    def ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 (a document of Nomad's)
        """Call Nomad's API."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}/v1/{path}", method=method, data=data)  # noqa: S310 (ours)
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 (ours)
            return json.load(answer)

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[None]:
        """Let Nomad answer nobody; what it is asked meanwhile, it does afterwards."""
        pid = int((self.directory / "run" / "nomad.pid").read_text().split()[0])
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def purge(self) -> None:
        """Remove all jobs."""
        for one in self.ask("GET", "jobs"):
            name = urllib.request.quote(one["ID"], safe="")  # type: ignore[attr-defined]
            self.ask("DELETE", f"job/{name}?purge=true")


@contextmanager
def nomad_cluster() -> Iterator[NomadCluster]:
    """Run a cluster; skip the test where there cannot be one."""
    directory = Path(mkdtemp(prefix="weft-nomad-"))
    try:
        try:
            subprocess.run(
                [SCRIPT, "start", str(directory), str(PORT)],
                check=True, capture_output=True, timeout=START_S,
            )  # fmt: skip
        except (subprocess.CalledProcessError, OSError) as error:
            said = getattr(error, "stderr", b"") or b""
            pytest.skip(f"Nomad cannot be started: {said.decode()[-300:]}")
        yield NomadCluster(directory)
    finally:
        subprocess.run([SCRIPT, "stop", str(directory)], check=False, timeout=300)
        shutil.rmtree(directory, ignore_errors=True)

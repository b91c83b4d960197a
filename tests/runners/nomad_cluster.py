"""A Nomad of the tests: server and client in one process (`tests/servers/nomad.sh`)."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any

from servers.on_this_host import running, stopped

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

    def stopped(self) -> AbstractAsyncContextManager[None]:
        """Let Nomad answer nobody."""
        return stopped(self.directory, "nomad")

    def purge(self) -> None:
        """Remove all jobs."""
        for one in self.ask("GET", "jobs"):
            name = urllib.request.quote(one["ID"], safe="")  # type: ignore[attr-defined]
            self.ask("DELETE", f"job/{name}?purge=true")


@contextmanager
def nomad_cluster() -> Iterator[NomadCluster]:
    """Run a cluster; skip the test where there cannot be one."""
    with running("Nomad", PORT, within_s=START_S) as directory:
        yield NomadCluster(directory)

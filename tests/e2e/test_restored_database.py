"""A database that is older than what its gateway and Slurm have, as after a restore."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import PROGRAM, Weft, until
from runners.slurm_cluster import SlurmCluster, slurm_cluster

pytestmark = [pytest.mark.engine(name="slurm"), pytest.mark.timeout(900)]
SMALL = {"cpu": "100m", "memory": "16Mi"}


class Site:
    """A server that can go back in time, and a gateway that does not."""

    def __init__(self, weft: Weft, cluster: SlurmCluster, path: Path) -> None:
        self.weft = weft
        self.cluster = cluster
        self.path = path
        self.log = path / "gateway.log"

    def do(self, *arguments: str, stdin: bytes | None = None, timeout_s: float = 300) -> str:
        return self.weft.told(*arguments, stdin=stdin, timeout_s=timeout_s).decode()

    def told(self, *arguments: str) -> Any:  # noqa: ANN401 (what the command prints)
        return json.loads(self.do(*arguments, "--json"))

    def start(self) -> None:
        self.do("up", "--port", "0", "--detach")

    @contextmanager
    def gateway(self) -> Iterator["subprocess.Popen[bytes]"]:
        """Run the gateway until the end or its death."""
        command = [
            *PROGRAM,
            "worker",
            "--worker-name",
            "hpc",
            "--runner",
            "slurm",
            "--worker-cpu",
            "10",
            "--worker-memory",
            "1Gi",
            "--log-format",
            "json",
        ]
        settings = {
            "WEFT_SLURM_CONF": str(self.cluster.conf),
            "WEFT_SLURM_DIRECTORY": str(self.path / "shared"),
        }
        with self.log.open("ab") as output:
            process = subprocess.Popen(command, env=self.weft.environment(settings), stderr=output)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)

    def until_logged(self, event: bytes) -> None:
        until(lambda: event in self.log.read_bytes())

    def submit(self, script: str) -> str:
        job = {"executor": "slurm", "script": script, "resources": SMALL}
        document = json.dumps({"jobs": [job]}).encode()
        return self.do("submit", "-", "--format", "json", stdin=document).strip()

    def _copy(self, source: Path, target: Path) -> None:
        """Copy with owners: the server runs as another user."""
        subprocess.run(["cp", "-a", source, target], check=True)

    def copy(self) -> None:
        self.do("down")
        self._copy(self.weft.home / "pg", self.weft.home / "pg.copy")
        self.start()

    def restore(self, meanwhile: Callable[[], None]) -> None:
        self.do("down")
        meanwhile()
        shutil.rmtree(self.weft.home / "pg")
        self._copy(self.weft.home / "pg.copy", self.weft.home / "pg")
        self.start()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with slurm_cluster() as cluster:
        found = Site(Weft(tmp_path / "home"), cluster, tmp_path)
        found.start()
        yield found
        found.weft.run("down", timeout_s=120)


@pytest.mark.parametrize("stays", [True, False])
def test_an_old_job_is_never_taken_for_a_new_attempt(site: Site, *, stays: bool) -> None:
    """Whether the gateway lives through it or not: the old one ends, and the new one runs."""
    seen, open_gate = site.path / "seen", site.path / "gate"
    with site.gateway() as first:
        site.until_logged(b"worker.registered")
        site.copy()
        old = site.submit(
            f"echo old >>{seen}; while [ ! -e {open_gate} ]; do sleep 0.1; done; echo finished"
        )
        until(seen.exists)
        until(lambda: site.told("status", f"{old}.j1")["state"] == "running")

        def meanwhile() -> None:
            if not stays:
                os.kill(first.pid, signal.SIGKILL)
                first.wait()

        site.restore(meanwhile)
        new = site.submit(f"echo new >>{seen}; echo new; exit 7")
        assert new == old
        with site.gateway() if not stays else _nothing():
            until(lambda: site.told("status", new)["complete"])
            open_gate.touch()
            job = site.told("status", f"{new}.j1")
            until(lambda: not site.cluster.run("squeue", "-h"))
            assert job["attempts"][-1]["exit_code"] == 7
            assert site.do("logs", f"{new}.j1") == "new\n"
            assert seen.read_text().split() == ["old", "new"]
            site.weft.told("audit", timeout_s=120)


@contextmanager
def _nothing() -> Iterator[None]:
    yield

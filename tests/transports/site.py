"""A whole weft whose queue `q` travels over a broker of the tests."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from e2e.conftest import until
from up.weft_up import Up, prove_audit, run_weft, temporary_home, up

QUEUE = """
[[queue]]
name = "q"
priority = 1
transport = "{transport}"
"""


class Broker(Protocol):
    """A broker that can be killed."""

    address: str

    def kill(self) -> None:
        """Kill it."""

    def start(self) -> None:
        """Start it with its data."""


class Site:
    """A weft beside a broker."""

    def __init__(self, home: Path, directory: Path, weft: Up) -> None:
        self.home = home
        self.directory = directory
        self.weft = weft

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command."""
        return run_weft(words[0], "--home", str(self.home), *words[1:])

    def ask(self, *words: str) -> Any:  # noqa: ANN401 (any document)
        """Run a command that answers with a document; return it."""
        found = run_weft(*words, "--home", str(self.home), "--json")
        assert found.returncode == 0, found.stderr
        return json.loads(found.stdout)

    def apply(self, transport: str) -> "subprocess.CompletedProcess[str]":
        """Let the queue travel."""
        (self.directory / "queues.toml").write_text(QUEUE.format(transport=transport))
        return run_weft(
            "queue",
            "apply",
            "--home",
            str(self.home),
            str(self.directory / "queues.toml"),
            "--yes",
        )

    def submit(self, n_jobs: int, command: str) -> str:
        """Submit jobs of the queue; each adds a line to a file. Return the batch's name."""
        document = {"jobs": [{"command": ["sh", "-c", command], "queue": "q", "count": n_jobs}]}
        (self.directory / "batch.json").write_text(json.dumps(document))
        found = self.run("submit", str(self.directory / "batch.json"))
        assert found.returncode == 0, found.stderr
        return found.stdout.split()[0]

    def kill(self, role: str) -> None:
        """Kill a role; its supervisor starts it again."""
        pid = json.loads((self.home / "run" / f"{role}.ready").read_text())["pid"]
        os.kill(pid, signal.SIGKILL)

    def transport(self, name: str) -> dict[str, Any]:
        """Return what is known of a transport."""
        found: dict[str, Any] = self.ask("transport", "show", name)
        return found

    def prove_audit(self) -> None:
        """Recompute everything."""
        prove_audit(self.home)

    def run_one(self) -> str:
        """Run a job to its end; return its batch's name."""
        ran = self.run("run", "--json", "--", "true")
        assert ran.returncode == 0, ran.stderr
        return f"b{json.loads(ran.stdout.splitlines()[0])['batch_id']}"

    def status(self, batch: str) -> str:
        """Return the state of a batch."""
        return str(json.loads(self.run("status", batch, "--json").stdout)["state"])


@contextmanager
def weft_beside(
    directory: Path, transport: str, connection: str, **settings: str
) -> Iterator[Site]:
    """Run a weft; `connection` is its `transports_file`."""
    (directory / "transports.toml").write_text(connection)
    file = str(directory / "transports.toml")
    with temporary_home() as home, up(home, WEFT_TRANSPORTS_FILE=file, **settings) as running:
        running.until_ready()
        site = Site(home, directory, running)
        applied = site.apply(transport)
        assert applied.returncode == 0, applied.stderr
        yield site


def check_that_a_kill_harms_nothing(site: Site, broker: Broker, fault: str) -> None:
    """Kill the broker, a worker or the driver while jobs run: each runs once."""
    done = site.directory / "done"
    done.write_text("")
    batch = site.submit(60, f"sleep 0.2; echo $WEFT_JOB >> {done}")
    until(lambda: len(done.read_text().split()) >= 5)
    faults: Mapping[str, Callable[[], None]] = {
        "broker": broker.kill,
        "worker": lambda: site.kill("worker"),
        "driver": lambda: site.kill("driver"),
    }
    faults[fault]()
    broker.start()
    until(lambda: site.status(batch) == "success")
    site.prove_audit()

    assert sorted(done.read_text().split()) == sorted(set(done.read_text().split()))
    assert len(done.read_text().split()) == 60

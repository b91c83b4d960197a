"""The transport `rabbitmq` on a real broker, and a whole weft beside it."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.conftest import until
from transports.rabbit_broker import RabbitBroker
from up.weft_up import run_weft, temporary_home, up
from weft.plugins.transports.rabbitmq import RabbitTransport
from weft.ports.transport import Connection, Route, TransportError
from weft.testing.transport_suite import TransportSuite

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]
CONNECTION = """
[[transports]]
name = "rabbit"
kind = "rabbitmq"
address = "{address}"
tenants = ["default"]
user = "guest"
password_env = "RABBIT_PASSWORD"
"""
QUEUE = """
[[queue]]
name = "q"
priority = 1
transport = "{transport}"
"""


def connection(broker: RabbitBroker, *, password: str = "guest") -> Connection:  # noqa: S107 (of the tests)
    """Return the connection to a broker."""
    return Connection(
        name="rabbit", kind="rabbitmq", address=broker.address, tenants=("home",),
        password=password,
    )  # fmt: skip


class TestRabbitTransport(TransportSuite):
    """The suite of the port."""

    @pytest.fixture(autouse=True)
    def at(self, broker: RabbitBroker) -> None:
        """Note the broker."""
        self.broker = broker

    def transport(self) -> RabbitTransport:
        """Return a transport to the broker."""
        return RabbitTransport(connection(self.broker))


async def test_foreign_credentials_are_refused(broker: RabbitBroker) -> None:
    transport = RabbitTransport(connection(broker, password="wrong"))
    with pytest.raises(TransportError, match="ACCESS_REFUSED"):
        await transport.publish([(Route("home", "q"), b"1")])


@pytest.fixture
def site(broker: RabbitBroker, tmp_path: Path) -> Iterator["Site"]:
    """Give a weft whose queue `q` travels over the broker."""
    (tmp_path / "transports.toml").write_text(CONNECTION.format(address=broker.address))
    settings = {
        "WEFT_TRANSPORTS_FILE": str(tmp_path / "transports.toml"), "RABBIT_PASSWORD": "guest",
    }  # fmt: skip
    with temporary_home() as home, up(home, **settings) as running:
        running.until_ready()
        site = Site(home, tmp_path)
        applied = site.apply("rabbit")
        assert applied.returncode == 0, applied.stderr
        yield site


class Site:
    """A weft beside a broker."""

    def __init__(self, home: Path, directory: Path) -> None:
        self.home = home
        self.directory = directory

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command."""
        return run_weft(words[0], "--home", str(self.home), *words[1:])

    def apply(self, transport: str) -> "subprocess.CompletedProcess[str]":
        """Let the queue travel."""
        (self.directory / "queues.toml").write_text(QUEUE.format(transport=transport))
        return run_weft(
            "queue", "apply", "--home", str(self.home), str(self.directory / "queues.toml"),
            "--yes",
        )  # fmt: skip

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

    def status(self, batch: str) -> str:
        """Return the state of a batch."""
        return str(json.loads(self.run("status", batch, "--json").stdout)["state"])


def test_a_command_goes_out_by_the_broker_and_comes_back(site: Site) -> None:
    ran = site.run("run", "--queue", "q", "--", "sh", "-c", "echo out; exit 3")

    assert (ran.returncode, ran.stdout) == (3, "out\n"), ran.stderr


@pytest.mark.parametrize("fault", ["broker", "worker", "driver"])
def test_a_kill_in_between_loses_and_doubles_nothing(
    site: Site, broker: RabbitBroker, fault: str
) -> None:
    done = site.directory / "done"
    done.write_text("")
    batch = site.submit(60, f"sleep 0.2; echo $WEFT_JOB >> {done}")
    until(lambda: len(done.read_text().split()) >= 5)
    faults: dict[str, Callable[[], None]] = {
        "broker": broker.kill, "worker": lambda: site.kill("worker"),
        "driver": lambda: site.kill("driver"),
    }  # fmt: skip
    faults[fault]()
    broker.start()
    until(lambda: site.status(batch) == "success")
    audit = site.run("audit")

    assert sorted(done.read_text().split()) == sorted(set(done.read_text().split()))
    assert len(done.read_text().split()) == 60
    assert audit.returncode == 0, audit.stdout + audit.stderr


def test_a_queue_names_a_connection_of_its_tenant(site: Site) -> None:
    refused = site.apply("kafka")

    assert refused.returncode != 0
    assert "no connection of this name; known: postgres, rabbit" in refused.stderr

"""The transport `rabbitmq` on a real broker, and a whole weft beside it."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.test_workers_outside import Outside, submit
from transports.rabbit_broker import RabbitBroker
from transports.site import Site, check_that_a_kill_harms_nothing, weft_beside
from weft.ports.transport import Connection, Depth, Route, TransportError
from weft_brokers.rabbitmq import RabbitTransport
from weft_testing.transport_suite import TransportSuite

pytestmark = [pytest.mark.engine(name="rabbitmq"), pytest.mark.timeout(300)]
CONNECTION = """
[[transports]]
name = "rabbit"
kind = "rabbitmq"
address = "{address}"
tenants = ["default"]
user = "guest"
password_env = "RABBIT_PASSWORD"
"""


def connection(broker: RabbitBroker, *, password: str = "guest") -> Connection:  # noqa: S107 (of the tests)
    """Return the connection to a broker."""
    return Connection(
        name="rabbit",
        kind="rabbitmq",
        address=broker.address,
        tenants=("home",),
        password=password,
    )


def until_consumed(broker: RabbitBroker, route: Route) -> None:
    """Wait until somebody consumes from a queue of a site; it is made if it is not there."""
    asyncio.run(until_depth(broker, route, lambda found: found.consumers > 0))


async def until_depth(broker: RabbitBroker, route: Route, is_so: Callable[[Depth], bool]) -> None:
    """Wait until the broker holds this number of messages of a queue."""
    transport = RabbitTransport(connection(broker))
    try:
        async with asyncio.timeout(120):
            while not is_so((await transport.depths([route]))[0]):
                pass
    finally:
        await transport.close()


class TestRabbitTransport(TransportSuite):
    """The suite of the port."""

    @pytest.fixture(autouse=True)
    def at(self, rabbit: RabbitBroker) -> None:
        """Note the broker."""
        self.broker = rabbit

    def transport(self) -> RabbitTransport:
        """Return a transport to the broker."""
        return RabbitTransport(connection(self.broker))


async def test_foreign_credentials_are_refused(rabbit: RabbitBroker) -> None:
    transport = RabbitTransport(connection(rabbit, password="wrong"))
    with pytest.raises(TransportError, match="ACCESS_REFUSED"):
        await transport.publish([(Route("home", "q"), b"1")])


@pytest.fixture
def site(rabbit: RabbitBroker, tmp_path: Path) -> Iterator[Site]:
    """Give a weft whose queue `q` travels over the broker."""
    connection = CONNECTION.format(address=rabbit.address)
    with weft_beside(tmp_path, "rabbit", connection, RABBIT_PASSWORD="guest") as site:
        yield site


def test_a_command_goes_out_by_the_broker_and_comes_back(site: Site) -> None:
    ran = site.run("run", "--queue", "q", "--", "sh", "-c", "echo out; exit 3")

    assert (ran.returncode, ran.stdout) == (3, "out\n"), ran.stderr


@pytest.mark.parametrize("fault", ["broker", "worker", "driver"])
def test_a_kill_in_between_loses_and_doubles_nothing(
    site: Site, rabbit: RabbitBroker, fault: str
) -> None:
    check_that_a_kill_harms_nothing(site, rabbit, fault)


def test_a_worker_outside_takes_jobs_from_the_broker(site: Site, tmp_path: Path) -> None:
    """It claims them by the link, and what they write comes to the api."""
    weft = Weft(site.home)
    file = str(site.directory / "transports.toml")
    outside = Outside(weft, tmp_path, WEFT_TRANSPORTS_FILE=file, RABBIT_PASSWORD="guest")
    with outside.running():
        jobs: list[dict[str, object]] = [
            {"script": f"echo far {n}", "queue": "q"} for n in (1, 2, 3)
        ]
        batch = submit(weft, tmp_path, jobs)
        waited = weft.run("wait", batch)
    site.prove_audit()

    assert waited.returncode == 0, waited.stderr
    assert weft.run("logs", f"{batch}.j3").stdout == b"far 3\n"


def test_a_queue_names_a_connection_of_its_tenant(site: Site) -> None:
    refused = site.apply("kafka")

    assert refused.returncode != 0
    assert "no connection of this name; known: postgres, rabbit" in refused.stderr

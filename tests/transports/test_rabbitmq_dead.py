"""What nobody wants at a real broker, beside a whole weft: it is kept, shown and sent again."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import until
from transports.rabbit_broker import RabbitBroker
from transports.site import Site, weft_beside
from transports.test_rabbitmq import CONNECTION, connection
from up.weft_up import run_weft
from weft.ports.transport import DEAD, Death, Route
from weft_brokers.rabbitmq import RabbitTransport
from weft_testing.transport_suite import a_route, following

pytest.importorskip("aio_pika", reason="the extra `rabbitmq` is not installed")

import aio_pika

pytestmark = [pytest.mark.engine(name="rabbitmq"), pytest.mark.timeout(300)]
WITH_GUEST = RabbitBroker.address.replace("://", "://guest:guest@")
QUEUE = "weft.default.submit.q"


@pytest.fixture
def site(rabbit: RabbitBroker, tmp_path: Path) -> Iterator[Site]:
    """Give a weft whose queue `q` travels over the broker."""
    file = CONNECTION.format(address=rabbit.address)
    with weft_beside(tmp_path, "rabbit", file, RABBIT_PASSWORD="guest") as site:
        assert site.run("run", "--queue", "q", "--", "true").returncode == 0
        yield site


def publish(exchange: str, routing_key: str, body: bytes) -> None:
    """Write a message as any program does."""

    async def write() -> None:
        async with await aio_pika.connect(WITH_GUEST) as other:
            channel = await other.channel()
            to = channel.default_exchange
            if exchange:
                to = await channel.get_exchange(exchange, ensure=False)
            message = aio_pika.Message(body, delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
            await to.publish(message, routing_key=routing_key, mandatory=False)

    asyncio.run(write())


def ask(site: Site, *words: object) -> "subprocess.CompletedProcess[str]":
    """Run a command about letters."""
    return run_weft("transport", "letters", *map(str, words), "--home", str(site.home))


def letters(site: Site) -> list[dict[str, Any]]:
    """Return what the command lists, the oldest first."""
    listed = ask(site, "ls", "--json")
    assert listed.returncode == 0, listed.stderr
    found: list[dict[str, Any]] = json.loads(listed.stdout)
    return found[::-1]


def test_what_nobody_wants_is_kept_and_sent_again(site: Site, rabbit: RabbitBroker) -> None:
    publish("", QUEUE, b"no JSON at all")
    until(lambda: len(letters(site)) == 1)
    site.kill("driver")
    publish("weft.default", "weft.default.submit.typo", b'{"a": 1}')
    rabbit.kill()  # what is not stored comes again from its disk
    rabbit.start()
    until(lambda: len(letters(site)) == 2)
    refused, unroutable = letters(site)
    shown = ask(site, "show", refused["dead_id"])
    again = ask(site, "resend", refused["dead_id"])
    until(lambda: refused["dead_id"] not in [one["dead_id"] for one in letters(site)])
    until(lambda: len(letters(site)) == 2)  # the worker has refused it once more
    removed = ask(site, "rm", unroutable["dead_id"])
    ran = site.run("run", "--queue", "q", "--", "true")

    assert (refused["reason"], refused["source"]) == ("refused", QUEUE)
    assert "JSON" in refused["error"]
    assert (unroutable["reason"], unroutable["source"]) == (
        "unroutable",
        "weft.default.submit.typo",
    )
    assert "no JSON at all" in shown.stdout
    assert again.returncode == removed.returncode == 0, again.stderr + removed.stderr
    assert [one["reason"] for one in letters(site)] == ["refused"]
    assert "1" in run_weft("transport", "ls", "--home", str(site.home)).stdout
    assert ran.returncode == 0, ran.stderr


async def test_what_a_program_rejects_comes_to_the_dead(rabbit: RabbitBroker) -> None:
    transport, route = RabbitTransport(connection(rabbit)), a_route()
    try:
        assert await transport.publish([(route, b"1")]) == [True]
        async with await aio_pika.connect(WITH_GUEST) as other:
            queue = await (await other.channel()).get_queue(route.name)
            await (await queue.get()).reject(requeue=False)
        async with transport.consume(Route(route.tenant, DEAD), limit=1) as deliveries:
            found = await following(deliveries)
    finally:
        await transport.close()

    assert (found.body, found.death) == (b"1", Death("rejected", route.name))

"""What goes wrong at a real RabbitMQ, or on the way to it: nothing is lost, nothing runs twice."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contexts import fixture_of
from e2e.conftest import until
from faults.books import query
from faults.test_leaders import END_LOCK_HOLDER
from transports.proxy import Proxy, proxy_before
from transports.rabbit_broker import RabbitBroker
from transports.site import Site, weft_beside
from transports.test_rabbitmq import CONNECTION, connection, until_consumed, until_depth
from transports.test_rabbitmq_dead import QUEUE, WITH_GUEST, letters, publish
from weft.ports.transport import DEAD, Route, TransportError
from weft_brokers.rabbitmq import RabbitTransport
from weft_testing.transport_suite import a_route, following

pytest.importorskip("aio_pika", reason="the extra `rabbitmq` is not installed")

import aio_pika

pytestmark = [pytest.mark.engine(name="rabbitmq"), pytest.mark.timeout(300)]
ENDED = {"success", "failure", "cancelled"}
proxy = fixture_of(lambda rabbit: proxy_before(rabbit.address))
"""A proxy before the broker."""


@pytest.fixture
def site(proxy: Proxy, tmp_path: Path) -> Iterator[Site]:
    """Give a weft that reaches the broker by the proxy."""
    file = CONNECTION.format(address=f"amqp://127.0.0.1:{proxy.port}")
    with weft_beside(tmp_path, "rabbit", file, RABBIT_PASSWORD="guest") as site:
        assert site.run("run", "--queue", "q", "--", "true").returncode == 0
        yield site


async def test_a_queue_that_is_deleted_by_hand_ends_its_consumer_and_is_made_again(
    rabbit: RabbitBroker,
) -> None:
    transport, route = RabbitTransport(connection(rabbit)), a_route()
    try:
        assert await transport.publish([(route, b"1")]) == [True]
        async with await aio_pika.connect(WITH_GUEST) as other:
            channel = await other.channel()
            async with transport.consume(route, limit=2) as deliveries:
                assert (await following(deliveries)).body == b"1"
                await channel.queue_delete(route.name)
                with pytest.raises(TransportError, match="the consumer"):
                    await following(deliveries)
        assert await transport.publish([(route, b"2")]) == [False]
        assert await transport.publish([(route, b"2")]) == [True]
        async with transport.consume(route, limit=2) as deliveries:
            assert (await following(deliveries)).body == b"2"
    finally:
        await transport.close()


async def test_a_queue_of_another_type_is_refused_by_name(rabbit: RabbitBroker) -> None:
    transport, route = RabbitTransport(connection(rabbit)), a_route()
    async with await aio_pika.connect(WITH_GUEST) as other:
        await (await other.channel()).declare_queue(route.name, durable=True)
        try:
            with pytest.raises(TransportError, match=f"inequivalent arg.*{route.name}"):
                await transport.publish([(route, b"1")])
            with pytest.raises(TransportError, match=f"inequivalent arg.*{route.name}"):
                async with transport.consume(route, limit=1) as deliveries:
                    await following(deliveries)
            wrong = [one for one in await transport.check([route]) if one.verdict != "ok"]
        finally:
            await transport.close()
            await (await other.channel()).queue_delete(route.name)

    assert [one.verdict for one in wrong] == ["wrong"]
    assert f"queue {route.name} is none that weft would make" in wrong[0].found


@pytest.mark.parametrize("held", ["out", "in"])
async def test_a_connection_that_is_cut_within_a_publish_confirms_nothing(
    rabbit: RabbitBroker, proxy: Proxy, held: str
) -> None:
    """`in`: the broker has the messages, and its confirms are lost."""
    to = replace(connection(rabbit), address=f"amqp://127.0.0.1:{proxy.port}")
    transport, route = RabbitTransport(to), a_route()
    messages = [(route, f"{n:03}".encode()) for n in range(100)]
    try:
        assert await transport.publish([(route, b"first")]) == [True]
        proxy.hold("out" if held == "out" else "in")
        sending = asyncio.create_task(transport.publish(messages))
        direct = RabbitTransport(connection(rabbit))
        async with asyncio.timeout(60):
            while held == "in" and (await direct.depths([route]))[0].messages < 101:
                pass
        proxy.cut()
        assert await sending == [False] * 100
        assert await transport.publish(messages) == [True] * 100
        depth = (await direct.depths([route]))[0].messages
        await direct.close()
    finally:
        await transport.close()

    assert depth >= 101


async def test_a_disk_alarm_stops_what_goes_out_and_not_what_comes_in(
    rabbit: RabbitBroker,
) -> None:
    transport, route = RabbitTransport(connection(rabbit)), a_route()
    try:
        assert await transport.publish([(route, b"1")]) == [True]
        rabbit.ctl("set_disk_free_limit", "900000GB")
        try:
            async with transport.consume(route, limit=2) as deliveries:
                await (await following(deliveries)).acknowledge()
                sending = asyncio.create_task(transport.publish([(route, b"2")]))
                assert await sending == [False]
        finally:
            rabbit.ctl("set_disk_free_limit", "1MB")
        async with asyncio.timeout(60):
            while await transport.publish([(route, b"3")]) != [True]:
                pass
    finally:
        await transport.close()


def test_a_message_of_100_mb_is_refused_and_its_beginning_kept(site: Site) -> None:
    publish("", QUEUE, b"7" * 100_000_000)
    until(lambda: len(letters(site)) == 1)
    (letter,) = letters(site)
    ran = site.run("run", "--queue", "q", "--", "true")

    assert (letter["reason"], letter["n_bytes"]) == ("refused", 100_000_000)
    assert ran.returncode == 0, ran.stderr


def test_a_queue_that_is_deleted_under_jobs_loses_and_doubles_none(
    site: Site, rabbit: RabbitBroker
) -> None:
    done = site.directory / "done"
    done.write_text("")
    batch = site.submit(40, f"sleep 0.2; echo $WEFT_JOB >> {done}")
    until(lambda: len(done.read_text().split()) >= 3)
    rabbit.ctl("delete_queue", QUEUE)
    until(lambda: site.status(batch) in ENDED)

    check(site, batch, 40)


@pytest.mark.parametrize(
    ("role", "held"), [("driver", "out"), ("driver", "in"), ("worker", "out"), ("worker", "in")]
)
def test_a_kill_at_each_step_loses_and_doubles_nothing(
    site: Site, rabbit: RabbitBroker, proxy: Proxy, role: str, held: str
) -> None:
    """The driver has noted its offers and not sent them, or not heard that they are confirmed;
    the worker has recorded ends and not acknowledged them, or got nothing of what was sent.
    """
    done, go = site.directory / "done", site.directory / "go"
    done.write_text("")
    command = f"until [ -e {go} ]; do sleep 0.1; done; echo $WEFT_JOB >> {done}"
    before = role == "driver" or held == "in"
    if before:
        go.write_text("")
        proxy.hold("out" if held == "out" else "in")
    batch = site.submit(6, command)
    if before:
        until(lambda: count(site, batch, "queued") > 0)
    else:
        until(lambda: count(site, batch, "running") > 0)
        proxy.hold("out")
        go.write_text("")
        until(lambda: count(site, batch, "succeeded") > 0)
    site.kill(role)
    proxy.cut()
    until(lambda: site.status(batch) in ENDED)
    check(site, batch, 6)
    until_emptied(rabbit)


def test_two_drivers_of_which_one_slept_send_and_release_nothing_twice(
    rabbit: RabbitBroker, proxy: Proxy, tmp_path: Path
) -> None:
    """The one that leads is stopped while its messages are under way; when it goes on, it still
    has them, and believes for a moment that it leads.
    """
    file = CONNECTION.format(address=f"amqp://127.0.0.1:{proxy.port}")
    settings = {"WEFT_DRIVERS": "2", "WEFT_HEARTBEAT_S": "60", "WEFT_LOST_AFTER_S": "600"}
    with weft_beside(tmp_path, "rabbit", file, RABBIT_PASSWORD="guest", **settings) as site:
        (tmp_path / "done").write_text("")
        leader = site.weft.until_seen("driver.state_changed", state="leader")["role"]
        sleeper = site.weft.pid(leader)
        batch = site.submit(60, f"echo $WEFT_JOB >> {tmp_path}/done")
        proxy.hold("out")
        until(lambda: count(site, batch, "queued") > 0)
        os.kill(sleeper, signal.SIGSTOP)
        query(site.home, END_LOCK_HOLDER)
        site.weft.until("driver.state_changed", state="leader")
        proxy.release()
        os.kill(sleeper, signal.SIGCONT)
        site.weft.until("driver.lead_lost", role=leader)
        until(lambda: site.status(batch) in ENDED)
        check(site, batch, 60)
        until_emptied(rabbit)


def until_emptied(rabbit: RabbitBroker) -> None:
    """Wait until the queue of the site has no message."""
    asyncio.run(until_depth(rabbit, Route("default", "q"), lambda found: not found.messages))


def test_a_kill_between_storing_a_dead_message_and_its_end_keeps_it(
    site: Site, rabbit: RabbitBroker, proxy: Proxy
) -> None:
    until_consumed(rabbit, Route("default", DEAD))
    proxy.hold("out")
    publish("weft.default", "weft.default.submit.typo", b'{"a": 1}')
    until(lambda: len(letters(site)) == 1)
    site.kill("driver")
    proxy.cut()
    until(lambda: len(letters(site)) == 2)  # it was not acknowledged

    assert {one["reason"] for one in letters(site)} == {"unroutable"}


def count(site: Site, batch: str, state: str) -> int:
    """Return how many jobs of a batch are in a state."""
    return int(json.loads(site.run("status", batch, "--json").stdout)[f"n_{state}"])


def check(site: Site, batch: str, n_jobs: int) -> None:
    """Check that each job of a batch ran once."""
    ran = (site.directory / "done").read_text().split()
    site.prove_audit()

    assert site.status(batch) == "success"
    assert sorted(ran) == sorted(set(ran))
    assert len(ran) == n_jobs

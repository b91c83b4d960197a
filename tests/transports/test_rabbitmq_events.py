"""Events of a tenant that go to an exchange, on a real broker that dies meanwhile."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import until
from transports.rabbit_broker import RabbitBroker
from transports.site import Site
from transports.test_rabbitmq import CONNECTION, connection
from up.weft_up import temporary_home, up
from weft.ports.topics import Record
from weft.ports.transport import TransportError
from weft.run.host.worker_name import user_name

pytest.importorskip("aio_pika", reason="the extra `rabbitmq` is not installed")

import aio_pika

from weft_brokers.rabbitmq.events import RabbitEvents

pytestmark = [pytest.mark.engine(name="rabbitmq"), pytest.mark.timeout(300)]
EVENTS = """
[transports.events]
tenant = "default"
user = "{user}"
"""
WITH_GUEST = RabbitBroker.address.replace("://", "://guest:guest@")
QUORUM: dict[str, Any] = {"x-queue-type": "quorum"}
N_EVENTS = 150


@pytest.fixture
def site(rabbit: RabbitBroker, tmp_path: Path) -> Iterator[Site]:
    """Give a weft that tells of its events."""
    file = tmp_path / "transports.toml"
    file.write_text(CONNECTION.format(address=rabbit.address) + EVENTS.format(user=user_name()))
    settings = {"WEFT_TRANSPORTS_FILE": str(file), "RABBIT_PASSWORD": "guest"}
    with temporary_home() as home, up(home, **settings) as running:
        running.until_ready()
        yield Site(home, tmp_path, running)


def listen(name: str, exchange: str, routing_key: str) -> None:
    """Declare a queue, and bind it to an exchange, as programs do."""

    async def declare() -> None:
        async with await aio_pika.connect(WITH_GUEST) as other:
            channel = await other.channel()
            await channel.declare_exchange(exchange, aio_pika.ExchangeType.TOPIC, durable=True)
            queue = await channel.declare_queue(name, durable=True, arguments=QUORUM)
            await queue.bind(exchange, routing_key)

    asyncio.run(declare())


def taken(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Take what a queue has: routing keys and documents."""

    async def take() -> list[tuple[str, dict[str, Any]]]:
        found = []
        async with await aio_pika.connect(WITH_GUEST) as other:
            queue = await (await other.channel()).get_queue(name)
            while (message := await queue.get(fail=False)) is not None:
                await message.ack()
                document = json.loads(message.body)
                assert message.message_id == message.headers["id"] == document["id"]
                found.append((message.routing_key or "", document))
        return found

    return asyncio.run(take())


def test_events_go_on_in_order_when_the_broker_was_killed(
    rabbit: RabbitBroker, site: Site
) -> None:
    listen("all", "weft.default.events", "#")
    listen("ends", "weft.default.events", "batch.complete.*")
    told: list[tuple[str, dict[str, Any]]] = []

    def is_complete(batch: str) -> bool:
        told.extend(taken("all"))
        return f"batch.complete.{batch}" in [key for key, _ in told]

    batches = [site.run_one()]
    until(lambda: is_complete(batches[0]))
    batches.append(site.run_one())
    rabbit.kill()  # its events may be under way
    batches += [site.run_one(), site.run_one()]
    rabbit.start()
    for batch in batches:
        until(lambda batch=batch: is_complete(batch))  # type: ignore[misc]
        of_batch = [one for key, one in told if key.endswith(f".{batch}")]
        ids = list(dict.fromkeys(one["id"] for one in of_batch))
        assert of_batch[0]["kind"] == "update.committed"
        assert ids == sorted(ids, key=lambda one: [int(part) for part in one.split("-")])
        assert len(ids) >= 2

    assert {key for key, _ in taken("ends")} == {f"batch.complete.{one}" for one in batches}


async def test_exchange_of_another_type_is_refused_and_a_deleted_one_made_again(
    rabbit: RabbitBroker,
) -> None:
    events = RabbitEvents(connection(rabbit))
    record = Record("weft.other.events", "b1", b"{}", {"id": "1-1", "kind": "x"})
    async with await aio_pika.connect(WITH_GUEST) as other:
        channel = await other.channel()
        await channel.declare_exchange("weft.wrong.events", aio_pika.ExchangeType.FANOUT)
        try:
            with pytest.raises(TransportError, match=r"weft\.wrong\.events"):
                await events.publish([record._replace(topic="weft.wrong.events")])
            assert await events.publish([record]) == [True]
            await channel.exchange_delete("weft.other.events")
            assert await events.publish([record]) == [False]
            assert await events.publish([record]) == [True]
        finally:
            await events.close()
            for name in ("weft.wrong.events", "weft.other.events"):
                await channel.exchange_delete(name)


async def test_none_of_a_job_passes_one_that_a_full_queue_refuses(rabbit: RabbitBroker) -> None:
    """Records go out again from the first one that was refused, while somebody takes from the
    queue. Repeats aside, those of a job come in order; one without jobs comes after all before it.
    """
    events, topic = RabbitEvents(connection(rabbit)), "weft.full.events"
    records = [
        Record(
            topic, "b1", b"", {"id": str(n), "kind": "x"}, parts=() if n % 50 == 49 else (n % 3,)
        )
        for n in range(N_EVENTS)
    ]
    arguments: dict[str, Any] = {"x-max-length": 5, "x-overflow": "reject-publish"}
    heard: list[int] = []
    n_refused = 0
    async with await aio_pika.connect(WITH_GUEST) as other:
        channel = await other.channel()
        await events.make({topic: 1})
        queue = await channel.declare_queue("full", durable=True, arguments=arguments)
        await queue.bind(topic, "#")

        async def take() -> None:
            while N_EVENTS - 1 not in heard:
                if (message := await queue.get(fail=False)) is not None:
                    await message.ack()
                    heard.append(int(str(message.headers["id"])))

        taking = asyncio.create_task(take())
        try:
            async with asyncio.timeout(120):
                left = records
                while left:
                    kept = list(await events.publish(left))
                    assert len(kept) == len(left)
                    n_refused += not all(kept)
                    left = left[[*kept, False].index(False) :]
                await taking
        finally:
            taking.cancel()
            await events.close()
            await queue.delete(if_unused=False, if_empty=False)
            await channel.exchange_delete(topic)
    first = list(dict.fromkeys(heard))

    assert n_refused > 0
    assert sorted(first) == list(range(N_EVENTS))
    for part in range(3):
        of_part = [n for n in first if n % 50 == 49 or n % 3 == part]
        assert of_part == sorted(of_part)

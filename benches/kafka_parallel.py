"""Records of one partition whose work sleeps for 0 to 5 ms, many at once, beside one at a time.

The reference is a consumer that takes a record, works, commits and goes on.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from typing import Any, Final

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from benches.brokers import running_broker
from weft.bench.figures import Headline, document_of, load_average, machine_conditions, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.ports.transport import Connection, Delivery, Route
from weft_brokers.kafka import KafkaTransport

RECORDS: Final = 10_000
LONGEST_S: Final = 0.005
AT_ONCE: Final = 200
WITHIN_S: Final = 30.0


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the records per second of both."""
    load, count = load_average(), plan.jobs_of(RECORDS)
    order = random.Random(1)  # noqa: S311 (work)
    work_s = [order.uniform(0, LONGEST_S) for _ in range(count)]
    progress.begin(3)
    progress.step("start and fill")
    with running_broker("kafka") as address:
        to = {"bootstrap.servers": address.partition("//")[2]}
        routes = Route("bench", "parallel"), Route("bench", "serial")
        for route in routes:
            await asyncio.to_thread(_fill, to, route.name, count)
        progress.step("many at once")
        parallel_s = await _parallel(address, routes[0], work_s)
        progress.step("one at a time")
        serial_s = await asyncio.to_thread(_serial, to, routes[1].name, work_s)
    per_s, reference = count / parallel_s, count / serial_s
    return document_of(
        Headline("records/s", per_s, reference, ratio_of(per_s, reference)),
        {"work_s": round(sum(work_s), 2)},
        machine_conditions(load_before=load, sizes={"records": count, "at_once": AT_ONCE}),
    )


def _fill(to: dict[str, Any], topic: str, count: int) -> None:
    admin = AdminClient(to)  # its answers end with it
    admin.create_topics([NewTopic(topic, num_partitions=1)])[topic].result(WITHIN_S)
    producer = Producer({**to, "acks": "all"})
    for number in range(count):
        producer.produce(topic, str(number))
        producer.poll(0)
    if producer.flush(WITHIN_S):
        raise BenchFailed("not all records were confirmed")


async def _parallel(address: str, route: Route, work_s: Sequence[float]) -> float:
    """Return the seconds from the first record until all are acknowledged."""
    transport = KafkaTransport(
        Connection(name="bench", kind="kafka", address=address, tenants=("bench",))
    )

    async def work(one: Delivery) -> None:
        await asyncio.sleep(work_s[int(one.body)])
        await one.acknowledge()

    begun, left = None, len(work_s)
    async with transport.consume(route, limit=AT_ONCE) as deliveries, asyncio.TaskGroup() as group:
        async for one in deliveries:
            begun = begun or time.perf_counter()
            group.create_task(work(one))
            left -= 1
            if not left:
                break
    await transport.close()
    return time.perf_counter() - (begun or 0)


def _serial(to: dict[str, Any], topic: str, work_s: Sequence[float]) -> float:
    consumer = Consumer(
        {**to, "group.id": topic, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    )
    consumer.subscribe([topic])
    begun, left = None, len(work_s)
    while left:
        record = consumer.poll(WITHIN_S)
        if record is None or record.error():
            raise BenchFailed("no record came")
        begun = begun or time.perf_counter()
        time.sleep(work_s[int(record.value() or b"0")])
        consumer.commit(message=record, asynchronous=True)
        left -= 1
    spent_s = time.perf_counter() - (begun or 0)
    consumer.close()
    return spent_s

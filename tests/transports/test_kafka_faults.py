"""What goes wrong at a real Kafka: nothing is lost, nothing runs twice."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from e2e.conftest import until
from transports.kafka_broker import KafkaBroker
from transports.site import Site, weft_beside
from transports.test_kafka import CONNECTION, connection
from weft.ports.transport import Route, TransportError
from weft.testing.transport_suite import a_route

pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from weft.plugins.transports.kafka import KafkaTransport

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]
N_JOBS: Final = 500
N_PARTS: Final = 10
REBALANCE_S: Final = 5.0


@pytest.fixture
def site(kafka: KafkaBroker, tmp_path: Path) -> Iterator[Site]:
    """Give a weft whose queue `q` travels over the broker."""
    with weft_beside(tmp_path, "kafka", CONNECTION.format(address=kafka.address)) as site:
        yield site


async def test_a_topic_of_another_type_is_refused(kafka: KafkaBroker) -> None:
    """One that is compacted takes no records without keys."""
    transport, route = KafkaTransport(connection(kafka.address)), a_route()
    admin = AdminClient({"bootstrap.servers": kafka.address.removeprefix("kafka://")})
    topic = NewTopic(route.name, num_partitions=1, config={"cleanup.policy": "compact"})
    admin.create_topics([topic])[route.name].result(30)
    try:
        with pytest.raises(TransportError, match=r"(?i)invalid record|validat"):
            await transport.publish([(route, b"1")])
    finally:
        await transport.close()


async def test_a_message_that_the_cluster_takes_not_harms_no_other(kafka: KafkaBroker) -> None:
    transport, route = KafkaTransport(connection(kafka.address)), a_route()
    try:
        found = await transport.publish([(route, b"7" * 100_000_000), (route, b"1")])
    finally:
        await transport.close()

    assert found == [False, True]


def test_a_rebalance_every_5_seconds_loses_and_doubles_no_job(
    site: Site, kafka: KafkaBroker
) -> None:
    """Somebody joins the group, gets records, does nothing with them and leaves."""
    done = site.directory / "done"
    done.write_text("")
    is_over = threading.Event()
    joins: list[int] = []

    async def disturb() -> None:
        transport = KafkaTransport(connection(kafka.address))
        while not is_over.is_set():
            with contextlib.suppress(TransportError):
                async with transport.consume(Route("default", "q"), limit=10) as deliveries:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(REBALANCE_S):
                            async for _ in deliveries:
                                pass
                joins.append(1)
            await asyncio.to_thread(is_over.wait, REBALANCE_S)
        await transport.close()

    thread = threading.Thread(target=lambda: asyncio.run(disturb()))
    thread.start()
    try:
        batch = site.submit(N_JOBS, f"echo $WEFT_JOB >> {done}")
        for part in range(1, N_PARTS + 1):
            until(lambda n=part: len(done.read_text().split()) >= N_JOBS * n // N_PARTS)  # type: ignore[misc]
        until(lambda: site.status(batch) == "success")
    finally:
        is_over.set()
        thread.join()
    ran = done.read_text().split()
    audit = site.run("audit")

    assert len(ran) == len(set(ran)) == N_JOBS
    assert joins
    assert audit.returncode == 0, audit.stdout + audit.stderr

"""A backlog on a topic, which a whole weft drains while its own jobs run."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from transports.kafka_broker import KafkaBroker
from up.weft_up import run_weft, temporary_home, up

pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

from confluent_kafka import Consumer, Producer

from transports.test_job_topics import headers_of

pytestmark = [pytest.mark.engine(name="kafka"), pytest.mark.timeout(600)]
N_RECORDS = 10_500
AWAY_S = 240
SLOWER = 4
"""So many times as long as on an idle weft a job from the command line may take meanwhile; the
broker, the client of the test and the database have the same processors.
"""
SHORT = [{"action": "LOG", "message": "a line"}, {"action": "SLEEP", "durationMs": 10}]
LONG = [{"action": "SLEEP", "durationMs": 600_000}]


def _write_backlog(boot: str) -> set[str]:
    """Ask for runs by one partition, the first a long one; return the ids of the others."""
    producer = Producer({"bootstrap.servers": boot, "queue.buffering.max.messages": 2 * N_RECORDS})
    ids = [str(uuid4()) for _ in range(N_RECORDS)]
    for event_id in ids:
        job_id, steps = str(uuid4()), LONG if event_id == ids[0] else SHORT
        value = {"jobId": job_id, "instruction": {"steps": steps}}
        producer.produce(
            "run-job",
            json.dumps(value),
            job_id,
            partition=0,
            headers=[("traceId", b"t"), ("eventId", event_id.encode())],
        )
    assert producer.flush(60) == 0
    return {*ids[1:]}


def _outcomes(boot: str) -> Iterator[str]:
    """Yield the ids of runs that are told of."""
    consumer = Consumer(
        {"bootstrap.servers": boot, "group.id": str(uuid4()), "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["job-completed"])
    try:
        began = time.monotonic()
        while time.monotonic() < began + AWAY_S:
            for one in consumer.consume(500, 0.5):
                yield headers_of(one)["runEventId"]
    finally:
        consumer.close()


def _await_outcomes(boot: str, ids: set[str]) -> None:
    """Wait until all runs were told of."""
    left = set(ids)
    for run in _outcomes(boot):
        left.discard(run)
        if not left:
            return
    raise AssertionError(f"{len(left)} runs were not told of")


def test_a_backlog_is_drained_while_jobs_of_weft_run(kafka: KafkaBroker) -> None:
    """Nobody loses the database, no worker is lost, a short job stays short; and what holds up
    more than ten thousand is named.
    """
    boot = kafka.address.removeprefix("kafka://")
    with temporary_home() as home, up(home, "--broker", kafka.address) as running:
        running.until_ready()

        def run_s() -> float:
            begun = time.monotonic()
            done = run_weft("run", "--home", str(home), "--", "echo", "hi")
            assert done.stdout == "hi\n", done.stderr
            return time.monotonic() - begun

        idle_s = max(run_s() for _ in range(4))
        ids = _write_backlog(boot)
        with ThreadPoolExecutor(1) as beside:
            draining = beside.submit(_await_outcomes, boot, ids)
            busy_s: list[float] = []
            while not draining.done():
                busy_s.append(run_s())
            draining.result()
        stuck = running.until_seen("transport.stuck")
        workers = run_weft("worker", "ls", "--home", str(home), "--json")

    assert stuck["behind"] >= 10_000
    assert "database.unreachable" not in {one.get("event") for one in running.events}
    assert [one["state"] for one in json.loads(workers.stdout)] == ["active", "active"]
    assert max(busy_s) <= SLOWER * idle_s, f"{idle_s:.1f} s, and {busy_s} beside the backlog"

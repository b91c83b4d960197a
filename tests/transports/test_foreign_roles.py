"""A scheduler and a worker that are not weft's, which know what JobWeaver's know: the address of
the broker, and for jobs over HTTP url and token.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest

from e2e.conftest import until

pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

from confluent_kafka import Consumer, Producer, TopicPartition

from transports.test_job_topics import LOG, Outside, headers_of, outside, value_of

__all__ = ["outside"]

pytestmark = [pytest.mark.engine(name="kafka"), pytest.mark.timeout(300)]
N_JOBS = 12


def murmur2(key: bytes) -> int:
    """Return the hash of Java's client, as its DefaultPartitioner has it."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    found = (0x9747B28C ^ len(key)) & mask
    whole = len(key) - len(key) % 4
    for at in range(0, whole, 4):
        k = (int.from_bytes(key[at : at + 4], "little") * m) & mask
        k = ((k ^ (k >> 24)) * m) & mask
        found = ((found * m) & mask) ^ k
    if rest := key[whole:]:
        found = ((found ^ int.from_bytes(rest, "little")) * m) & mask
    found = ((found ^ (found >> 13)) * m) & mask
    return (found ^ (found >> 15)) & 0x7FFFFFFF


class Worker:
    """A member of the group of JobWeaver's workers, with what its own client tells a broker."""

    def __init__(self, boot: str) -> None:
        self.ran: dict[str, str] = {}
        """Ids of jobs by the event ids of their runs."""
        self._over = threading.Event()
        self._consumer = Consumer(
            {
                "bootstrap.servers": boot,
                "group.id": "jobweaver-workers",
                "auto.offset.reset": "latest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "partition.assignment.strategy": "range",
            }
        )
        self._producer = Producer(
            {
                "bootstrap.servers": boot,
                "acks": "all",
                "enable.idempotence": True,
                "partitioner": "murmur2_random",
            }
        )
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Join the group, and wait for a partition."""
        has_some = threading.Event()

        def note(_: Consumer, partitions: list[TopicPartition]) -> None:
            if partitions:
                has_some.set()

        # A consumer answers no other thread while one polls it.
        self._consumer.subscribe(["run-job"], on_assign=note)
        self._thread.start()
        until(has_some.is_set)

    def close(self) -> None:
        """Leave the group."""
        self._over.set()
        self._thread.join()
        self._consumer.close()

    def _run(self) -> None:
        while not self._over.is_set():
            record = self._consumer.poll(0.1)
            if record is not None and record.error() is None:
                self._run_one(headers_of(record), value_of(record))
                self._consumer.commit(message=record, asynchronous=False)

    def _run_one(self, headers: dict[str, str], run: dict[str, Any]) -> None:
        """Take the steps, and say how they ended: of which run JobWeaver's do not say."""
        topic, outcome = "job-completed", {"jobId": run["jobId"]}
        for step in run["instruction"]["steps"]:
            threading.Event().wait(step.get("durationMs", 0) / 1000)  # the step itself
            if step["action"] == "FAIL":
                topic, outcome = "job-failed", {**outcome, "errorMessage": step.get("message")}
                break
        told = {"traceId": headers["traceId"], "eventId": str(uuid4())}
        self._producer.produce(topic, json.dumps(outcome), run["jobId"], headers=[*told.items()])
        assert self._producer.flush(30) == 0
        self.ran[headers["eventId"]] = run["jobId"]


@contextmanager
def workers(boot: str, count: int) -> Iterator[list[Worker]]:
    found = [Worker(boot) for _ in range(count)]
    try:
        for one in found:
            one.start()
        yield found
    finally:
        for one in found:
            one.close()


def test_keys_have_the_partitions_of_javas_client(outside: Outside) -> None:
    """So that whoever writes of a job, its records are in order. Known: 21 is -973932308 there,
    which loses its sign.
    """
    jobs = [outside.post(LOG) for _ in range(N_JOBS)]
    for job_id in jobs:
        outside.until_status(job_id, "COMPLETED")
        for topic in ("run-job", "job-completed"):
            for record in outside.told(topic, job_id):
                assert record.partition() == murmur2(job_id.encode()) % 3

    assert murmur2(b"21") == -973932308 & 0x7FFFFFFF
    assert len({murmur2(one.encode()) % 3 for one in jobs}) > 1


def test_workers_of_others_run_jobs_of_weft_and_do_not_say_which_run(outside: Outside) -> None:
    """Failures are tried again, and buried by weft."""
    with workers(outside.boot, 2) as theirs:
        good = [outside.post(LOG) for _ in range(N_JOBS)]
        bad = [outside.post({"action": "FAIL"}) for _ in range(N_JOBS)]
        for job_id in good:
            outside.until_status(job_id, "COMPLETED")
        for job_id in bad:
            outside.until_status(job_id, "FAILED")
        until(lambda: all(outside.told("job-dead-letter", one) for one in bad))
        ran = {job_id for one in theirs for job_id in one.ran.values()}

    assert ran & set(good)
    assert ran & set(bad)
    for job_id in good + bad:
        assert len(outside.told("run-job", job_id)) == 1
    for job_id in bad:
        (dead,) = outside.told("job-dead-letter", job_id)
        assert value_of(dead)["reason"] is None
        assert value_of(dead)["finalRetryCount"] == 1
        assert value_of(dead)["failedAt"].endswith("Z")


def test_a_scheduler_and_workers_of_others_get_on_without_weft(outside: Outside) -> None:
    """Runs of jobs that weft does not know, whoever has the partition: each has one outcome."""
    with workers(outside.boot, 2) as theirs:
        runs = {str(uuid4()): str(uuid4()) for _ in range(N_JOBS)}
        for event_id, job_id in runs.items():
            value = {"jobId": job_id, "instruction": {"steps": [LOG]}}
            outside.put("run-job", job_id, value, traceId="t", eventId=event_id)
        for job_id in runs.values():
            (completed,) = outside.told("job-completed", job_id)
            assert value_of(completed) == {"jobId": job_id}
            assert headers_of(completed)["traceId"] == "t"
        assert any(event_id in one.ran for one in theirs for event_id in runs)

    for job_id in runs.values():
        assert outside.http.get(f"/api/jobs/{job_id}").status_code == 404

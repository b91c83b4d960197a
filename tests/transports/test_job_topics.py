"""Jobs that travel over topics, seen by a plain client of a real broker beside a whole weft.
Events of a tenant that go to a topic, on a real broker that dies meanwhile.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import httpx
import pytest

from e2e.conftest import until
from transports.kafka_broker import KafkaBroker
from up.weft_up import prove_audit, run_weft, temporary_home, up
from weft.run.host.worker_name import user_name

pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

pytestmark = [pytest.mark.engine(name="kafka"), pytest.mark.timeout(300)]
PARTITIONS = {
    "job-created": 1,
    "run-job": 3,
    "job-completed": 3,
    "job-failed": 3,
    "job-dead-letter": 1,
}
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "kafka.md"
LOG = {"action": "LOG", "message": "a line"}


class Outside:
    """Another program: it knows the broker's address, the url and the token."""

    def __init__(self, boot: str, http: httpx.Client, home: Path, prefix: str = "") -> None:
        self.boot = boot
        self.prefix = prefix
        self.home = home
        self.http = http
        self.seen: list[Message] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        self._producer = Producer(
            {"bootstrap.servers": boot, "acks": "all", "partitioner": "murmur2_random"}
        )

    def _listen(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self.boot,
                "group.id": str(uuid4()),
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "topic.metadata.refresh.interval.ms": 1000,
            }
        )
        consumer.subscribe([self.prefix + topic for topic in PARTITIONS])
        while not self._over.is_set():
            if (message := consumer.poll(0.1)) is not None and message.error() is None:
                self.seen.append(message)
        consumer.close()

    def close(self) -> None:
        """Stop listening."""
        self._over.set()
        self._thread.join()

    def put(self, topic: str, key: str, value: object, **headers: str) -> None:
        """Write a record."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self._producer.produce(self.prefix + topic, body, key, headers=[*headers.items()])
        assert self._producer.flush(30) == 0

    def told(self, topic: str, job_id: str, *, n: int = 1) -> list[Message]:
        """Wait for records of a job; return them."""
        until(lambda: len(self._of(topic, job_id)) >= n)
        return self._of(topic, job_id)

    def _of(self, topic: str, job_id: str) -> list[Message]:
        key = job_id.encode()
        topic = self.prefix + topic
        return [one for one in list(self.seen) if one.topic() == topic and one.key() == key]

    def post(self, *steps: object, retries: int = 0, trace: str = "") -> str:
        """Submit a job; return its id."""
        body = {"jobType": "SIMULATION", "payload": {"steps": steps}, "maxRetryCount": retries}
        headers = {"X-Trace-Id": trace} if trace else {}
        answer = self.http.post("/api/jobs", json=body, headers=headers)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["jobId"])

    def status(self, job_id: str) -> dict[str, Any]:
        """Return the state of a job."""
        found: dict[str, Any] = self.http.get(f"/internal/jobs/{job_id}/status").json()
        return found

    def until_status(self, job_id: str, word: str) -> None:
        """Wait for a state of a job."""
        until(lambda: self.status(job_id).get("jobStatus") == word)


def headers_of(message: Message) -> dict[str, str]:
    found = cast("Iterable[tuple[str, bytes]]", message.headers() or ())
    return {name: value.decode() for name, value in found}


def value_of(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(message.value() or b"")
    return found


@pytest.fixture(scope="module")
def outside(kafka: KafkaBroker) -> Iterator[Outside]:
    """Give another program beside a weft that was told the broker's address alone."""
    with (
        temporary_home() as home,
        up(home, "--broker", kafka.address, WEFT_TOPICS_ANSWER_S="3") as running,
    ):
        running.until_ready()
        known = json.loads((home / "client.json").read_text())
        headers = {"authorization": f"Bearer {known['token']}"}
        with httpx.Client(base_url=known["url"], headers=headers, timeout=30) as http:
            found = Outside(kafka.address.removeprefix("kafka://"), http, home)
            admin = AdminClient({"bootstrap.servers": found.boot})
            until(lambda: admin.list_topics(timeout=10).topics.keys() >= PARTITIONS.keys())
            topics = admin.list_topics(timeout=10).topics
            assert {name: len(topics[name].partitions) for name in PARTITIONS} == PARTITIONS
            yield found
            found.close()
        prove_audit(home)


def test_a_job_is_told_of_run_and_completed(outside: Outside) -> None:
    """With one trace id everywhere, and the id of the job as key."""
    job_id = outside.post(LOG, {"action": "SLEEP", "durationMs": 5}, trace="mine")
    outside.until_status(job_id, "COMPLETED")
    (created,) = outside.told("job-created", job_id)
    (run,) = outside.told("run-job", job_id)
    (completed,) = outside.told("job-completed", job_id)
    (execution,) = outside.http.get(f"/internal/executions/{job_id}").json()["content"]
    instruction = {"steps": [LOG, {"action": "SLEEP", "durationMs": 5}]}

    assert value_of(created) == {
        "jobId": job_id,
        "type": "SIMULATION",
        "instruction": instruction,
        "maxRetries": 0,
    }
    assert value_of(run) == {"jobId": job_id, "instruction": instruction}
    assert value_of(completed) == {"jobId": job_id}
    assert {headers_of(one)["traceId"] for one in (created, run, completed)} == {"mine"}
    assert headers_of(completed)["runEventId"] == headers_of(run)["eventId"]
    assert headers_of(completed)["eventId"] != headers_of(run)["eventId"]
    assert execution["eventId"] == headers_of(run)["eventId"]
    # The same key has the same partition as with Java's client.
    assert run.partition() == completed.partition()


def test_a_job_that_fails_is_buried_after_its_retries(outside: Outside) -> None:
    """The delay after the first failure is ten seconds; each run has an id of its own."""
    job_id = outside.post({"action": "FAIL", "message": "no"}, LOG, retries=1)
    (dead,) = outside.told("job-dead-letter", job_id)
    runs, failures = outside.told("run-job", job_id), outside.told("job-failed", job_id)

    assert [value_of(one) for one in failures] == [{"jobId": job_id, "errorMessage": "no"}] * 2
    assert [headers_of(one)["runEventId"] for one in failures] == [
        headers_of(one)["eventId"] for one in runs
    ]
    assert len({headers_of(one)["eventId"] for one in runs}) == 2
    between_ms = runs[1].timestamp()[1] - failures[0].timestamp()[1]
    assert 9_000 < between_ms < 14_000
    assert value_of(dead).keys() == {"jobId", "reason", "finalRetryCount", "failedAt"}
    assert (value_of(dead)["reason"], value_of(dead)["finalRetryCount"]) == ("no", 2)
    assert headers_of(dead).keys() == {"traceId"}
    assert outside.status(job_id)["jobStatus"] == "FAILED"


def test_a_job_that_another_program_created_is_submitted_once(outside: Outside) -> None:
    """Unknown fields do not matter; a second record of the same job changes nothing."""
    job_id = str(uuid4())
    value = {
        "jobId": job_id,
        "type": "SIMULATION",
        "maxRetries": 2,
        "more": 1,
        "instruction": {"steps": [{**LOG, "more": 1}], "more": 1},
    }
    outside.put("job-created", job_id, value, traceId="theirs", eventId=str(uuid4()), more="1")
    outside.until_status(job_id, "COMPLETED")
    outside.put("job-created", job_id, value, traceId="again", eventId=str(uuid4()))
    other = str(uuid4())
    outside.put("job-created", other, {**value, "jobId": other}, traceId="t", eventId=str(uuid4()))
    outside.until_status(other, "COMPLETED")

    assert outside.status(job_id)["traceId"] == "theirs"
    assert outside.status(job_id)["maxRetries"] == 2
    assert len(outside.told("run-job", job_id)) == 1
    assert len(outside.told("job-created", job_id)) == 2, "weft does not tell of it once more"


def test_a_run_that_another_scheduler_asks_for_is_had_once(outside: Outside) -> None:
    """A repeat of its record is answered with the same outcome."""
    job_id, event_id = str(uuid4()), str(uuid4())
    steps = [{"action": "SLEEP", "durationMs": 200}, {"action": "FAIL", "message": "theirs"}]
    value = {"jobId": job_id, "instruction": {"steps": steps}}
    outside.put("run-job", job_id, value, traceId="t", eventId=event_id)
    outside.told("job-failed", job_id)
    outside.put("run-job", job_id, value, traceId="t", eventId=event_id)
    first, again = outside.told("job-failed", job_id, n=2)

    assert value_of(first) == value_of(again) == {"jobId": job_id, "errorMessage": "theirs"}
    assert headers_of(first)["runEventId"] == headers_of(again)["runEventId"] == event_id
    assert headers_of(first)["eventId"] != headers_of(again)["eventId"]
    assert again.timestamp()[1] - first.timestamp()[1] >= 0
    assert outside.http.get(f"/api/jobs/{job_id}").status_code == 404
    (run,) = outside.http.get(f"/internal/executions/{job_id}").json()["content"]
    assert (run["eventId"], run["traceId"], run["outcome"], run["errorMessage"]) == (
        event_id,
        "t",
        "FAILURE",
        "theirs",
    )


def test_an_outcome_ends_the_run_that_it_names_and_no_other(outside: Outside) -> None:
    """One that names none ends the open run; one of an unknown job, or without the headers that
    every record has, does nothing.
    """
    job_id, other = (outside.post({"action": "SLEEP", "durationMs": 60_000}) for _ in range(2))
    outside.told("run-job", job_id)
    (run,) = outside.told("run-job", other)
    event = {"traceId": "t", "eventId": str(uuid4())}
    outside.put("job-completed", str(uuid4()), {"jobId": str(uuid4())}, **event)
    outside.put("job-failed", other, {"jobId": other}, traceId="t")
    outside.put("job-failed", other, {"jobId": other}, eventId=str(uuid4()))
    until(lambda: is_kept(outside, "job-failed", "eventId"))
    until(lambda: is_kept(outside, "job-failed", "traceId"))
    stale = {"traceId": "t", "eventId": str(uuid4()), "runEventId": str(uuid4())}
    outside.put("job-failed", other, {"jobId": other, "errorMessage": "stale"}, **stale)
    outside.put("job-completed", job_id, {"jobId": job_id}, traceId="t", eventId=str(uuid4()))
    outside.until_status(job_id, "COMPLETED")
    assert outside.status(other)["jobStatus"] == "RUNNING"
    named = {**stale, "eventId": str(uuid4()), "runEventId": headers_of(run)["eventId"]}
    outside.put("job-failed", other, {"jobId": other, "errorMessage": None}, **named)
    outside.until_status(other, "FAILED")


def test_poison_goes_by_and_positions_pass_it(outside: Outside) -> None:
    """A record whose instruction alone cannot be read has failed, once, and is kept, too."""
    event = {"traceId": "t", "eventId": str(uuid4())}
    for topic in ("job-created", "run-job", "job-completed", "job-failed"):
        for value, headers in (
            (b"\xff{", event),
            (b"", {}),
            (b"[]", event),
            (b"{}", event),
            (json.dumps({"jobId": str(uuid4()), "instruction": {"steps": []}}).encode(), {}),
        ):
            outside.put(topic, "poison", value, **headers)
    known = str(uuid4())
    bad = {"jobId": known, "instruction": {"steps": [{"action": "DANCE"}]}}
    outside.put("run-job", known, bad, traceId="t", eventId=str(uuid4()))
    refused = {"action": "SLEEP", "durationMs": -1}
    job = {"jobId": str(uuid4()), "type": "SIMULATION", "maxRetries": 0}
    outside.put(
        "job-created",
        "poison",
        {**job, "instruction": {"steps": [refused]}},
        traceId="t",
        eventId=str(uuid4()),
    )
    job_id = outside.post(LOG)
    outside.until_status(job_id, "COMPLETED")

    assert len(outside.told("job-failed", known)) == 1
    for topic, why in (("run-job", "DANCE"), ("job-created", "/steps/0/durationMs")):
        until(lambda topic=topic, why=why: is_kept(outside, topic, why))  # type: ignore[misc]
    until(lambda: lag(outside, "jobweaver-workers", "run-job") == 0)
    for topic in ("job-created", "job-completed", "job-failed"):
        until(lambda topic=topic: lag(outside, "scheduler-group", topic) == 0)  # type: ignore[misc]


def is_kept(outside: Outside, topic: str, why: str) -> bool:
    kept = outside.http.get("/v1/dead-messages", params={"limit": 100}).json()["items"]
    return any(one["source"] == topic and why in one["error"] for one in kept)


def lag(outside: Outside, group: str, topic: str) -> int:
    admin = AdminClient({"bootstrap.servers": outside.boot})
    parts = [TopicPartition(topic, number) for number in range(PARTITIONS[topic])]
    asked = [ConsumerGroupTopicPartitions(group, parts)]
    found = admin.list_consumer_group_offsets(asked)[group].result()
    looking = Consumer({"bootstrap.servers": outside.boot, "group.id": "nobody"})
    try:
        return sum(
            looking.get_watermark_offsets(one)[1] - max(one.offset, 0)
            for one in found.topic_partitions or ()
        )
    finally:
        looking.close()


def test_a_run_that_was_taken_and_forgotten_is_asked_for_again(outside: Outside) -> None:
    """Under the same id."""
    consumer = Consumer(
        {
            "bootstrap.servers": outside.boot,
            "group.id": "jobweaver-workers",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "partition.assignment.strategy": "range",
        }
    )
    consumer.subscribe(["run-job"])
    jobs: list[str] = []
    taken: list[str] = []

    def has_taken() -> bool:
        jobs.append(outside.post(LOG))
        message = consumer.poll(0.5)
        if message is not None and (message.key() or b"").decode() in jobs:
            consumer.commit(message=message, asynchronous=False)
            taken.append((message.key() or b"").decode())
        return bool(taken)

    until(has_taken)
    consumer.close()
    outside.until_status(taken[0], "COMPLETED")
    assert len({headers_of(one)["eventId"] for one in outside.told("run-job", taken[0], n=2)}) == 1


def test_a_worker_that_is_killed_loses_no_job_and_no_run(outside: Outside) -> None:
    """Neither ours nor those that another scheduler has asked for."""
    sleep = {"action": "SLEEP", "durationMs": 1000}
    jobs = [outside.post(sleep) for _ in range(20)]
    theirs = [str(uuid4()) for _ in range(5)]
    for job_id in theirs:
        value = {"jobId": job_id, "instruction": {"steps": [sleep]}}
        outside.put("run-job", job_id, value, traceId="t", eventId=str(uuid4()))
    outside.told("run-job", jobs[-1])
    pid = json.loads((outside.home / "run" / "worker.ready").read_text())["pid"]
    os.kill(pid, signal.SIGKILL)
    for job_id in theirs:
        outside.told("job-completed", job_id)
    for job_id in jobs:
        outside.until_status(job_id, "COMPLETED")
    until(lambda: lag(outside, "jobweaver-workers", "run-job") == 0)


def test_the_worker_of_the_guide_runs_jobs_beside_ours(outside: Outside, tmp_path: Path) -> None:
    """It joins the group; all jobs end, some of them by it."""
    programs = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    (program,) = [one for one in programs if '"run-job"' in one]
    (tmp_path / "worker.py").write_text(program)
    with subprocess.Popen(
        [sys.executable, "-u", tmp_path / "worker.py", outside.boot],
        stdout=subprocess.PIPE,
        text=True,
    ) as worker:
        lines: list[str] = []
        reading = threading.Thread(target=lambda: lines.extend(worker.stdout or ()), daemon=True)
        reading.start()
        try:
            jobs: list[str] = []

            def has_run() -> bool:
                jobs.append(outside.post(LOG))
                return any(one in "".join(lines) for one in jobs)

            until(has_run)
            jobs += [outside.post(LOG) for _ in range(20)]
            bad = outside.post({"action": "FAIL", "message": "both"})
            for job_id in jobs:
                outside.until_status(job_id, "COMPLETED")
            outside.until_status(bad, "FAILED")
        finally:
            worker.terminate()
            worker.wait()
    assert len(
        {headers_of(one)["eventId"] for job_id in jobs for one in outside.told("run-job", job_id)}
    ) == len(jobs)


pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")


TOPIC = "weft.default.events"
FILE = """
[[transports]]
name = "kafka"
kind = "kafka"
address = "{address}"
tenants = ["default"]

[transports.events]
tenant = "default"
user = "{user}"
"""


@pytest.fixture
def home(kafka: KafkaBroker, tmp_path: Path) -> Iterator[Path]:
    """Give the home of a weft that tells of its events."""
    file = tmp_path / "transports.toml"
    file.write_text(FILE.format(address=kafka.address, user=user_name()))
    with temporary_home() as home, up(home, WEFT_TRANSPORTS_FILE=str(file)) as running:
        running.until_ready()
        yield home


def test_events_are_told_in_order_also_after_a_time_without_broker(
    kafka: KafkaBroker, home: Path
) -> None:
    """Of each batch."""
    told: list[dict[str, Any]] = []
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.address.removeprefix("kafka://"),
            "group.id": str(uuid4()),
            "auto.offset.reset": "earliest",
            "topic.metadata.refresh.interval.ms": 1000,
        }
    )
    consumer.subscribe([TOPIC])

    def kinds_of(batch: str) -> list[str]:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            told.append(json.loads(message.value() or b"") | {"key": message.key()})
        return [one["kind"] for one in told if one["key"] == batch.encode()]

    def run() -> str:
        ran = run_weft("run", "--home", str(home), "--json", "--", "true")
        assert ran.returncode == 0, ran.stderr
        (found,) = (one["batch_id"] for one in [json.loads(ran.stdout.splitlines()[0])])
        return f"b{found}"

    batches = [run()]
    until(lambda: "batch.complete" in kinds_of(batches[0]))
    kafka.kill()
    batches += [run(), run()]
    kafka.start()
    for batch in batches:
        until(lambda batch=batch: "batch.complete" in kinds_of(batch))  # type: ignore[misc]
        ids = [one["id"] for one in told if one["key"] == batch.encode()]
        assert kinds_of(batch)[0] == "update.committed"
        assert list(dict.fromkeys(ids)) == sorted(set(ids), key=_position)
    consumer.close()


def _position(text: str) -> tuple[int, int]:
    xid, _, number = text.partition("-")
    return int(xid), int(number)

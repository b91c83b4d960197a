"""Two tenants whose jobs, events and submissions travel over one Kafka, each over its own set."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest

from e2e.conftest import until
from transports.kafka_broker import KafkaBroker
from up.weft_up import prove_audit, run_weft, temporary_home, up
from weft.run.host.worker_name import user_name

pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

from confluent_kafka import Consumer

from transports.test_job_topics import LOG, Outside

pytestmark = [pytest.mark.engine(name="kafka"), pytest.mark.timeout(300)]
FILE = """
[[transports]]
name = "kafka"
kind = "kafka"
address = "{address}"
tenants = ["default", "away"]
"""
SETS = """
[[transports.jobs]]
door = "jobweaver"
tenant = "{tenant}"
user = "{user}"
prefix = "{prefix}"

[[transports.events]]
tenant = "{tenant}"
user = "{user}"

[[transports.submissions]]
tenant = "{tenant}"
user = "{user}"
"""
AWAY = "away."


@pytest.fixture(scope="module")
def sides(kafka: KafkaBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Outside]]:
    """Give a program of the tenant `default`, and one of the tenant `away`."""
    file = tmp_path_factory.mktemp("sets") / "transports.toml"
    file.write_text(
        FILE.format(address=kafka.address)
        + SETS.format(tenant="default", user=user_name(), prefix="")
        + SETS.format(tenant="away", user="bob", prefix=AWAY)
    )
    boot = kafka.address.removeprefix("kafka://")
    with temporary_home() as home, up(home, WEFT_TRANSPORTS_FILE=str(file)) as running:
        running.until_ready()
        known = json.loads((home / "client.json").read_text())
        made = run_weft(
            "tenant", "create", "away", "--admin", "bob", "--home", str(home), "--json"
        )
        assert made.returncode == 0, made.stderr
        found = []
        for token, prefix in ((known["token"], ""), (json.loads(made.stdout)["token"], AWAY)):
            headers = {"authorization": f"Bearer {token}"}
            http = httpx.Client(base_url=known["url"], headers=headers, timeout=30)
            found.append(Outside(boot, http, home, prefix))
        yield found
        for one in found:
            one.close()
            one.http.close()
        prove_audit(home)


def test_a_job_that_a_record_brings_is_its_own_tenants_alone(sides: list[Outside]) -> None:
    """In both directions; its run and outcome stay in its set, too."""
    jobs = [str(uuid4()) for _ in sides]
    for side, job_id in zip(sides, jobs, strict=True):
        value = {
            "jobId": job_id,
            "type": "SIMULATION",
            "maxRetries": 0,
            "instruction": {"steps": [LOG]},
        }
        side.put("job-created", job_id, value, traceId="t", eventId=str(uuid4()))
    for side, job_id in zip(sides, jobs, strict=True):
        side.until_status(job_id, "COMPLETED")
        side.told("job-completed", job_id)
    home, away = sides

    assert home.http.get(f"/api/jobs/{jobs[1]}").status_code == 404
    assert away.http.get(f"/api/jobs/{jobs[0]}").status_code == 404
    for side, other in ((home, jobs[1]), (away, jobs[0])):
        assert other.encode() not in {one.key() for one in side.seen}
        ids = [one["id"] for one in side.http.get("/api/jobs").json()["jobs"]]
        assert other not in ids
    (batch,) = away.http.get("/v1/batches").json()["items"]
    assert batch["user"] == "bob"


def test_a_job_over_http_travels_over_the_set_of_its_tenant(sides: list[Outside]) -> None:
    for side, other in (sides, sides[::-1]):
        job_id = side.post({"action": "FAIL", "message": "no"})
        side.told("job-created", job_id)
        side.told("job-dead-letter", job_id)

        assert job_id.encode() not in {one.key() for one in other.seen}


def test_a_run_of_one_set_is_none_of_the_other(sides: list[Outside]) -> None:
    """Under the same event id: each runs it, and nobody hears the other's outcome."""
    event_id, job_id = str(uuid4()), str(uuid4())
    for side, message in zip(sides, ("mine", "theirs"), strict=True):
        value = {
            "jobId": job_id,
            "instruction": {"steps": [{"action": "FAIL", "message": message}]},
        }
        side.put("run-job", job_id, value, traceId="t", eventId=event_id)
        (failed,) = side.told("job-failed", job_id)

        assert json.loads(failed.value() or b"")["errorMessage"] == message


def test_events_and_submissions_are_each_tenants_own(sides: list[Outside]) -> None:
    told = []
    for tenant, side in zip(("default", "away"), sides, strict=True):
        name = f"batch-{uuid4()}"
        batch = {"name": name, "jobs": [{"command": ["true"]}]}
        put_submission(side, tenant, {"id": name, "batch": batch})
        until(lambda side=side, name=name: name in names(side))  # type: ignore[misc]
        told.append((side, tenant, name))
    for side, tenant, name in told:
        others = {name for _, other, name in told if other != tenant}
        batches = {one["id"] for one in items(side)}

        assert not others & names(side)
        assert events_until_complete(side, tenant, name) <= batches


def put_submission(side: Outside, tenant: str, value: dict[str, Any]) -> None:
    prefix, side.prefix = side.prefix, ""
    side.put(f"weft.{tenant}.submissions", "", value)
    side.prefix = prefix


def items(side: Outside) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = side.http.get("/v1/batches").json()["items"]
    return found


def names(side: Outside) -> set[str]:
    return {one["name"] for one in items(side) if one["name"]}


def events_until_complete(side: Outside, tenant: str, name: str) -> set[int]:
    """Return of which batches a topic tells, once it has told the end of this one. What it has
    from before the first of them is of another weft, which had the broker before.
    """
    (batch,) = (one["id"] for one in items(side) if one["name"] == name)
    since = min(datetime.fromisoformat(one["created_at"]) for one in items(side))
    consumer = Consumer(
        {
            "bootstrap.servers": side.boot,
            "group.id": str(uuid4()),
            "auto.offset.reset": "earliest",
            "topic.metadata.refresh.interval.ms": 1000,
        }
    )
    consumer.subscribe([f"weft.{tenant}.events"])
    seen: list[dict[str, Any]] = []

    def is_told() -> bool:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            event = json.loads(message.value() or b"")
            if "at" in event and datetime.fromisoformat(event["at"]) >= since:
                seen.append(event)
        return any(one["kind"] == "batch.complete" and one["batch_id"] == batch for one in seen)

    until(is_told)
    consumer.close()
    return {one["batch_id"] for one in seen if one.get("batch_id")}

"""Batches that programs submit by real brokers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import until
from transports.rabbit_broker import RabbitBroker
from transports.site import Broker, Site, weft_beside
from transports.test_foreign_consumers import WIRES, broker, wire
from transports.test_rabbitmq import until_consumed
from transports.test_rabbitmq_dead import letters, publish
from weft.ports.transport import SUBMISSIONS, Route
from weft.run.host.worker_name import user_name

pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

from confluent_kafka import Producer

__all__ = ["broker", "wire"]

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]
TABLE = """
[transports.submissions]
tenant = "default"
user = "{user}"
"""
QUEUE = "weft.default.submissions"


@pytest.fixture
def site(broker: Broker, wire: str, tmp_path: Path) -> Iterator[Site]:
    """Give a weft that takes submissions."""
    connection = WIRES[wire][1].format(address=broker.address) + TABLE.format(user=user_name())
    with weft_beside(tmp_path, wire, connection, RABBIT_PASSWORD="guest") as site:
        if isinstance(broker, RabbitBroker):  # what comes before its queue is there is unroutable
            until_consumed(broker, Route("default", SUBMISSIONS))
        yield site


def send(broker: Broker, wire: str, body: bytes) -> None:
    """Write a message as any program does."""
    if wire == "rabbit":
        publish("weft.default", QUEUE, body)
        return
    producer = Producer({"bootstrap.servers": broker.address.partition("//")[2]})
    producer.produce(QUEUE, body)
    assert producer.flush(30) == 0


def batches(site: Site) -> list[dict[str, Any]]:
    """Return the batches that there are."""
    found: list[dict[str, Any]] = json.loads(site.run("ls", "--json").stdout)
    return found


def test_a_batch_comes_once_and_what_is_refused_is_kept_with_the_problem(
    site: Site, broker: Broker, wire: str
) -> None:
    done = site.directory / "done"
    job = {"command": ["sh", "-c", f"echo $WEFT_JOB >> {done}"]}
    good = json.dumps({"id": "order 1", "batch": {"name": "from afar", "jobs": [job]}}).encode()
    bad = json.dumps({"id": "order 2", "batch": {"jobs": [{"command": "true"}]}}).encode()
    for body in (good, bad, good):
        send(broker, wire, body)
    until(lambda: [one["state"] for one in batches(site)] == ["success"])
    until(lambda: len(letters(site)) == 1)
    broker.kill()
    broker.start()
    send(broker, wire, good)
    send(broker, wire, json.dumps({**json.loads(good), "id": "order 3"}).encode())
    until(lambda: [one["state"] for one in batches(site)] == ["success"] * 2)
    (letter,) = letters(site)
    problem = json.loads(letter["error"])
    site.prove_audit()

    assert len(done.read_text().split()) == 2
    assert (letter["source"], letter["reason"], letter["can_resend"]) == (QUEUE, "refused", True)
    assert problem["errors"][0]["pointer"] == "/jobs/0/command"

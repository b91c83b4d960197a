"""Events of a tenant that go to a topic, on a real broker that dies meanwhile."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from e2e.conftest import until
from transports.kafka_broker import KafkaBroker
from up.weft_up import run_weft, temporary_home, up
from weft.run.host.worker_name import user_name

pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

from confluent_kafka import Consumer

pytestmark = [pytest.mark.engine(name="kafka"), pytest.mark.timeout(300)]
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
            "group.id": str(uuid4()), "auto.offset.reset": "earliest",
            "topic.metadata.refresh.interval.ms": 1000,
        }
    )  # fmt: skip
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

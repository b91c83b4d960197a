"""What a program is told of a job that it runs for a weft, by real brokers."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from e2e.conftest import until
from transports.site import Broker, Site
from transports.test_foreign_consumers import broker, consumers, program, site, submit, wire
from transports.test_rabbitmq import connection as to_rabbit
from weft.extensions.brokers.rabbitmq.events import RabbitEvents
from weft.ports.topics import Record

__all__ = ["broker", "site", "wire"]

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]
ON_KAFKA = """
import json, sys
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

to = {"bootstrap.servers": sys.argv[1]}
admin = AdminClient(to)  # its answers end with it
for future in admin.create_topics([NewTopic("weft.default.commands", 1)]).values():
    future.exception()
consumer = Consumer({**to, "group.id": "any", "enable.auto.commit": False})
at = TopicPartition("weft.default.commands", 0)
at.offset = consumer.get_watermark_offsets(at)[1]
consumer.assign([at])
print("listening", flush=True)
while True:
    record = consumer.poll(1.0)
    if record is not None and not record.error():
        command = json.loads(record.value())
        assert record.key().decode() == f"{command['batch']}.j{command['job']}"
        print(command["command"], command["batch"], command["job"], flush=True)
"""


@contextmanager
def listening(site: Site, broker: Broker, wire: str) -> Iterator[list[str]]:
    """Run a program that prints commands; its lines are added to the list."""
    address = broker.address.partition("//")[2]
    code = ON_KAFKA
    if wire == "rabbit":
        code = program("rabbitmq.md", "declare_queue(exclusive").replace("127.0.0.1:5672", address)
    path, out = site.directory / "commands.py", site.directory / "commands"
    path.write_text(code)
    out.write_text("")
    with out.open("w") as to:
        running = subprocess.Popen([sys.executable, str(path), address], stdout=to)
    lines: list[str] = []
    try:
        until(lambda: "listening" in out.read_text())
        yield lines
    finally:
        lines += out.read_text().splitlines()[1:]
        running.kill()
        running.wait()


def test_a_program_hears_the_commands_for_its_jobs(site: Site, broker: Broker, wire: str) -> None:
    runs = site.directory / "0"
    command = f"touch {site.directory}/{{value}}; sleep 60"
    out = site.directory / "commands"
    with listening(site, broker, wire) as heard, consumers(site, broker, wire, 1):
        batch = submit(site, command, timeout_s=600)
        until(lambda: runs.exists() or (site.directory / "1").exists())
        job = f"{batch}.j{1 if runs.exists() else 2}"
        until(lambda: site.run("signal", job, "USR1").returncode == 0)
        extended = site.run("extend", job, "--by", "10m")
        assert extended.returncode == 0, extended.stderr
        until(lambda: "signal" in out.read_text() and "extend" in out.read_text())
        site.kill("driver")
        cancelled = site.run("cancel", job)
        until(lambda: f"cancel {batch} {job[-1]}" in out.read_text())
    entries = site.run("status", job).stdout
    site.prove_audit()

    assert cancelled.returncode == 0, cancelled.stderr
    assert f"signal {batch} {job[-1]}" in heard
    assert f"extend {batch} {job[-1]}" in heard
    assert "was delivered" in entries


async def test_what_nobody_listens_to_is_said_to_be_unheard(broker: Broker, wire: str) -> None:
    if wire != "rabbit":
        pytest.skip("records stay for later readers")
    events = RabbitEvents(to_rabbit(broker))  # type: ignore[arg-type]
    record = Record(
        "weft.home.commands", "b1.j1", json.dumps({}).encode(), {"id": "1", "kind": "x"}
    )
    try:
        found = [
            await events.publish([one]) for one in (record._replace(needs_reader=True), record)
        ]
    finally:
        await events.close()

    assert found == [[False], [True]]

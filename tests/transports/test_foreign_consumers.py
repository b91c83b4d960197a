"""Jobs of a queue that a program runs which is not weft's: that of the guide, as written there,
and what others are told of a job, by real brokers.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.conftest import until
from transports.site import QUEUE, Broker, Site, weft_beside
from transports.test_kafka import CONNECTION as KAFKA
from transports.test_rabbitmq import CONNECTION as RABBIT
from transports.test_rabbitmq import connection as to_rabbit
from up.weft_up import run_weft
from weft.ports.topics import Record
from weft_brokers.rabbitmq.events import RabbitEvents

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]
GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"
WIRES = {
    "rabbit": ("rabbitmq.md", RABBIT, "127.0.0.1:5672"),
    "kafka": ("kafka.md", KAFKA, "127.0.0.1:9092"),
}
"""Of each transport: its guide, its connection, and the address in the guide."""
OURS = """
[[queue]]
name = "ours"
priority = 2
transport = "{transport}"
consumers = "foreign"
slots = 2
queued_s = 60
"""
N_JOBS = 40


ENGINES = [
    pytest.param("rabbit", marks=pytest.mark.engine(name="rabbitmq")),
    pytest.param("kafka", marks=pytest.mark.engine(name="kafka")),
]


@pytest.fixture(params=ENGINES)
def broker(request: pytest.FixtureRequest) -> Broker:
    """Give a broker of each kind."""
    found: Broker = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def wire(request: pytest.FixtureRequest) -> str:
    """Give the name of its transport."""
    return str(request.node.callspec.params["broker"])


@pytest.fixture
def site(broker: Broker, wire: str, tmp_path: Path) -> Iterator[Site]:
    """Give a weft with a queue of foreign consumers."""
    connection = WIRES[wire][1].format(address=broker.address)
    with weft_beside(tmp_path, wire, connection, RABBIT_PASSWORD="guest") as site:
        (tmp_path / "queues.toml").write_text((QUEUE + OURS).format(transport=wire))
        applied = run_weft(
            "queue", "apply", "--home", str(site.home), str(tmp_path / "queues.toml"), "--yes"
        )
        assert applied.returncode == 0, applied.stderr
        yield site


def program(guide: str, word: str) -> str:
    """Return the program of a guide in which this word stands."""
    (code,) = (
        one
        for one in re.findall(r"```python\n(.*?)```", (GUIDES / guide).read_text(), re.DOTALL)
        if word in one
    )
    return str(code)


@contextmanager
def consumers(site: Site, broker: Broker, wire: str, count: int) -> Iterator[None]:
    """Run the consumer of the guide, again whenever it ends."""
    guide, _, address = WIRES[wire]
    path = site.directory / "consumer.py"
    path.write_text(program(guide, "OUTCOMES").replace(address, broker.address.partition("//")[2]))
    loop = ["sh", "-c", 'while :; do "$0" "$1" 2>>"$1.log"; sleep 0.5; done']
    running = [
        subprocess.Popen([*loop, sys.executable, str(path)], process_group=0) for _ in range(count)
    ]
    try:
        yield
    finally:
        for one in running:
            subprocess.run(["kill", "-KILL", "--", f"-{one.pid}"], check=False)
            one.wait()


def submit(site: Site, command: str, **fields: object) -> str:
    """Submit jobs; in their commands stands `{value}`."""
    values = [str(n) for n in range(N_JOBS)]
    job = {"command": ["sh", "-c", command], "queue": "ours", "values": values, **fields}
    document = {"jobs": [job]}
    (site.directory / "batch.json").write_text(json.dumps(document))
    found = site.run("submit", str(site.directory / "batch.json"))
    assert found.returncode == 0, found.stderr
    return found.stdout.split()[0]


def test_a_foreign_program_runs_a_command_and_tells_how_it_ended(
    site: Site, broker: Broker, wire: str
) -> None:
    with consumers(site, broker, wire, 1):
        good = site.run("run", "--queue", "ours", "--", "touch", str(site.directory / "ran"))
        bad = site.run("run", "--queue", "ours", "--", "sh", "-c", "exit 3")
    refused = site.run("run", "--queue", "ours", "--env", "A=b", "--", "true")
    workers = run_weft("worker", "ls", "--home", str(site.home))

    assert (good.returncode, bad.returncode) == (0, 3), good.stderr + bad.stderr
    assert (site.directory / "ran").exists()
    assert "hands foreign programs a command and nothing else" in refused.stderr
    assert "foreign" in workers.stdout


@pytest.mark.parametrize("fault", ["broker", "driver"])
def test_a_kill_between_offer_and_outcome_loses_and_doubles_nothing(
    site: Site, broker: Broker, wire: str, fault: str
) -> None:
    done = site.directory / "done"
    done.write_text("")
    # A second start of a job that somebody runs fails for good.
    command = (
        "mkdir {0}/{{value}} && sleep 0.2 && echo {{value}} >> {0}/done && rmdir {0}/{{value}}"
    )
    with consumers(site, broker, wire, 2):
        batch = submit(site, command.format(site.directory))
        until(lambda: len(done.read_text().split()) >= 5)
        faults: Mapping[str, Callable[[], None]] = {
            "broker": broker.kill,
            "driver": lambda: site.kill("driver"),
        }
        faults[fault]()
        broker.start()
        until(lambda: site.status(batch) not in {"running", "ready", "queued", "pending"})
    ran = Counter(done.read_text().split())
    counts = json.loads(site.run("status", batch, "--json").stdout)
    site.prove_audit()

    assert site.status(batch) == "success", counts
    assert sorted(ran, key=int) == [str(n) for n in range(N_JOBS)]
    assert max(ran.values()) <= 2, "once more where its answer was lost with the broker"
    assert sum(ran.values()) <= N_JOBS + 2


def test_a_cancel_of_what_a_foreign_program_runs_counts_at_once(
    site: Site, broker: Broker, wire: str
) -> None:
    go = site.directory / "go"
    command = f"touch {site.directory}/{{value}}; until [ -e {go} ]; do sleep 0.1; done"
    with consumers(site, broker, wire, 1):
        batch = submit(site, command)
        until(lambda: any((site.directory / n).exists() for n in "01"))  # in which order ever
        cancelled = site.run("cancel", batch)
        until(lambda: site.status(batch) == "cancelled")
        go.write_text("")
    site.prove_audit()

    assert cancelled.returncode == 0, cancelled.stderr


__all__ = ["broker", "site", "wire"]

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

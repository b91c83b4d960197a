"""What goes wrong between a whole weft and RabbitMQ: repeats, flow control, silence, and kills of
those who read.
"""

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import until
from transports.proxy import Proxy
from transports.rabbit_broker import RabbitBroker
from transports.site import QUEUE, Site, weft_beside
from transports.test_foreign_consumers import OURS, consumers
from transports.test_rabbitmq import CONNECTION, until_consumed, until_depth
from transports.test_rabbitmq_dead import WITH_GUEST, publish
from transports.test_rabbitmq_events import EVENTS, listen, taken
from transports.test_rabbitmq_faults import check, proxy, until_emptied
from transports.test_submissions import TABLE, batches
from up.weft_up import run_weft
from weft.ports.transport import OUTCOMES, SUBMISSIONS, Route
from weft.run.host.worker_name import user_name

pytest.importorskip("aio_pika", reason="the extra `rabbitmq` is not installed")

import aio_pika

pytestmark = [pytest.mark.engine(name="rabbitmq"), pytest.mark.timeout(300)]
__all__ = ["proxy"]
OFFER = re.compile(rb'\{"tenant":"default","batch":\d+,"job":\d+,"offer":\d+,"trace":"[^"]*"\}')
N_REPLAYED = 100
QUEUED_S = 3


@pytest.fixture
def site(proxy: Proxy, tmp_path: Path) -> Iterator[Site]:
    """Give a weft that reaches the broker by the proxy, tells of its events there and takes
    submissions.
    """
    file = CONNECTION.format(address=f"amqp://127.0.0.1:{proxy.port}")
    file += (EVENTS + TABLE).format(user=user_name())
    with weft_beside(tmp_path, "rabbit", file, RABBIT_PASSWORD="guest") as site:
        (tmp_path / "done").write_text("")
        yield site


def test_a_days_messages_replayed_and_shuffled_start_nothing(
    site: Site, rabbit: RabbitBroker, proxy: Proxy
) -> None:
    """While new jobs run."""
    command = f"echo $WEFT_BATCH.$WEFT_JOB >> {site.directory}/done"
    before = site.submit(N_REPLAYED, command)
    until(lambda: site.status(before) == "success")
    batch = site.submit(N_REPLAYED, f"sleep 0.05; {command}")
    until(lambda: len((site.directory / "done").read_text().split()) > N_REPLAYED)
    for seed in (1, 2):
        replay(proxy, seed)
    until(lambda: site.status(batch) == "success")
    n_sent = replay(proxy, 3)
    until_emptied(rabbit)

    assert n_sent >= 2 * N_REPLAYED
    check(site, batch, 2 * N_REPLAYED)


def replay(proxy: Proxy, seed: int) -> int:
    """Send all messages of offers that were ever sent, in any order; return their number."""
    bodies = [body for sent in proxy.sent for body in OFFER.findall(bytes(sent))]
    random.Random(seed).shuffle(bodies)  # noqa: S311 (an order)

    async def send() -> None:
        async with await aio_pika.connect(WITH_GUEST) as other:
            to = (await other.channel()).default_exchange
            name = Route("default", "q").name
            for body in bodies:
                await to.publish(aio_pika.Message(body), routing_key=name)

    asyncio.run(send())
    return len(bodies)


def test_flow_control_delays_offers_and_loses_none(site: Site, rabbit: RabbitBroker) -> None:
    """The broker is short of memory, and reads nothing from those who publish."""
    command = f"sleep 0.2; echo $WEFT_BATCH.$WEFT_JOB >> {site.directory}/done"
    first = site.submit(20, command)
    until(lambda: len((site.directory / "done").read_text().split()) >= 3)
    rabbit.ctl("set_vm_memory_high_watermark", "0.00001")
    try:
        second = site.submit(20, command)
        until(lambda: any(one["unconfirmed"] for one in site.transport("rabbit")["queues"]))
    finally:
        rabbit.ctl("set_vm_memory_high_watermark", "0.4")
    until(lambda: site.status(first) == site.status(second) == "success")

    check(site, second, 40)


def test_a_driver_that_is_killed_before_its_events_are_confirmed_tells_them_again(
    site: Site, proxy: Proxy
) -> None:
    listen("steps", "weft.default.events", "#")
    told: list[dict[str, Any]] = []

    def kinds_of(batch: str) -> list[str]:
        told.extend(document for _, document in taken("steps"))
        return [one["kind"] for one in told if f"b{one['batch_id']}" == batch]

    before = site.run_one()
    until(lambda: "batch.complete" in kinds_of(before))
    proxy.hold("in")
    batch = site.run_one()
    until(lambda: kinds_of(batch) != [])  # the broker has it, and nobody has heard so
    site.kill("driver")
    proxy.cut()
    until(lambda: "batch.complete" in kinds_of(batch))
    ids = [one["id"] for one in told if f"b{one['batch_id']}" == batch]
    first = list(dict.fromkeys(ids))

    assert first == sorted(first, key=lambda one: [int(part) for part in one.split("-")])
    assert Counter(ids)[first[0]] >= 2
    assert kinds_of(batch)[0] == "update.committed"


def test_an_api_that_is_killed_before_it_has_acknowledged_submits_once(
    site: Site, rabbit: RabbitBroker, proxy: Proxy
) -> None:
    route, done = Route("default", SUBMISSIONS), site.directory / "done"
    job = {"command": ["sh", "-c", f"echo $WEFT_BATCH.$WEFT_JOB >> {done}"]}
    until_consumed(rabbit, route)
    proxy.hold("out")
    publish("weft.default", route.name, json.dumps({"id": "1", "batch": {"jobs": [job]}}).encode())
    until(lambda: [one["state"] for one in batches(site)] == ["success"])
    site.kill("api")
    proxy.cut()
    asyncio.run(until_depth(rabbit, route, lambda found: found == (0, 1)))
    site.prove_audit()

    assert len(batches(site)) == 1
    assert len(done.read_text().split()) == 1


def test_a_program_that_never_answers_loses_its_jobs_to_the_next(
    site: Site, rabbit: RabbitBroker
) -> None:
    """What it says at last changes nothing."""
    queues = (QUEUE + OURS.replace("queued_s = 60", f"queued_s = {QUEUED_S}")).format(
        transport="rabbit"
    )
    (site.directory / "queues.toml").write_text(queues)
    applied = run_weft(
        "queue", "apply", "--home", str(site.home), str(site.directory / "queues.toml"), "--yes"
    )
    assert applied.returncode == 0, applied.stderr
    done = site.directory / "done"
    job = {
        "command": ["sh", "-c", f"echo {{value}} >> {done}"],
        "queue": "ours",
        "values": ["1", "2", "3", "4"],
    }
    (site.directory / "batch.json").write_text(json.dumps({"jobs": [job]}))
    ours = Route("default", "ours")

    def submit() -> str:
        return site.run("submit", str(site.directory / "batch.json")).stdout.split()[0]

    async def silent() -> None:
        async with await aio_pika.connect(WITH_GUEST) as other:
            channel = await other.channel()
            batch = await asyncio.to_thread(submit)
            await until_depth(rabbit, ours, lambda found: found.messages > 0)
            message = await (await channel.get_queue(ours.name)).get()
            with consumers(site, rabbit, "rabbit", 1):
                await asyncio.to_thread(until, lambda: site.status(batch) == "success")
            answer = {**json.loads(message.body), "outcome": "ended", "exit_code": 1}
            to = await channel.get_exchange("weft.default", ensure=False)
            body = aio_pika.Message(json.dumps(answer).encode())
            await to.publish(body, routing_key="weft.default.outcomes")
            await until_depth(rabbit, Route("default", OUTCOMES), lambda found: not found.messages)
            assert site.status(batch) == "success"

    asyncio.run(silent())
    site.prove_audit()

    assert sorted(done.read_text().split()) == ["1", "2", "3", "4"]

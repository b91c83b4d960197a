"""How many messages of a sink are delivered per second, beside their sender in a loop.

The messages are those of as many jobs, written into the table at once; a real driver makes and
sends them to a listener in this process, within its limits for one host. The reference sends as
many through the same sender, as many at once, and records nothing.
"""

import asyncio
import json
import time
from typing import Any, Final

import asyncpg

from benches.notify import Listener, listening
from benches.queries import query
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    ratio_of,
)
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.core.addresses import parse_allowed_hosts
from weft.plugins.callback_senders.http.sender import HttpCallbackSender

JOBS: Final = 100_000
ROUNDS: Final = 3
AT_ONCE: Final = 4
"""The setting `callbacks_per_host_max`."""
GOAL: Final = 0.7
LOOK_S: Final = 0.05
_TIMEOUT_S: Final = 30.0
LATER: Final = {"command": ["true"], "not_before": "2100-01-01T00:00:00Z"}
SETUP: Final = """
[sink.bench]
kind = "http"
url = "URL"
message = '{"job": "{{ job.id }}", "number": {{ job.job_id }}}'
"""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return messages per second of both sides."""
    load, count, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    rates: dict[str, list[float]] = {"weft": [], "loop": []}
    progress.begin(2 * rounds)
    with throwaway_home(plan.directory) as home:
        (home.path / "weft.toml").write_text('callback_private_hosts = "127.0.0.1"\n')
        async with running_weft(home), listening() as listener:
            admin = await asyncpg.connect(home.secrets()["admin"])
            async with client_of(home) as client:
                await client.save_setup("bench", SETUP.replace("URL", listener.url))
                await client.create_batch({"sink": "bench", "jobs": [{"command": ["true"]}]})
                batches = [
                    int((await client.create_batch({"jobs": [{**LATER, "count": count}]}))["id"])
                    for _ in range(rounds)
                ]
            await _until(listener, 1)
            for number, batch in enumerate(batches):
                progress.step(f"messages, round {number + 1}")
                rates["weft"].append(await _sent(admin, listener, batch, count))
                progress.step(f"the sender alone, round {number + 1}")
                rates["loop"].append(await _alone(listener.url, count))
                listener.count -= count
            await admin.close()
            conditions = await conditions_of(
                home.secrets()["admin"],
                home.path,
                load_before=load,
                sizes={"messages": count, "rounds": rounds, "at_once": AT_ONCE},
            )
    weft_s, loop_s = median_rate(rates["weft"]), median_rate(rates["loop"])
    return document_of(
        Headline("messages/s", weft_s, loop_s, ratio_of(weft_s, loop_s)),
        {"goal": GOAL, "by_round": [round(rate) for rate in rates["weft"]]},
        conditions,
    )


async def _until(listener: Listener, count: int) -> None:
    while True:
        if listener.count >= count:
            return
        await asyncio.sleep(LOOK_S)


async def _sent(
    admin: "asyncpg.Connection[Any]", listener: Listener, batch: int, count: int
) -> float:
    """Return how many messages arrive per second."""
    before = listener.count
    begun = time.perf_counter()
    await admin.execute(query("many_messages"), batch, count)
    await _until(listener, before + count)
    return count / (time.perf_counter() - begun)


async def _alone(url: str, count: int) -> float:
    """Return how many messages the sender alone sends per second."""
    sender = HttpCallbackSender(parse_allowed_hosts("127.0.0.1"), _TIMEOUT_S, _TIMEOUT_S)
    left = iter(range(count))
    headers = {"Content-Type": "application/json"}

    async def send_some() -> None:
        for n in left:
            body = json.dumps({"job": "b1.j1", "number": n}).encode()
            answered = await sender.send(url, headers, body)
            assert answered.status == 200, answered  # noqa: PLR2004 (as the listener answers)

    begun = time.perf_counter()
    await asyncio.gather(*(send_some() for _ in range(AT_ONCE)))
    return count / (time.perf_counter() - begun)

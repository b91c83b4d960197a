"""The tenants of a siege: each has a load and a token of its own, and hears only of that."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from weft.client.api import WAIT_PATIENCE_S, Api, Document
from weft_siege.checks import END_EVENTS, LAST_EVENT
from weft_siege.guards import Guards
from weft_siege.limits import limited
from weft_siege.load import Load

OTHER = "other"
"""The name of the second tenant."""


@dataclass
class Tenant:
    """Somebody who submits to both apis."""

    mark: str
    """In the environment and the output of each of its jobs, and in nothing of anybody else."""
    token: str
    port: int
    clients: Sequence[Api]
    load: Load
    events: list[Document] = field(default_factory=list)
    """No more of each than the checks need: there are hundreds of thousands."""
    complete: set[int] = field(default_factory=set)
    """Batches whose end was told."""

    async def listen(self, listening: Callable[[], None]) -> None:
        """Hear of what happens, for ever."""
        async for event in self.clients[0].events(opened=listening):
            told = ("id", "batch_id", "kind", *(["jobs"] if event["kind"] in END_EVENTS else ()))
            self.events.append({name: event[name] for name in told})
            if event["kind"] == LAST_EVENT:
                self.complete.add(event["batch_id"])


@asynccontextmanager
async def tenant_at(
    ports: Sequence[int], token: str, *, seed: int, directory: Path, told_at: int
) -> AsyncIterator[Tenant]:
    """Give one that waits while an api is away, and hears of what happens."""
    mark = f"mark{secrets.token_hex(4)}"
    async with AsyncExitStack() as stack:
        urls = [f"http://127.0.0.1:{port}" for port in ports]
        apis = [
            Api(url, token, patience_s=WAIT_PATIENCE_S, on_outage=lambda _: None) for url in urls
        ]
        for api in apis:
            await (await stack.enter_async_context(api)).whoami()
        load = Load(seed, directory, apis, told_at, mark)
        load.also += [partial(limited, load, "cpu"), partial(limited, load, "cost")]
        load.also.append(Guards(load, directory / f"places-{mark}").submit)
        tenant = Tenant(mark, token, ports[0], apis, load)
        listening = asyncio.Event()
        reading = asyncio.create_task(tenant.listen(listening.set))
        stack.callback(reading.cancel)
        await listening.wait()
        yield tenant

"""Open pages without a browser: `python -m benches.readers URL COOKIE COUNT PATH…`.

Each does what the module of a page does: it follows events from the moment at which its page was
made, and reads the page again after one, with the same pauses. It says `ready` when all pages are
open, and at the end of its input how often pages were read again, and its own CPU time since then.
"""

import asyncio
import gzip
import json
import random
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

QUIET_S: Final = 0.05
REST_S: Final = 0.25
PACE: Final = 20
SPREAD: Final = 0.25
AT_ONCE: Final = 4
"""Pages that are opened at a time: people do not open hundreds in the same moment."""
_MAIN: Final = re.compile(
    rb'data-events="([^"]*)"[^>]*data-since="([^"]*)" data-rest-ms="([0-9]+)"'
)


@dataclass
class Site:
    """Where pages are read, and how often they were."""

    host: str
    port: int
    cookie: str
    n_read: int = 0
    opening: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def ask(self, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Send a request over a connection of its own."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        head = (
            f"GET {path} HTTP/1.1",
            f"host: {self.host}:{self.port}",
            f"cookie: {self.cookie}",
            "accept-encoding: gzip",
            "connection: close",
            "",
            "",
        )
        writer.write("\r\n".join(head).encode())
        return reader, writer


class OpenPage:
    """One page that is open."""

    def __init__(self, site: Site, path: str) -> None:
        self._site = site
        self._path = path
        self._heard = asyncio.Event()
        self._rest_s = self._again_at = 0.0
        self.is_open = asyncio.Event()

    async def stay(self) -> None:
        """Open the page, and keep it live until cancelled."""
        async with self._site.opening:
            events = await self._read()
        following = asyncio.create_task(self._follow(events))
        try:
            while True:
                await self._heard.wait()
                spread_s = SPREAD * random.random() * max(0.0, self._rest_s - 2 * REST_S)  # noqa: S311 (as pages)
                await asyncio.sleep(spread_s + max(QUIET_S, self._again_at - time.monotonic()))
                self._heard.clear()
                await self._read()
                self._site.n_read += 1
        finally:
            following.cancel()

    async def _read(self) -> str:
        """Read the page; return the address of its events."""
        begun = time.monotonic()
        reader, writer = await self._site.ask(self._path)
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        found = _MAIN.search(gzip.decompress(body) if b"encoding: gzip" in head else body)
        assert found is not None, (self._path, head)
        now = time.monotonic()
        self._rest_s = int(found[3]) / 1000
        self._again_at = now + max(REST_S, PACE * (now - begun), self._rest_s)
        events = found[1].decode()
        return f"{events}{'&' if '?' in events else '?'}since={found[2].decode()}"

    async def _follow(self, events: str) -> None:
        reader, writer = await self._site.ask(events)
        try:
            await reader.readuntil(b"connected\n\n")
            self.is_open.set()
            while True:
                _, _, data = (await reader.readuntil(b"\n\n")).rpartition(b"\ndata: ")
                if data.startswith(b"["):  # else it is kept alive
                    json.loads(data)
                    self._heard.set()
        finally:
            writer.close()


async def _main(url: str, cookie: str, count: int, paths: list[str]) -> None:
    address = urlsplit(url)
    assert address.hostname is not None
    assert address.port is not None
    site = Site(address.hostname, address.port, cookie)
    pages = [OpenPage(site, paths[number % len(paths)]) for number in range(count)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(page.stay()) for page in pages]
        for page in pages:
            await page.is_open.wait()
        begun_s = time.process_time()
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        for task in tasks:
            task.cancel()
    print(site.n_read, time.process_time() - begun_s)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]))

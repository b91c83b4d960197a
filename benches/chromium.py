"""A Chromium without a window, spoken to in its own protocol over a pipe.

A bench has no library for that: it needs five of its commands.
"""

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from benches.sessions import Session
from weft.bench.plan import BenchFailed

NAMES = ("chromium", "chromium-browser", "google-chrome")
_READS, _WRITES = 3, 4
"""The descriptors that Chromium reads commands from, and writes to."""
_END = b"\0"
_MESSAGE_BYTES_MAX = 1 << 24
_ANSWER_S = 30.0
_DRAWN = """new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
    () => done(performance.now()))))"""
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
    "about:blank",
)


def find_chromium() -> str | None:
    """Return the program of an installed Chromium."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Tab:
    """The one page of a Chromium."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count(1)
        self._session: dict[str, str] = {}
        self._heard: list[str] = []

    async def begin(self) -> None:
        """Take the page that is open at the start."""
        targets = (await self.call("Target.getTargets"))["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        attached = await self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        await self.call("Page.enable")

    async def call(self, method: str, **parameters: object) -> Any:  # noqa: ANN401 (JSON)
        """Send a command; return its result. What happens meanwhile is noted."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters, **self._session}
        self._writer.write(json.dumps(message).encode() + _END)
        async with asyncio.timeout(_ANSWER_S):
            while (answer := await self._read()).get("id") != number:
                pass
        if "error" in answer:
            raise BenchFailed(f"Chromium refused {method}", detail=str(answer["error"]))
        return answer["result"]

    async def open(self, url: str) -> None:
        """Open a page; return when it is loaded."""
        self._heard.clear()
        await self.call("Page.navigate", url=url)
        async with asyncio.timeout(_ANSWER_S):
            while "Page.loadEventFired" not in self._heard:
                await self._read()

    async def log_in(self, session: Session) -> None:
        """Send the cookie of a session from now on."""
        await self.call(
            "Network.setCookie", name=session.name, value=session.value, url=session.url
        )

    async def draw(self, url: str) -> float:
        """Open a page; return the milliseconds until it was drawn."""
        await self.open(url)
        return float(await self.evaluate(_DRAWN))

    async def heap_mb(self) -> float:
        """Return how many millions of bytes the scripts of the page keep."""
        await self.call("HeapProfiler.collectGarbage")
        used = await self.call("Runtime.getHeapUsage")
        return round(float(used["usedSize"]) / 1_000_000, 1)

    async def evaluate(self, expression: str) -> Any:  # noqa: ANN401 (JSON)
        """Return what an expression of the page becomes, and wait for it if it is a promise."""
        done = await self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in done:
            raise BenchFailed("a page's script failed", detail=str(done["exceptionDetails"]))
        return done["result"].get("value")

    async def _read(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads((await self._reader.readuntil(_END))[:-1])
        self._heard.append(message.get("method", ""))
        return message


@contextlib.asynccontextmanager
async def open_tab(program: str) -> AsyncIterator[Tab]:
    """Start Chromium with a profile of its own; end it afterwards."""
    directory = tempfile.mkdtemp(prefix="weft-chromium-")
    process, heard, told = _start(program, directory)
    reader, writer = await _streams(heard, told)
    try:
        tab = Tab(reader, writer)
        await tab.begin()
        yield tab
    except (asyncio.IncompleteReadError, ConnectionError, TimeoutError) as error:
        raise BenchFailed("Chromium does not answer", detail=f"{program}: {error!r}.") from error
    finally:
        writer.close()
        process.kill()
        process.wait()
        shutil.rmtree(Path(directory), ignore_errors=True)


def _start(program: str, directory: str) -> "tuple[subprocess.Popen[bytes], int, int]":
    """Start it; return it with the pipes from and to it."""
    to_read, told = os.pipe()
    heard, to_write = os.pipe()

    def connect() -> None:
        # By way of high numbers, because one of ours may be 3 or 4.
        high = [os.dup2(one, 100 + n) for n, one in enumerate((to_read, to_write))]
        os.dup2(high[0], _READS)
        os.dup2(high[1], _WRITES)

    process = subprocess.Popen(
        [program, *_FLAGS, f"--user-data-dir={directory}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(_READS, _WRITES),
        start_new_session=True,
        preexec_fn=connect,  # noqa: PLW1509 (calls the system only; a bench has no threads)
    )
    os.close(to_read)
    os.close(to_write)
    return process, heard, told


async def _streams(heard: int, told: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return streams over two pipes."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_MESSAGE_BYTES_MAX)
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(heard, "rb", buffering=0)
    )
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(told, "wb", buffering=0)
    )
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)

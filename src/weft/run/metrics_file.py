"""A role's metrics as a file for the api of its host: only the api listens on a port."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from weft.ports.patience import tasks_beside
from weft.run.home import Home
from weft.telemetry import metrics


@asynccontextmanager
async def leaving_metrics(home: Home, role: str, *, every_s: float) -> AsyncIterator[None]:
    """Keep `run/<role>.prom` fresh; remove it at the end. No statement, only a file."""
    file = home.run / f"{role}.prom"
    writing = asyncio.create_task(_write_again_and_again(file, every_s))
    try:
        async with tasks_beside([writing]):
            yield
    finally:
        file.unlink(missing_ok=True)


async def _write_again_and_again(file: Path, every_s: float) -> None:
    while True:
        with suppress(OSError):  # a full disk must not end a role; the next time it may work
            metrics.write_snapshot(file)
        await asyncio.sleep(every_s)

"""The loop that reads sources of production lines and keeps their items. An api makes jobs of
them.

It waits for its bell, which rings when a source is new or changed and when a reading has ended,
and for the date of the next reading. Each is read by itself, away from this process, so that one
that hangs delays no other.
"""

import asyncio
from typing import Final

from weft.core.backoff import backoff_s
from weft.core.errors import EpochStale, Unavailable, WeftError
from weft.driver.loops.loop import Loop, LoopContext
from weft.ports.patience import tasks_beside
from weft.ports.source import SourceRead, SourceReader
from weft.ports.store.sources import DueSource
from weft.telemetry import metrics
from weft.telemetry.log import log

_NO_READER: Final = "this driver reads no sources"


class _Sources:
    """The readings that are under way."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context
        self._reader = context.adapters.get(SourceReader)
        self._readings: dict[asyncio.Task[None], DueSource] = {}

    async def run(self) -> None:
        """Go on until cancelled; the next term repeats readings that were under way."""
        context, settings = self._context, self._context.settings
        async with tasks_beside(self._readings):
            while True:
                for task in [task for task in self._readings if task.done()]:
                    self._readings.pop(task)
                    task.result()
                most = settings.sources_at_once
                for source in await context.store.due_sources(
                    context.epoch, self._busy(), limit=most
                ):
                    task = asyncio.create_task(self._read(source))
                    task.add_done_callback(lambda _: context.bell.ring())
                    self._readings[task] = source
                await context.bell.heard_by(
                    await context.store.loop_due(
                        context.epoch, "sources", self._busy(), limit=most
                    )
                )

    def _busy(self) -> list[int]:
        return [reading.source_id for reading in self._readings.values()]

    async def _read(self, source: DueSource) -> None:
        read = SourceRead(error=_NO_READER)
        try:
            if self._reader is not None:
                read = await self._reader.read(source)
            await self._keep(source, read)
        except (Unavailable, EpochStale):
            raise
        except Exception as error:  # noqa: BLE001 (one source must not stop the others)
            said = str(error) if isinstance(error, WeftError) else repr(error)
            await self._keep(source, SourceRead(error=said))

    async def _keep(self, source: DueSource, read: SourceRead) -> None:
        context = self._context
        new = await context.store.store_items(
            context.epoch,
            source,
            read.found,
            cursor=read.cursor,
            next_in_s=self._next_in_s(source, read),
            error=read.error,
        )
        if new is None:
            return
        metrics.SOURCE_READINGS.labels("failed" if read.error else "read").inc()
        metrics.SOURCE_ITEMS.inc(new)
        if read.error is not None and source.n_failures == 0:
            log.warning("source.failed", source=source.name, error=read.error)
        elif read.error is None and source.n_failures > 0:
            log.info("source.recovered", source=source.name, failures=source.n_failures)
        if new:
            log.info("source.read", source=source.name, items=new)

    def _next_in_s(self, source: DueSource, read: SourceRead) -> float:
        if read.error is None:
            return 0.0 if read.more else source.every_s
        longest_s = max(self._context.settings.source_retry_longest_s, source.every_s)
        wait_s = backoff_s(
            source.n_failures + 1, first_s=source.every_s, longest_s=longest_s, jitter=0.5
        )
        return max(wait_s, read.retry_after_s or 0.0)


async def _run(context: LoopContext) -> None:
    await _Sources(context).run()


LOOPS = (Loop("sources", _run),)

"""What foreign programs are told of jobs that they have: cancels, signals, messages, more time.

Each goes to `weft.<tenant>.commands` under a key of its job (ADR 132), so it passes all work that
waits. The store keeps it until the transport has confirmed it.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec

from weft.core.ids import format_batch_id
from weft.driver.loops.release import Transports
from weft.ports.store import ForeignCommand
from weft.ports.topics import Record
from weft.ports.transport import TransportError
from weft.telemetry import metrics
from weft.telemetry.log import log
from weft.wire.foreign_messages import Command, CommandWord

PARTITIONS: Final = 1
UNHEARD_S: Final = 10.0
"""For so long a program may need to listen for the job that it has got."""
UNHEARD: Final = "no program listens to the commands for this job"


class ForeignCommands:
    """Tells them, one set at a time."""

    def __init__(self, epoch: int, transports: Transports) -> None:
        self._epoch = epoch
        self._transports = transports
        self._telling: asyncio.Task[None] | None = None

    def tell(self) -> None:
        """Begin to tell what there is, unless that is under way: a transport may be slow. Raise
        what the last time has failed with.
        """
        if self._telling is not None and self._telling.done():
            self._telling.result()
            self._telling = None
        if self._telling is None and self._transports.sinks:
            self._telling = asyncio.create_task(self._tell())

    async def end(self) -> None:
        """Tell nothing any more."""
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    async def _tell(self) -> None:
        store, names = self._transports.store, sorted(self._transports.sinks)
        wanted = await store.take_foreign_commands(self._epoch, names)
        for name in sorted({one.transport for one in wanted}):
            some = [one for one in wanted if one.transport == name]
            if over := await self._send(name, some):
                await store.end_foreign_commands(self._epoch, over)

    async def _send(
        self, name: str, commands: Sequence[ForeignCommand]
    ) -> Sequence[tuple[ForeignCommand, str]]:
        """Send them; return those that are told, and those to which nobody listens."""
        sink, records = self._transports.sinks[name], [_record(command) for command in commands]
        try:
            await sink.make(dict.fromkeys({record.topic for record in records}, PARTITIONS))
            kept = await sink.publish(records)
        except TransportError as error:
            log.warning("transport.away", transport=name, error=str(error))
            return ()
        over = [
            (one, "" if is_kept else UNHEARD)
            for one, is_kept in zip(commands, kept, strict=True)
            if is_kept or one.age_s > UNHEARD_S
        ]
        for _, why in over:
            metrics.TRANSPORT_COMMANDS.labels(name, "unheard" if why else "told").inc()
        return over


def _record(one: ForeignCommand) -> Record:
    batch = format_batch_id(one.batch_id)
    command = Command(
        command=_word(one),
        batch=batch,
        job=one.job_id,
        offer=one.offer_id,
        signal=one.signal,
        message=one.message,
        extend_s=None if one.extend_ms is None else one.extend_ms / 1000,
    )
    headers = {"id": f"{one.offer_id}-{one.command_id or 'cancel'}", "kind": command.command}
    return Record(
        f"weft.{one.tenant}.commands", f"{batch}.j{one.job_id}", msgspec.json.encode(command),
        headers, needs_reader=True,
    )  # fmt: skip


def _word(one: ForeignCommand) -> CommandWord:
    if one.command_id is None:
        return "cancel"
    if one.signal is not None:
        return "signal"
    return "extend" if one.message is None else "message"

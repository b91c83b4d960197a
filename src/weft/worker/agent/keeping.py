"""Keep the outputs and products of attempts that have ended, then let their ends be reported."""

import asyncio
import time

import msgspec

from weft.core.errors import WeftError
from weft.core.states import Phase, Reason
from weft.ports.runner import Ended
from weft.telemetry.log import log
from weft.worker.agent.attempts import Attempts
from weft.worker.agent.incarnation import Incarnation


class Keeping:
    """A loop of the session. What it leaves, the next agent does: the runner tells ends again."""

    def __init__(self, incarnation: Incarnation, attempts: Attempts) -> None:
        self._files = incarnation.files
        self._products = incarnation.products
        self._progress = incarnation.progress
        self._checkpoints = incarnation.checkpoints
        self._attempts = attempts

    async def run(self) -> None:
        """Keep until cancelled."""
        try:
            async with asyncio.TaskGroup() as keeping:
                while True:
                    ended = await self._files.ended.get()
                    keeping.create_task(self._keep(ended))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors

    async def _keep(self, ended: Ended) -> None:
        key, task = ended.key, asyncio.current_task()
        assert task is not None
        self._attempts.keeping[key] = task
        try:
            ended = await self._kept(ended)
        except asyncio.CancelledError:
            if key in self._attempts.keeping:
                raise
            now_ns = time.monotonic_ns()
            ended = msgspec.structs.replace(ended, ended_ns=now_ns, reason=Reason.CANCELLED)
        except WeftError:
            raise  # of the worker, not of this attempt
        except Exception as error:
            log.exception("attempt.not_kept", key=key)
            why = f"its outputs could not be kept: {error!r}"
            ended = msgspec.structs.replace(ended, reason=Reason.SYSTEM, message=why)
        finally:
            self._attempts.keeping.pop(key, None)
        self._attempts.end(ended)

    async def _kept(self, ended: Ended) -> Ended:
        await self._progress.tell({ended.key})
        copies = self._files.said_of_copies(ended)
        if copies:
            self._attempts.start_late(ended)
        if ended.reason is None or self._files.keeps(ended):
            # Of one that failed and leaves nothing, a status would say that it had gone so far.
            self._attempts.enter(ended.key, Phase.COLLECTING, copies)
        if self._checkpoints.wants(ended):
            await self._checkpoints.take_away(ended.key)
        ended = await self._files.keep(ended, self._products.read)
        return await self._products.keep(ended, self._files.inputs_of(ended.key))

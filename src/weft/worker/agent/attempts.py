"""The way of each attempt through the agent, from its claim until its end is recorded.

      hold ──▶ submitted ──▶ started, phases ──▶ end ──▶ outbox ──▶ recorded
     (claim)   (handing over)     (take_in)                (reporting, or the next claim)

The end of an attempt with files, products or progress waits until they are kept, and so does one
that leaves a checkpoint which is to be carried away (`Keeping`).

Whoever learns that an attempt has ended calls `end`: the runner's report (`take_in`), what hands
jobs over and cannot, what stops them. Nobody is called back: `room` and `ended` are rung.
"""

import asyncio
import time
from collections.abc import Callable, Sequence

import msgspec

from weft.core.errors import ServerReplaced, WeftError
from weft.core.states import AttemptKey, Phase, Reason
from weft.ports.patience import Work, run_beside
from weft.ports.runner import Ended, Entered, Happened, Started, mistaken, never_started
from weft.telemetry.log import log
from weft.worker.agent.incarnation import Incarnation


class Attempts:
    """What happens to the attempts of one incarnation."""

    def __init__(self, incarnation: Incarnation) -> None:
        site = incarnation.site
        self.held = incarnation.held
        self.room = asyncio.Event()
        """Rung when more work may be wanted: an attempt has ended, or claiming has to look."""
        self.ended = asyncio.Event()
        """Rung at each end."""
        self.bells: set[asyncio.Event] = set()
        """Rung at each end, and when ends were recorded."""
        self.keeping: dict[AttemptKey, asyncio.Task[None]] = {}
        """What keeps the outputs of attempts that have ended; `stop` takes it out, cancelled."""
        self.is_closed = False
        """No job is claimed or handed over any more."""
        self._runner = site.runner
        self._grace_ms = site.grace_ms
        self._checkpoint_removal = site.checkpoint_removal
        self._outbox = incarnation.outbox
        self._arguments = incarnation.arguments
        self._block_files = incarnation.block_files
        self._message_files = incarnation.message_files
        self._products = incarnation.products
        self._progress = incarnation.progress
        self._notes = incarnation.notes
        self._files = incarnation.files
        self._checkpoints = incarnation.checkpoints

    def close(self) -> None:
        """Take no more jobs."""
        self.is_closed = True
        self.room.set()

    def take_in(self, happened: Happened) -> None:
        """Note what the runner reports of attempts."""
        for started in happened.started:
            if self.held.start(started.key, started.started_ns):
                self._outbox.add_start(started)
        for entered in happened.entered:
            if self.held.enter(entered.key, entered.phase):
                self._outbox.add_phase(entered)
        files = (self._products, self._progress) if happened.ended else ()
        saying = {name for each in files for name in each.names()}
        for ended in happened.ended:
            says = ended.key.name in saying and any(one.is_written(ended.key) for one in files)
            try:
                self._take_end(ended, says)
            except Exception as error:
                log.exception("attempt.end_mistaken", key=ended.key)
                self.end(mistaken(ended, f"its end could not be taken in: {error!r}"))
        for key in happened.withdrawn:
            self.end_unstarted(key, Reason.PREEMPTED)

    def _take_end(self, ended: Ended, says: bool) -> None:  # noqa: FBT001 (as it is found)
        leaves = says or self._checkpoints.wants(ended)
        if not self._files.take(ended, anyway=leaves):
            self.end(ended)

    def start_late(self, ended: Ended) -> None:
        """Report that an attempt ran which was too short for that, before its end is known."""
        held = self.held.by_key.get(ended.key)
        if held is not None and not held.started_ns:
            self.take_in(Happened(started=[Started(ended.key, ended.started_ns)]))

    def enter(self, key: AttemptKey, phase: Phase, message: str = "") -> None:
        """Note what an attempt is doing outside of the runner. `message`: for people."""
        if self.held.enter(key, phase):
            self._outbox.add_phase(Entered(key, phase, message))

    def end(self, ended: Ended) -> None:
        """Free what an attempt reserves, and queue its end for the store."""
        held = self.held.by_key.get(ended.key)
        self.held.end(ended.key, ended)
        self._arguments.remove(ended.key)
        self._outbox.add_end(ended)
        self.room.set()
        log.debug(
            "attempt.ended",
            key=ended.key,
            reason=ended.reason,
            trace_id=held and held.trace_id,
            executor=held and held.executor,
            ms=(ended.ended_ns - (ended.started_ns or ended.ended_ns)) / 1e6,
        )
        self.ended.set()
        self._ring()

    def _ring(self) -> None:
        for bell in self.bells:
            bell.set()

    def end_unstarted(self, key: AttemptKey, reason: Reason, message: str = "") -> None:
        """End an attempt that the runner did not start; `PREEMPTED` returns its job."""
        self.end(never_started(key, reason, now_ns=time.monotonic_ns(), message=message))

    def recorded(self, keys: Sequence[AttemptKey]) -> None:
        """Forget attempts whose ends the store has recorded."""
        self._runner.acknowledge(keys)
        self._checkpoint_removal.on_recorded(keys)
        self._block_files.remove(keys)
        self._products.remove(keys)
        self._progress.remove(keys)
        self._notes.forget(set(keys))
        self._message_files.remove(keys)
        for key in keys:
            self.held.forget(key)
            self._files.remove(key)
            self._checkpoints.forget(key)
        self._ring()

    def stop(self, keys: Sequence[AttemptKey]) -> None:
        """Stop these attempts: they are cancelled, or this worker no longer owns them."""
        sent = []
        for key in keys:
            if (held := self.held.live(key)) is None:
                continue
            if (keeping := self.keeping.pop(key, None)) is not None:
                keeping.cancel()
            elif held.is_sent:
                sent.append(key)
            else:  # its spec is being read, or what it needs
                if held.bringing is not None:
                    held.bringing.cancel()
                self.end(never_started(key, Reason.CANCELLED, now_ns=held.claimed_ns))
        if sent:
            self._runner.stop(sent, reason=Reason.CANCELLED, grace_ms=self._grace_ms)

    def stop_all(self, *, grace_ms: int) -> None:
        """Stop what the runner has; their jobs run again elsewhere."""
        live = [held.key for held in self.held.by_key.values() if held.is_sent and not held.ended]
        if live:
            self._runner.stop(live, reason=Reason.PREEMPTED, grace_ms=grace_ms)

    async def until_none_runs(self) -> None:
        """Wait until every attempt has ended."""
        while self.held.live_count:
            self.ended.clear()
            await self.ended.wait()


class Keeping:
    """Keep outputs and products of attempts that have ended, then let their ends be reported: a
    loop of the session. What it leaves, the next agent does: the runner tells ends again.
    """

    def __init__(self, incarnation: Incarnation, attempts: Attempts) -> None:
        self._files = incarnation.files
        self._products = incarnation.products
        self._progress = incarnation.progress
        self._notes = incarnation.notes
        self._checkpoints = incarnation.checkpoints
        self._attempts = attempts

    async def run(self) -> None:
        """Keep until cancelled."""

        async def keep_each(begin: Callable[[Work], None]) -> None:
            while True:
                begin(self._keep(await self._files.ended.get()))

        await run_beside(begins=keep_each)

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
        except (WeftError, ServerReplaced):
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
        await self._notes.tell_last(ended.key)
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

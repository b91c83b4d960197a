"""One incarnation of the worker: from its registration to its end."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace

from msgspec import structs

from weft.core.scheduling.black_holes import AvoidedNode
from weft.core.states import Reason
from weft.ports.patience import run_beside, tasks_beside, until_answered
from weft.ports.runner import Happened, Known
from weft.ports.store import Registered, WorkerStore
from weft.telemetry.log import log
from weft.worker.agent.attempts import Attempts, Keeping
from weft.worker.agent.checkpoints import LogRemoval
from weft.worker.agent.claiming import Claiming
from weft.worker.agent.commands import Commands
from weft.worker.agent.consuming import Consuming
from weft.worker.agent.contact import Contact
from weft.worker.agent.hand_over import HandOver
from weft.worker.agent.held import DatabaseWentBack
from weft.worker.agent.incarnation import incarnation_of
from weft.worker.agent.reporting import Reporting
from weft.worker.agent.site import AgentSite

_TELL_S = 5.0


class Drained(Exception):
    """This worker was told to drain, and nothing runs any more: its process may end."""


class Session:
    """Claim, run and report until the runner or the registration is lost.

    Each part gets what the parts above it share, then those parts that it calls; none is called
    back.
    """

    def __init__(self, site: AgentSite, registered: Registered) -> None:
        incarnation = incarnation_of(site, registered)
        self._site = site
        self._incarnation = incarnation
        self.incarnation_id = incarnation.incarnation_id
        self.held = incarnation.held
        self.fence = incarnation.fence
        self.attempts = Attempts(incarnation)
        self._commands = Commands(
            site.store, self.incarnation_id, self.held, site.runner, incarnation.message_files
        )
        self._avoided = AvoidedNodes(site.store, self.incarnation_id)
        self._reporting = Reporting(incarnation, self.attempts)
        self._keeping = Keeping(incarnation, self.attempts)
        handing_over = HandOver(incarnation, self.attempts, self._commands)
        self._claiming = Claiming(incarnation, self.attempts, self._reporting, handing_over)
        self._consuming = (
            Consuming(site.consumed, incarnation, self.attempts, handing_over)
            if site.consumed is not None
            else None
        )
        self._log_removal = LogRemoval(site.store, site.log_keeper)
        self._contact = Contact(
            incarnation,
            attempts=self.attempts,
            claiming=self._claiming,
            commands=self._commands,
            fence=self.fence,
            log_removal=self._log_removal,
        )

    def reconcile(self, registered: Registered, known: Known) -> None:
        """Agree with the runner and the database on what this worker has.

        Attempts that both know continue; attempts that the database does not list are killed;
        attempts that the runner never received are handed back.
        """
        owned = {one.key: one for one in registered.live}
        for key, one in owned.items():
            self.held.add(key, cpu_m=one.cpu_m, memory_mib=one.memory_mib).is_sent = True
        self._incarnation.apps.tidy()
        self._incarnation.code.tidy()
        self._incarnation.arguments.adopt([*known.waiting, *(one.key for one in known.live)])
        ended = [one.key for one in known.ended]
        self._incarnation.files.adopt([*known.waiting, *(one.key for one in known.live), *ended])
        incarnation = self._incarnation
        for files in (
            incarnation.block_files,
            incarnation.products,
            incarnation.progress,
            incarnation.message_files,
        ):
            files.prepare([*(one.key for one in known.live), *(one.key for one in known.ended)])
        ended_keys = {one.key for one in known.ended}
        has = {*known.waiting, *(one.key for one in known.live), *ended_keys}
        strangers = has - owned.keys() - ended_keys
        self.held.strangers |= has - owned.keys()
        if strangers:
            self._site.runner.stop(sorted(strangers), reason=Reason.LOST, grace_ms=0)
        for key in owned.keys() - has:
            self.attempts.end_unstarted(key, Reason.PREEMPTED)
        self.attempts.take_in(Happened(started=known.live, ended=known.ended))
        if has:
            log.info(
                "worker.jobs_adopted",
                live=len(known.live),
                queued=len(known.waiting),
                ended=len(known.ended),
                killed=len(strangers),
                handed_back=len(owned.keys() - has),
            )

    async def tell_ends(self, registered: Registered, known: Known) -> None:
        """Have the ends recorded that a runner has left, and nothing else: what it ran is lost."""
        ends = {end.key: end for end in known.ended}
        jobs = {job.key: job for job in registered.live if job.key in ends}
        rest = structs.replace(known, ended=[ends[key] for key in jobs])
        self.reconcile(replace(registered, live=list(jobs.values())), rest)
        loops = self._reporting.run(), self._keeping.run()
        try:
            async with asyncio.timeout(_TELL_S), tasks_beside([*map(asyncio.create_task, loops)]):
                await self.attempts.until_none_runs()
                await self.until_settled()
        except TimeoutError:
            log.warning("worker.drain_incomplete", left=len(self.held.by_key))

    async def run(self) -> None:
        """Work until something fails: raises `RunnerGone`, `DeclaredLost` or `Drained`."""
        await run_beside(*self._loops())

    def _loops(self) -> list[Coroutine[None, None, None]]:
        """Return what runs side by side. `Consuming` holds what it has claimed and hands it over,
        as `Claiming` does.
        """
        return [
            self._follow_runner(),
            self._claiming.run(),
            self._reporting.run(),
            self._keeping.run(),
            self._incarnation.checkpoints.run(),
            self._incarnation.progress.run(self._site.heartbeat_s, self.held.by_key.keys()),
            self._incarnation.notes.run(self._site.heartbeat_s, self.held.by_key.keys()),
            self._contact.beat(self._site.heartbeat_s),
            self._contact.listen(),
            self._commands.run(),
            self._avoided.run(),
            self._log_removal.run(),
            self._site.checkpoint_removal.run(),
            self._end_when_drained(),
            self._end_when_database_went_back(),
            *([] if self._consuming is None else [self._consuming.run()]),
        ]

    async def _follow_runner(self) -> None:
        async for happened in self._site.runner.happened():
            self.attempts.take_in(happened)
            if happened.obeyed:
                self._commands.on_obeyed(happened.obeyed)
            if happened.avoided is not None:
                self._avoided.note(happened.avoided)

    async def _end_when_drained(self) -> None:
        """Raise `Drained` when this worker drains and has nothing left."""
        store, contact = self._site.store, self._contact
        while True:
            await contact.drains.wait()
            self.attempts.ended.clear()
            if self.held.live_count:
                await self.attempts.ended.wait()
                continue
            await self.until_settled()
            async with contact.beating:
                if await until_answered(lambda: store.finish_drain(self.incarnation_id)):
                    raise Drained
            contact.drains.clear()  # the next heartbeat tells

    async def _end_when_database_went_back(self) -> None:
        """Raise `DatabaseWentBack`, whoever was told so."""
        await self.held.went_back.wait()
        raise DatabaseWentBack

    async def drain(self, *, grace_ms: int) -> None:
        """Claim nothing more, end the running jobs, and wait until their ends are recorded."""
        self._contact.draining = True
        self.attempts.close()
        self.attempts.stop_all(grace_ms=grace_ms)
        await self.attempts.until_none_runs()
        await self.until_settled()

    async def until_settled(self) -> None:
        """Wait until every end is recorded."""
        await self._incarnation.outbox.until_settled()


class AvoidedNodes:
    """What people are told of bad nodes by `weft worker show`."""

    def __init__(self, store: WorkerStore, incarnation_id: int) -> None:
        self._store = store
        self._incarnation_id = incarnation_id
        self._newest: Sequence[AvoidedNode] = ()
        self._is_new = asyncio.Event()

    def note(self, nodes: Sequence[AvoidedNode]) -> None:
        """Tell these instead of the earlier ones."""
        self._newest = nodes
        self._is_new.set()

    async def run(self) -> None:
        """Tell, until cancelled."""
        while True:
            await self._is_new.wait()
            self._is_new.clear()
            await until_answered(self._tell)

    async def _tell(self) -> None:
        await self._store.note_avoided(self._incarnation_id, self._newest)

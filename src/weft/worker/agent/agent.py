"""The agent's life: find the runner, register, work; start over when one of them is lost."""

import asyncio
from collections.abc import Callable

from weft.core.errors import Conflict, IncarnationEnded, NotFound, ServerReplaced, WeftError
from weft.core.settling import REFUSALS
from weft.ports.patience import Failures, until_answered
from weft.ports.runner import Known, RunnerGone
from weft.ports.store import Registered
from weft.telemetry.log import log
from weft.worker import boottime
from weft.worker.agent.contact import DeclaredLost
from weft.worker.agent.held import DatabaseWentBack
from weft.worker.agent.session import Drained, Session
from weft.worker.agent.site import AgentSite

_DRAIN_GRACE_MS = 800
_DRAIN_S = 1.4
_LEAVE_S = 0.3
_SETTLE_S = 0.5
_AGAIN_LONGEST_S = 2.0
"""A worker that is silent for longer may be taken for lost."""


class Agent:
    """Run jobs until told to stop."""

    def __init__(self, site: AgentSite, *, on_ready: Callable[[], None]) -> None:
        self._site = site
        self._store = site.store
        self._runner = site.runner
        self._on_ready = on_ready
        """Called after each registration."""
        self._asked_ns = 0
        self._session: Session | None = None
        self._stopping = False

    async def run(self) -> None:
        """Work until `stop`, or until this worker is drained; after each session begin another."""
        failures = Failures(longest_s=_AGAIN_LONGEST_S)
        while not self._stopping:
            await failures.pause()
            try:
                await self._work(await until_answered(self._runner.adopt))
            except RunnerGone:
                continue
            except ServerReplaced:
                log.info("worker.server_replaced")
            except Drained:
                log.info("worker.drained")
                await self._runner.end()
                return
            except (DeclaredLost, IncarnationEnded):
                log.warning("worker.declared_lost")
                await self._runner.end()
            except DatabaseWentBack as error:
                log.warning("worker.database_went_back", why=str(error))
                await self._runner.end()
            except REFUSALS:
                await self.abandon()
                raise
            except Exception as error:
                if self._session is None:
                    if isinstance(error, WeftError):
                        await self.abandon()
                    raise
                # A mistake must not end the worker: its jobs go on, and the next session agrees
                # with the runner and the store on what has become of them.
                failures.add()
                log.exception("worker.session_failed", failures=failures.count)
            finally:
                self._session = None
                self._runner.leave()

    async def _work(self, known: Known) -> None:
        facts = self._site.facts
        try:
            registered = await until_answered(lambda: self._register(known))
        except (Conflict, NotFound) as error:
            # No agent will come back to this runner, and its jobs go to another worker.
            if not (self._runner.outlives_host or isinstance(error, IncarnationEnded)):
                await self._runner.end()
            raise
        session = self._session = Session(self._site, registered)
        if known.is_over:
            session.fence.renew(self._asked_ns - int(registered.silent_s * 1e9))
            await session.tell_ends(registered, known)
            return
        session.reconcile(registered, known)
        session.fence.renew(self._asked_ns)
        log.info(
            "worker.registered",
            worker_id=registered.worker_id,
            cpu_m=facts.cpu_m,
            memory_mib=facts.memory_mib,
        )
        self._on_ready()
        await session.run()

    async def _register(self, known: Known) -> Registered:
        facts = self._site.facts
        self._asked_ns = boottime.now_ns()
        return await self._store.register_worker(
            name=facts.name,
            host=facts.host,
            pool=facts.pool,
            incarnation=known.incarnation,
            cpu_m=facts.cpu_m,
            memory_mib=facts.memory_mib,
            storage_mib=facts.storage_mib,
            gpu=facts.gpu,
            offers=facts.offers,
            version=facts.version,
            same_host_proved_gone=known.older_are_gone,
            log_place=facts.log_place,
            log_directory=facts.log_directory,
            outlives=self._runner.outlives_host,
            is_over=known.is_over,
        )

    async def stop(self) -> None:
        """End running jobs, report them, and end the runner, within two seconds.

        Call it while `run` is running, and cancel `run` afterwards. Ends that cannot be reported
        because the database is unavailable are recorded as lost when this worker registers again.
        Jobs that an engine elsewhere runs are left, as by `detach` (ADR 31).
        """
        if self._runner.outlives_host:
            await self.detach()
            return
        self._stopping = True
        session = self._session
        if session is not None:
            try:
                async with asyncio.timeout(_DRAIN_S):
                    await session.drain(grace_ms=_DRAIN_GRACE_MS)
                async with asyncio.timeout(_LEAVE_S):
                    await self._store.leave(session.incarnation_id)
            except Exception:  # noqa: BLE001 (a refusal or a mistake must not keep the runner alive)
                log.warning("worker.drain_incomplete", left=session.held.live_count)
        await self._runner.end()

    async def abandon(self) -> None:
        """Leave the runner for good, as the store refuses this worker. Call it before `run` is
        cancelled for that.
        """
        self._stopping = True
        await self._runner.abandon()

    async def detach(self) -> None:
        """Leave the runner and its jobs to the next agent."""
        self._stopping = True
        if self._session is not None:
            self._session.attempts.close()
            try:
                async with asyncio.timeout(_SETTLE_S):
                    await self._session.until_settled()
            except TimeoutError:
                return

"""Hand claimed jobs to the runner: with their specs, secrets, accounts and arguments.

Whatever brings claimed jobs ends here: `Claiming`, and every other consumer that the session runs
beside it.
"""

import asyncio
import os
import time
from collections.abc import Coroutine, Sequence
from functools import partial
from pathlib import Path

import msgspec

from weft.core.errors import Forbidden, ServerReplaced, Unauthenticated, Unavailable, WeftError
from weft.core.scheduling.lease import LEASE_AGE_MAX_S
from weft.core.settling import REFUSALS, settle_each
from weft.core.states import Phase, Reason
from weft.ports.function_signatures import Refused
from weft.ports.patience import end_tasks, until_answered
from weft.ports.runner import Assignment, Ended, RunnerGone, never_started
from weft.ports.store import Claimed
from weft.telemetry.log import log
from weft.wire.app_folder import CODE_BYTES_MAX
from weft.wire.spawner import USUAL_PATH
from weft.wire.spec import JobSpec
from weft.worker.agent.attempts import Attempts
from weft.worker.agent.commands import Commands
from weft.worker.agent.incarnation import Incarnation
from weft.worker.agent.specs import JobSecrets, Specs, definer_of, parts_of

_BEYOND = (*REFUSALS, Unavailable, RunnerGone)
"""Errors that say nothing about a job."""


class HandOver:
    """The way from the claim to the runner, in order unless a job waits for what it needs."""

    def __init__(self, incarnation: Incarnation, attempts: Attempts, commands: Commands) -> None:
        site = incarnation.site
        self._attempts = attempts
        self._commands = commands
        self._held = incarnation.held
        self._runner = site.runner
        self._arguments = incarnation.arguments
        self._apps, self._code = incarnation.apps, incarnation.code
        self._environments = incarnation.environments
        self._files = incarnation.files
        self._checkpoints = incarnation.checkpoints
        self._accounts = site.accounts
        self._secrets = JobSecrets(site.store, incarnation.incarnation_id, site.open_secrets)
        self._specs = Specs(site.store, site.signatures)
        self._fetching: set[asyncio.Task[None]] = set()
        self._return_timer: asyncio.TimerHandle | None = None

    def hold(self, claimed: Sequence[Claimed], *, passes: bool = False) -> None:
        """Note that these are ours. Call it before another task runs after the claim's reply, so
        that the next heartbeat lists them.
        """
        for one in claimed:
            held = self._held.add_claimed(one.key, cpu_m=one.cpu_m, memory_mib=one.memory_mib)
            held.passes = passes

    async def hand_over(self, claimed: Sequence[Claimed]) -> None:
        """Submit jobs that are held to the runner, in order."""
        for part in parts_of(claimed):
            await self.hand_over_part(part)
        self._plan_return()

    async def end(self) -> None:
        """Stop what waits for what jobs need; the next agent finds these jobs unsent."""
        await end_tasks(self._fetching)

    async def hand_over_part(self, claimed: Sequence[Claimed]) -> None:
        """Submit jobs whose specs fit in memory. One that cannot be prepared ends by itself."""
        await settle_each(claimed, self._hand_over_some, self._give_up, beyond=_BEYOND)

    async def _hand_over_some(self, claimed: Sequence[Claimed]) -> None:
        specs = await until_answered(lambda: self._specs.read(claimed))
        definers = [definer_of(one, spec) for one, spec in zip(claimed, specs, strict=True)]
        sharing = {
            definer
            for definer, spec in zip(definers, specs, strict=True)
            if isinstance(spec, JobSpec) and spec.shares is not None
        }
        shared = await until_answered(lambda: self._specs.read_shared(sharing)) if sharing else {}
        assignments, secretive = [], []
        for one, spec, definer in zip(claimed, specs, definers, strict=True):
            key = one.key
            held, carrier = self._held.by_key.get(key), shared.get(definer)
            if held is None or held.ended or held.is_sent:
                continue  # cancelled while its spec was read, or a mistake with another job
            if self._attempts.is_closed:
                self._attempts.end_unstarted(key, Reason.PREEMPTED)
            elif spec is None:
                self._attempts.end_unstarted(key, Reason.BAD_SPEC, "its spec is missing")
            elif isinstance(spec, Refused):
                self._attempts.end_unstarted(key, spec.reason, spec.message)
            elif isinstance(carrier, Refused):
                self._attempts.end_unstarted(key, carrier.reason, carrier.message)
            else:
                assignment = Assignment(
                    key,
                    spec,
                    one.cpu_m,
                    one.memory_mib,
                    definer,
                    carrier,
                    one.gpu,
                    passes=held.passes,
                )
                held.executor, held.trace_id = spec.executor, spec.trace_id
                if spec.secrets or self._accounts is not None:
                    secretive.append(assignment)
                elif not self._goes_apart(assignment):
                    held.is_sent = True
                    assignments.append(assignment)
        if secretive:
            self._begin(self._hand_over_secretive(secretive), secretive)
        await self._submit(assignments)

    async def _submit(self, assignments: Sequence[Assignment]) -> None:
        if assignments:  # the runner ignores those that it has
            await settle_each(assignments, self._runner.submit, self._give_up, beyond=_BEYOND)
            self._commands.on_submitted()

    async def _give_up(self, one: Claimed | Assignment, error: Exception) -> None:
        """End an attempt whose handing over has failed."""
        log.error("attempt.not_handed_over", key=one.key, exc_info=error)
        if self._held.live(one.key) is not None:
            message = f"it could not be handed over: {error!r}"
            self._attempts.end_unstarted(one.key, Reason.SYSTEM, message)

    def _begin(
        self, handing_over: Coroutine[None, None, None], some: Sequence[Assignment]
    ) -> None:
        """Hand jobs over as soon as what they need is here; others do not wait for them."""
        task = asyncio.create_task(handing_over)
        self._fetching.add(task)
        task.add_done_callback(partial(self._on_begun, some))

    def _on_begun(self, some: Sequence[Assignment], task: "asyncio.Task[None]") -> None:
        """End attempts whose handing over has failed: nobody else would tell of them."""
        self._fetching.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        log.error("attempt.not_handed_over", key=some[0].key, jobs=len(some), exc_info=error)
        if isinstance(error, Unauthenticated | Forbidden | ServerReplaced):
            return  # the session ends, and agrees with the store on its jobs, or others get them
        for assignment in some:
            held = self._held.live(assignment.key)
            if held is not None and not held.is_sent:
                message = f"it could not be handed over: {error!r}"
                self._attempts.end_unstarted(assignment.key, Reason.SYSTEM, message)

    def _goes_apart(self, one: Assignment) -> bool:
        """Say whether a job waits for what it needs; if so, begin to bring it."""
        if _waits_for_bytes(one.spec):
            self._begin(self._hand_over_fetched(one), [one])
        elif self._has_files(one):
            self._begin(self._hand_over_with_files(one), [one])
        else:
            return False
        return True

    async def _hand_over_secretive(self, some: Sequence[Assignment]) -> None:
        ready = []
        given: Sequence[Assignment | Ended] = some
        if any(assignment.spec.secrets for assignment in some):
            given = await self._secrets.give(some)
        if self._accounts is not None:
            given = await self._accounts.give(given)
        for one in given:
            if self._held.live(one.key) is None:
                continue  # cancelled while they were read
            if isinstance(one, Ended):
                self._attempts.end(one)
            elif not self._goes_apart(one):
                ready.append(one)
        await self._submit_late(ready)

    async def _hand_over_fetched(self, assignment: Assignment) -> None:
        reason, message, code = None, "", None
        if (held := self._held.by_key.get(assignment.key)) is not None:
            held.bringing = asyncio.current_task()
        try:
            assignment, code = await self._fetch(assignment)
        except OSError as error:
            reason, message = Reason.DISK, f"what it needs cannot be written: {error.strerror}"
        except WeftError as error:
            reason, message = Reason.BAD_SPEC, error.message
        if (held := self._held.live(assignment.key)) is None:
            return  # cancelled while they were fetched
        if reason is not None:
            self._attempts.end_unstarted(assignment.key, reason, message)
            return
        held.phase = held.bringing = None  # a lease again
        if code is not None or self._has_files(assignment):
            await self._hand_over_with_files(assignment, code)
        else:
            await self._submit_late([assignment])

    async def _fetch(self, one: Assignment) -> tuple[Assignment, Path | None]:
        """Return the attempt with what it needs at hand, and the folder that is to be copied to
        its directory. Raise `OSError`, `WeftError`.
        """
        spec, code, batch_id = one.spec, None, one.key.batch_id
        if spec.requirements is not None:
            phase, message = Phase.STAGING_INPUTS, "installs its requirements"
            enter = partial(self._attempts.enter, one.key, phase, message)
            spec = _within(spec, await self._environments.bring(one.key, spec, enter))
        if spec.app is not None:
            app = spec.app
            folder = str(await self._apps.fetch(batch_id, app.digest, app.n_bytes_max))
            spec = msgspec.structs.replace(spec, app=msgspec.structs.replace(app, folder=folder))
        if spec.function is not None and spec.function.arguments_digest is not None:
            spec = await self._arguments.fetch(one.key, spec)
        if spec.code is not None:
            code = await self._code.fetch(batch_id, spec.code.digest, CODE_BYTES_MAX)
            spec = _with_path(spec, "PYTHONPATH", code)
            if spec.function is not None:  # it imports, and a copy for each call costs
                code = None
        return msgspec.structs.replace(one, spec=spec), code

    async def _hand_over_with_files(self, one: Assignment, code: Path | None = None) -> None:
        self._attempts.enter(one.key, Phase.STAGING_INPUTS)
        given: Assignment | Ended = one
        if (held := self._held.live(one.key)) is not None:
            held.bringing = asyncio.current_task()
        try:
            if self._checkpoints.is_wanted(one.key):
                await self._checkpoints.bring_here(one.key, one.account)
            if code is not None or _names_files(one.spec):
                tell = partial(self._attempts.enter, one.key, Phase.STAGING_INPUTS)
                given = await self._files.bring(one, tell, code)
        except OSError as error:
            why = f"its checkpoint cannot be written: {error.strerror}"
            given = never_started(one.key, Reason.DISK, now_ns=time.monotonic_ns(), message=why)
        except asyncio.CancelledError:
            if self._held.live(one.key) is None:  # the attempt ended, not the session
                self._files.remove(one.key)
            raise
        if (held := self._held.live(one.key)) is None:
            self._files.remove(one.key)  # cancelled while they were brought
        elif isinstance(given, Ended):
            self._attempts.end(given)
        else:
            held.phase = held.bringing = None  # a lease again
            await self._submit_late([given])

    def _has_files(self, assignment: Assignment) -> bool:
        return _names_files(assignment.spec) or self._checkpoints.is_wanted(assignment.key)

    async def _submit_late(self, some: Sequence[Assignment]) -> None:
        """Submit jobs that had to wait for what they need."""
        for assignment in some:
            if self._attempts.is_closed:
                self._attempts.end_unstarted(assignment.key, Reason.PREEMPTED)
                continue
            held = self._held.by_key[assignment.key]
            held.is_sent = True
            held.claimed_ns = time.monotonic_ns()  # its lease begins now
        if some and not self._attempts.is_closed:
            await self._submit(some)
            self._plan_return()

    def _plan_return(self) -> None:
        """Schedule a check for the time when the oldest lease becomes too old."""
        if self._return_timer is None:
            loop = asyncio.get_running_loop()
            self._return_timer = loop.call_later(LEASE_AGE_MAX_S, self._return_old)

    def _return_old(self) -> None:
        """Withdraw the jobs that were not started in time, except the first one, which is next;
        others may pass it from now on.
        """
        self._return_timer = None
        before_ns = time.monotonic_ns() - int(LEASE_AGE_MAX_S * 1e9)
        leases = self._held.leases()
        old = [held for held in leases if held.claimed_ns <= before_ns]
        if old and old[0] is leases[0]:
            self._held.oldest = old.pop(0)
            self._attempts.room.set()
        if old:
            self._runner.withdraw([held.key for held in old])
        if len(leases) > 1 or (leases and self._held.oldest is None):
            self._plan_return()


def _waits_for_bytes(spec: JobSpec) -> bool:
    function = spec.function
    has_payload = function is not None and function.arguments_digest is not None
    needs = {spec.app, spec.code, spec.requirements}
    return has_payload or needs != {None}


def _within(spec: JobSpec, environment: Path) -> JobSpec:
    """Return a spec whose program finds the packages of an environment first."""
    programs, function = environment / "bin", spec.function
    spec = _with_path(spec, "PATH", programs, USUAL_PATH)
    if function is not None:
        function = msgspec.structs.replace(function, interpreter=str(programs / "python"))
    env = {**(spec.env or {}), "VIRTUAL_ENV": str(environment)}
    return msgspec.structs.replace(spec, env=env, function=function)


def _with_path(spec: JobSpec, name: str, first: Path, usual: str = "") -> JobSpec:
    """Return a spec whose program looks there before it looks where a variable says."""
    env = spec.env or {}
    rest = env.get(name) or (spec.inherit_env or {}).get(name) or usual
    path = f"{first}{os.pathsep}{rest}" if rest else str(first)
    return msgspec.structs.replace(spec, env={**env, name: path})


def _names_files(spec: JobSpec) -> bool:
    return spec.inputs is not None or spec.outputs is not None

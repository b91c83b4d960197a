"""The files of attempts: brought before they are handed over, kept before their ends are reported.

What is kept is remembered beside the attempt's directory, so the next agent goes on from there.
"""

import asyncio
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from weft.core.ends.conditions import Blocked
from weft.core.errors import ServerReplaced
from weft.core.files.file_paths import in_store
from weft.core.files.products import WrongProducts
from weft.core.states import AttemptKey, Reason
from weft.core.text.filling import names_product
from weft.ports.file_store import FileDiffers, FileProblem, FileRefused, HeldFile, StoreAway
from weft.ports.patience import retry_s, tasks_beside, until_answered
from weft.ports.runner import Assignment, Ended, blocked, never_started
from weft.ports.store import KeptFile, WorkerStore
from weft.telemetry.log import log
from weft.wire.documents.files import ANNOUNCED_BYTES_MAX, FileInput, FileOutput
from weft.worker.agent.job_inputs import JobInputs
from weft.worker.agent.object_uploads import FileSite, ObjectUploads
from weft.worker.agent.site import Fence
from weft.worker.stager.directories import JobDirectories, Plan
from weft.worker.stager.finding import FoundFile as LeftFile
from weft.worker.stager.finding import find_outputs, opened_output, product_in
from weft.worker.stager.placing import give

_PIECE_BYTES: Final = 1 << 20
_TRIES: Final = 3
_AGAIN_FIRST_S: Final = 2.0
_AGAIN_LONGEST_S: Final = 30.0
_NAMED_MAX: Final = 10
ReadProducts = Callable[[AttemptKey], Sequence[Mapping[str, Any]]]
_NO_OUTPUTS: Final = frozenset({Reason.PREEMPTED, Reason.LOST, Reason.OVERDUE})
"""After these ends another attempt follows, or nobody waits for this one."""


class JobFiles:
    """What attempts of one incarnation get and leave."""

    def __init__(
        self,
        site: FileSite,
        store: WorkerStore,
        incarnation_id: int,
        directory: Path,
        fence: Fence,
    ) -> None:
        self._site = site
        self._fence = fence
        self._store = store
        self._incarnation_id = incarnation_id
        self._directories = JobDirectories(directory, for_accounts=site.for_accounts)
        self._uploads = ObjectUploads(site, incarnation_id, self._directories)
        self._inputs = JobInputs(site, store, self._uploads, incarnation_id, directory)
        self.ended: asyncio.Queue[Ended] = asyncio.Queue()
        """Attempts that have ended, and whose outputs are to be kept."""

    def adopt(self, keys: Iterable[AttemptKey]) -> None:
        """Take over the directories of these attempts; those of others go."""
        self._directories.adopt(keys)
        self._site.cache.tidy()

    def take(self, ended: Ended, *, anyway: bool) -> bool:
        """Take the end of an attempt with files, to report it later; return whether it has any, or
        leaves something else that is to be kept.
        """
        if not anyway and self._directories.plan_of(ended.key) is None:
            return False
        self.ended.put_nowait(ended)
        return True

    def inputs_of(self, key: AttemptKey) -> tuple[FileInput, ...]:
        """Return the files that an attempt got."""
        plan = self._directories.plan_of(key)
        return () if plan is None else plan.inputs

    def remove(self, key: AttemptKey) -> None:
        """Remove what an attempt had, once its end is recorded."""
        self._directories.remove(key)

    # before the start

    async def bring(
        self, one: Assignment, tell: Callable[[str], None], code: Path | None = None
    ) -> Assignment | Ended:
        """Return the attempt with its directory, and its inputs and a copy of its code in it, or
        how it ends without.
        """
        begun = time.monotonic_ns()
        reason, message = Reason.FILES, ""
        try:
            work = await asyncio.to_thread(self._directories.make, one.key)
            if code is not None:
                await asyncio.to_thread(_copy, code, work)
            variables = await self._inputs.bring_all(one, work, tell)
            if one.account is not None:
                await asyncio.to_thread(give, work, one.account)
            self._directories.keep_plan(
                one.key,
                Plan(
                    one.spec.outputs or (),
                    None if one.account is None else one.account.uid,
                    (time.monotonic_ns() - begun) // 1_000_000,
                    folder=None if one.spec.app is None else one.spec.app.folder,
                    inputs=one.spec.inputs or (),
                ),
            )
        except StoreAway as error:
            await asyncio.to_thread(self.remove, one.key)
            away = Blocked("storage_unavailable", message=str(error))
            return blocked(one.key, away, now_ns=time.monotonic_ns())
        except FileProblem as error:
            message = str(error)
        except OSError as error:
            reason, message = Reason.DISK, f"its files cannot be written: {error.strerror}"
        except ServerReplaced:
            raise  # the next session brings them
        except Exception as error:
            # Nobody else would tell of this attempt.
            log.exception("attempt.files_failed", key=one.key)
            reason, message = Reason.SYSTEM, f"its files could not be brought: {error!r}"
        else:
            spec = one.spec
            if variables:
                spec = msgspec.structs.replace(spec, env={**(spec.env or {}), **variables})
            return msgspec.structs.replace(one, spec=spec, directory=str(work))
        await asyncio.to_thread(self.remove, one.key)
        return never_started(one.key, reason, now_ns=time.monotonic_ns(), message=message)

    # after the end

    def said_of_copies(self, ended: Ended) -> str:
        """Say where outputs of an attempt that has ended are copied to, as `archiving_at`
        of `_door_jobs.sql` reads it; empty: nowhere.
        """
        plan = self._directories.plan_of(ended.key)
        targets = (
            [one.to for one in plan.outputs if one.to and _is_wanted(one, ended)] if plan else ()
        )
        return f"its outputs are copied to {targets[0]}" if targets else ""

    def keeps(self, ended: Ended) -> bool:
        """Say whether any outputs of an attempt that has ended are wanted."""
        plan = self._directories.plan_of(ended.key)
        return plan is not None and any(_is_wanted(output, ended) for output in plan.outputs)

    async def keep(self, ended: Ended, products: ReadProducts) -> Ended:
        """Keep the outputs of an attempt that has ended; return how its end is to be reported.
        `products`: reads those that it names.
        """
        key = ended.key
        plan = self._directories.plan_of(key)
        if plan is None:
            return ended
        if plan.kept is None:
            # Not from the end on: its agent, or the database, may have been away.
            over_ns, begun_ns = self._fence.over_ns(), time.monotonic_ns()
            outputs = [output for output in plan.outputs if _is_wanted(output, ended)]
            waits_s = [0.0]
            kept, problem = await self._keep_all(key, outputs, plan, products, waits_s)
            took_ns = time.monotonic_ns() - begun_ns + over_ns - self._fence.over_ns()
            took_ns -= round(max(waits_s) * 1e9)  # nobody is billed while a store is away
            plan = msgspec.structs.replace(
                plan,
                kept=tuple(kept),
                problem=problem,
                storing_ms=max(took_ns // 1_000_000, 0) if outputs else 0,
            )
            self._directories.keep_plan(key, plan)
        files = plan.kept or ()
        await until_answered(
            lambda: self._store.record_files(
                self._incarnation_id,
                key,
                files,
                staging_ms=plan.staging_ms,
                storing_ms=plan.storing_ms,
            )
        )
        # Not when the database has heard of it, either.
        ended_ns = ended.ended_ns + plan.storing_ms * 1_000_000
        stored = msgspec.structs.replace(ended, ended_ns=ended_ns)
        if not plan.problem:
            return stored
        if ended.reason is None:
            return msgspec.structs.replace(stored, reason=Reason.FILES, message=plan.problem)
        return msgspec.structs.replace(stored, message=ended.message or plan.problem)

    async def _keep_all(
        self,
        key: AttemptKey,
        outputs: list[FileOutput],
        plan: Plan,
        products: ReadProducts,
        waits_s: list[float],
    ) -> tuple[list[KeptFile], str]:
        """Return what was kept, and why not all was: what cannot be kept is left out, for any
        other problem nothing is kept. `waits_s` gets how long files waited for their stores.
        """
        if not outputs:
            return [], ""
        work = self._directories.work_of(key)
        try:
            named: Sequence[Mapping[str, Any]] = ()
            if any(names_product(output.to) for output in outputs):
                named = await asyncio.to_thread(products, key)
            found, problems = await asyncio.to_thread(
                find_outputs,
                work,
                outputs,
                files_max=self._site.settings.output_files_max,
                bytes_max=self._site.settings.output_bytes_max,
                folder=None if plan.folder is None else Path(plan.folder),
                product_of=partial(product_in, work, named, plan.owner),
            )
            keeping = [
                asyncio.create_task(self._keep_one(key, one, plan.owner, waits_s)) for one in found
            ]
            async with tasks_beside(keeping):
                return list(await asyncio.gather(*keeping)), _listed(problems)
        except FileProblem as error:
            return [], str(error)
        except WrongProducts as error:
            return [], f"its products cannot be kept: {error}"
        except OSError as error:
            return [], f"its outputs cannot be kept: {error.strerror}"

    async def _keep_one(
        self, key: AttemptKey, one: LeftFile, owner: int | None, waits_s: list[float]
    ) -> KeptFile:
        """Keep a file, however long its store is away: it is what the job has computed."""
        work, n_away, n_changed, waited_s = self._directories.work_of(key), 0, 0, 0.0
        while True:
            if in_store(one.target):
                await self._fence.until_it_holds()
            async with self._inputs.places.of(await self._inputs.tenants.id_of(key)):
                try:
                    return await self._keep_now(key, work, one, owner)
                except FileDiffers as error:
                    n_changed += 1
                    if n_changed >= _TRIES:
                        raise FileDiffers(f"its output {one.source!r}: {error}") from error
                except StoreAway as error:
                    n_away += 1
                    if waited_s > self._site.settings.output_away_s_max:
                        raise
                    if n_away == 1:
                        log.warning("attempt.store_away", key=key, error=f"{error}")
            if n_away:
                pause_s = retry_s(n_away, first_s=_AGAIN_FIRST_S, longest_s=_AGAIN_LONGEST_S)
                await asyncio.sleep(pause_s)
                waited_s += pause_s
                waits_s.append(waited_s)

    async def _keep_now(
        self, key: AttemptKey, work: Path, one: LeftFile, owner: int | None
    ) -> KeptFile:
        with opened_output(work, one.source, owner=owner) as fd:
            message = _message(fd, one.source) if one.is_message else None
            digest, n_bytes = await asyncio.to_thread(_digest_of, fd)
            held, target = HeldFile(fd, n_bytes, digest), one.target
            if not in_store(target):  # named by its digest, it replaces nothing
                await self._site.kept.write(f"b{key.batch_id}/{digest.hex()}", held)
                if self._site.carrier is not None:
                    await self._site.carrier.keep(key, held)
                return KeptFile(target, n_bytes, digest, message=message)
            await self._uploads.store(key, target, held._replace(check=self._fence.check))
        return KeptFile(target, n_bytes, digest, target, message)


def _listed(problems: Collection[str]) -> str:
    more = len(problems) - _NAMED_MAX
    text = "; ".join([*problems][:_NAMED_MAX])
    return f"{text}; and {more} more" if more > 0 else text


def _copy(folder: Path, work: Path) -> None:
    mode = work.stat().st_mode
    shutil.copytree(folder, work, dirs_exist_ok=True)
    work.chmod(mode)


def _is_wanted(output: FileOutput, ended: Ended) -> bool:
    if not ended.started_ns or ended.reason in _NO_OUTPUTS:
        return False
    end = {None: "success", int(Reason.CANCELLED): "cancelled"}.get(ended.reason, "failure")
    return output.when in {"always", end}


def _message(fd: int, source: str) -> str:
    """Return what a small file says; whether it is JSON, its reader finds out."""
    found = os.pread(fd, ANNOUNCED_BYTES_MAX + 1, 0)
    if len(found) > ANNOUNCED_BYTES_MAX:
        most = ANNOUNCED_BYTES_MAX
        raise FileRefused(f"its output {source!r} is longer than {most} bytes, and a message")
    try:
        text = found.decode()
    except UnicodeDecodeError as error:
        raise FileRefused(f"its output {source!r} is a message, and no UTF-8") from error
    if "\0" in text:
        raise FileRefused(f"its output {source!r} is a message, and has a NUL")
    return text


def _digest_of(fd: int) -> tuple[bytes, int]:
    found, offset = hashlib.sha256(), 0
    while piece := os.pread(fd, _PIECE_BYTES, offset):
        found.update(piece)
        offset += len(piece)
    return found.digest(), offset

"""Read the output of jobs: whole, a range, or that of many jobs."""

import socket
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Final

from weft.api.calls.call import call
from weft.api.calls.path_ids import AttemptNumber, BatchId, JobId
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.ends.end_words import never_started
from weft.core.errors import AttemptNotFound, OutputElsewhere, OutputGone
from weft.core.ids import format_job_ref
from weft.core.states import ENDED_WORDS
from weft.ports.log_store import AttemptLog, LogStore
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.wire.answers.usage import AttemptUsage
from weft.wire.log_format import CUT, STDERR, STDOUT
from weft.wire.usage_format import UsageSample

AFTER_RESTORE: Final = "After a restore, copy its `logs/` back there and start weft again. "
STREAMS: Final = {"stdout": STDOUT, "stderr": STDERR}
BLOCK_BYTES: Final = 256 * 1024
JOBS_A_STEP: Final = 250


class Outputs:
    """The output of the jobs of one batch, for one caller."""

    def __init__(self, services: Services, caller: Caller, batch_id: int) -> None:
        self._store = services.store
        self._logs = services.logs
        self._caller = caller
        self._batch_id = batch_id

    async def find(self, job_id: int, attempt: int | None) -> AttemptLog | None:
        """Return the log of an attempt (None: of the last one). None: the job has not started.

        Raise `JobNotFound`, `AttemptNotFound`.
        """
        logs = await self._store.list_attempt_logs(self._caller, self._batch_id, [job_id], attempt)
        if logs and logs[0].attempt and attempt in {None, logs[0].attempt}:
            return logs[0]
        job = await self._store.get_job(self._caller, self._batch_id, job_id)
        if attempt is not None:
            last = job.get("attempt") or 0
            raise _no_attempt(
                self._batch_id,
                job_id,
                f"There is no attempt {attempt}; the last one is {last}.",
                hint=f"`weft status {format_job_ref(self._batch_id, job_id)}` lists them.",
            )
        return None

    async def get(self, job_id: int, attempt: int | None) -> AttemptLog:
        """Return what `find` returns. Raise `AttemptNotFound` also if the job has not started, and
        `OutputElsewhere`, `OutputGone`.
        """
        log = await self.find(job_id, attempt)
        if log is None:
            job = await self._store.get_job(self._caller, self._batch_id, job_id)
            if job["state"] not in ENDED_WORDS:
                raise _no_attempt(self._batch_id, job_id, "The job has not started.")
            ref = format_job_ref(self._batch_id, job_id)
            why, look = never_started(job, ref)
            if "outputs_of" in job:
                raise OutputGone(
                    f"the output of {ref} is not kept any more", detail=why, hint=look
                )
            raise _no_attempt(self._batch_id, job_id, why, hint=look)
        if (missing := missing_output(self._logs, log)) is not None:
            raise missing
        return log

    async def size(self, log: AttemptLog, stream: str) -> int:
        """Return how many bytes of a stream are stored now."""
        return await self._logs.size(log, STREAMS[stream])

    async def read(
        self, log: AttemptLog, stream: str, start: int, stop: int
    ) -> AsyncIterator[bytes]:
        """Yield bytes of one stream, in blocks."""
        while start < stop:
            end = min(stop, start + BLOCK_BYTES)
            block = await self._logs.read(log, STREAMS[stream], start, end)
            if not block:
                return
            yield block
            start += len(block)

    async def interleaved(self, log: AttemptLog) -> AsyncIterator[bytes]:
        """Yield both streams in the order in which they were written."""
        async for pieces in self._logs.pieces(log, 0):
            yield b"".join(piece.data for piece in pieces if piece.kind != CUT)

    async def ended(self, job_ids: Sequence[int]) -> AsyncGenerator[Sequence[AttemptLog]]:
        """Yield the logs of those of these jobs that have ended, in order and in steps."""
        for start in range(0, len(job_ids), JOBS_A_STEP):
            ids = job_ids[start : start + JOBS_A_STEP]
            logs = await self._store.list_attempt_logs(self._caller, self._batch_id, ids, None)
            yield [log for log in logs if log.state in ENDED_WORDS]


async def outputs_of(
    services: Services, caller: Caller, batch_id: int, job_ids: Sequence[int]
) -> Outputs:
    """Return the outputs of a batch, to read those of these jobs. Raise `BatchNotFound`, also if
    the caller sees single jobs of it, and not all of these.
    """
    if not await services.store.sees_batch(caller, batch_id):
        await services.store.list_attempt_logs(caller, batch_id, job_ids, None)
    return Outputs(services, caller, batch_id)


def missing_output(logs: LogStore, log: AttemptLog) -> OutputElsewhere | OutputGone | None:
    """Return why the api cannot read an output; None: it can, or the job wrote nothing."""
    if log.ended and not log.stdout_bytes + log.stderr_bytes:
        return None
    if log.why_gone is not None:
        return _gone(log, log.why_gone, "`weft tenant show` says how long output is kept.")
    if (missing := elsewhere(logs, log)) is not None or not log.ended:
        return missing
    why = logs.why_gone(log)
    hint = "An administrator can have the api keep more: `spool_keep_s`, `spool_tenant_bytes_max`."
    return None if why is None else _gone(log, why, hint)


def _gone(log: AttemptLog, why: str, hint: str) -> OutputGone:
    job = format_job_ref(log.batch_id, log.job_id)
    return OutputGone(f"the output of {job} is not kept any more", detail=why, hint=hint)


def elsewhere(logs: LogStore, log: AttemptLog) -> OutputElsewhere | None:
    """Return an error that names the directory of an output; None: the api can read it."""
    if log.directory is None or logs.can_read(log.directory):
        return None
    job, host = format_job_ref(log.batch_id, log.job_id), log.directory.host
    return OutputElsewhere(
        f"the output of {job} is on host {host}",
        detail=f"The worker that ran it keeps output in {log.directory.path} there, and this "
        "server reads another directory.",
        hint=f"{AFTER_RESTORE if host == socket.gethostname() else ''}"
        "Start an api with that worker's home on its host (`weft api --home …`) and ask it, "
        "or give the workers and the server one home.",
    )


def _no_attempt(
    batch_id: int, job_id: int, why: str, *, hint: str = "Wait for it with `weft logs --follow`."
) -> AttemptNotFound:
    return AttemptNotFound(
        f"job {format_job_ref(batch_id, job_id)} has no such output", detail=why, hint=hint
    )


@call(
    "GET /v1/batches/{b}/jobs/{j}/attempts/{a}/usage",
    Right.READ,
    AttemptUsage,
    client="attempt_usage",
    public=False,
)
async def get_attempt_usage(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, attempt: AttemptNumber
) -> Answer:
    """Return samples of the CPU time and memory of an attempt, also while it runs, oldest first:
    `at_ms, cpu_ms, memory_bytes`. They get rarer as it gets older: at most 1,000 are kept, with
    its output. Raise `AttemptNotFound`, `OutputElsewhere`.
    """
    samples = await read_samples(services, caller, batch_id, job_id, attempt)
    shown = [sample._asdict() for sample in samples]
    return {"batch_id": batch_id, "job_id": job_id, "attempt": attempt, "samples": shown}


async def read_samples(
    services: Services, caller: Caller, batch_id: int, job_id: int, attempt: int
) -> Sequence[UsageSample]:
    """Return the samples of an attempt, oldest first. They are kept beside its output, so the
    same errors are raised: `JobNotFound`, `AttemptNotFound`, `OutputElsewhere`.
    """
    log = await Outputs(services, caller, batch_id).find(job_id, attempt)
    assert log is not None, "an attempt that is named is found, or an error"
    if (missing := elsewhere(services.logs, log)) is not None:
        raise missing
    return await services.logs.samples(log)

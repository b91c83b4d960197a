"""Tell a running job something: a signal, a text, or that it has more time."""

from weft.api.calls.call import KEYED, act
from weft.api.calls.path_ids import BatchId, JobId
from weft.api.services import Services
from weft.core.errors import FieldError, InvalidValue, NoTimeLimit
from weft.core.ids import format_job_ref
from weft.core.signals import parse_signal, word_of
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.wire.documents.commands import (
    ExtendDocument,
    JobExtended,
    JobMessaged,
    JobSignalled,
    MessageDocument,
    SignalDocument,
)


@act("POST /v1/batches/{b}/jobs/{j}/signal", JobSignalled, **KEYED)
async def signal_job(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, document: SignalDocument
) -> Answer:
    """Send a signal to the first process of a running job; its history says when it was delivered.
    Raise `JobNotRunning`.
    """
    number = parse_signal(document.signal, format_job_ref(batch_id, job_id))
    attempt = await services.store.signal_job(
        caller, batch_id, job_id, signal=int(number), word=word_of(number)
    )
    return {
        "batch_id": batch_id,
        "job_id": job_id,
        "attempt": attempt,
        "signal": word_of(number),
        "result": "sent",
    }


@act("POST /v1/batches/{b}/jobs/{j}/message", JobMessaged, **KEYED)
async def message_job(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, document: MessageDocument
) -> Answer:
    """Send a text to a running job, which finds it in a new file in `$WEFT_MESSAGES`; its history
    says when it was delivered. Raise `JobNotRunning`.
    """
    text = document.text
    size, most = len(text.encode()), services.settings.message_bytes_max
    if not 0 < size <= most:
        why = f"{size} bytes, at most {most} (message_bytes_max)" if size else "it is empty"
        raise InvalidValue(
            f"this message cannot be sent: {why}",
            hint="Put more into a file that the job can read, and send its path.",
            errors=[FieldError("/text", why)],
        )
    attempt = await services.store.message_job(caller, batch_id, job_id, text=text)
    return {
        "batch_id": batch_id,
        "job_id": job_id,
        "attempt": attempt,
        "size_bytes": size,
        "result": "sent",
    }


@act("POST /v1/batches/{b}/jobs/{j}/extend", JobExtended, **KEYED)
async def extend_job(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, document: ExtendDocument
) -> Answer:
    """Extend the time limit of a job, of its running attempt and of those that follow. Raise
    `NoTimeLimit` if it has none, `JobOver` if it has ended.
    """
    job = await services.store.get_job(caller, batch_id, job_id)
    timeout_s = job["spec"].timeout_s if job["spec"] else None
    if timeout_s is None:
        raise NoTimeLimit(
            f"job {format_job_ref(batch_id, job_id)} has no time limit",
            detail="It was submitted without `timeout_s`, so nothing stops it.",
            hint="Nothing was changed; a `deadline` cannot be extended.",
        )
    extended_ms = await services.store.extend_job(
        caller, batch_id, job_id, by_ms=max(1, round(document.by_s * 1000))
    )
    return {
        "batch_id": batch_id,
        "job_id": job_id,
        "timeout_s": timeout_s + extended_ms / 1000,
        "extended_s": extended_ms / 1000,
    }

"""`POST /v1/batches/{b}/jobs/{j}/answer`: what a job waits for."""

import sys
from typing import Final

from weft.api.calls.call import act, calls_of
from weft.api.calls.path_ids import BatchId, JobId
from weft.api.services import Services
from weft.core.errors import FieldError, InvalidValue
from weft.core.ids import format_job_ref
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.submission.translation.kinds import wrong_text
from weft.submission.waits import misfits
from weft.wire.documents.job_kinds import AnswerDocument, JobAnswered


@act("POST /v1/batches/{b}/jobs/{j}/answer", JobAnswered)
async def answer_job(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, document: AnswerDocument
) -> Answer:
    """Answer a job that waits for an approval or an event: it succeeds, or fails with the note.
    Values must fit its form. Raise `NotWaiting`.
    """
    values = document.values or {}
    message = wrong_text((values, document.note))
    wrong = [FieldError("", message)]
    if not message:
        job = await services.store.get_job(caller, batch_id, job_id)
        form = job.get("wait", {}).get("form") if document.approve else None
        asked = [] if form is None else [(form, values)]
        answers = await misfits(services, caller, asked)
        wrong = [FieldError(f"/values{at}", why) for misfit in answers for at, why in misfit]
    if wrong:
        raise InvalidValue(
            f"this is no answer to job {format_job_ref(batch_id, job_id)}",
            hint="`weft status --json` shows the form of the job, in `wait`.",
            errors=wrong,
        )
    state = await services.store.answer_job(
        caller, batch_id, job_id, approve=document.approve, note=document.note,
        values=values,
    )  # fmt: skip
    return {"batch_id": batch_id, "job_id": job_id, "state": state}


CALLS: Final = calls_of(sys.modules[__name__])

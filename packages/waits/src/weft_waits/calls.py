"""`POST /v1/batches/{b}/jobs/{j}/answer`: what a job waits for; and links that do it, once."""

import re
import secrets
import sys
from dataclasses import replace
from typing import Final

from weft.api.calls.call import KEYED, ServerUrl, act, call, call_of, calls_of
from weft.api.calls.path_ids import BatchId, JobId
from weft.api.services import Services
from weft.core.access.rights import Permission, Right, require
from weft.core.errors import AnswerLinkNotFound, FieldError, InvalidValue, NotWaiting
from weft.core.ids import format_job_ref, parse_job_ref
from weft.core.states import ENDED_WORDS
from weft.ports.store import Caller, Origin
from weft.submission.services import Answer
from weft.submission.translation.kinds import wrong_text
from weft.submission.waits import misfits
from weft.telemetry.log import log
from weft.wire.documents.waits import AnswerDocument, AnswerLink, AnswerLinkDocument, JobAnswered

ASKED: Final = frozenset({"approval", "event"})
"""What somebody may answer."""
_SECRET_BYTES: Final = 32
_CODE: Final = re.compile(r"(?P<job>b[1-9][0-9]{0,18}\.j[1-9][0-9]{0,9})\.[A-Za-z0-9_-]{43}")


@act("POST /v1/batches/{b}/jobs/{j}/answer", JobAnswered)
async def answer_job(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, document: AnswerDocument
) -> Answer:
    """Answer a job that waits for an approval or an event: it succeeds, or fails with the note.
    Values must fit its form. Raise `NotWaiting`.
    """
    values = document.values or {}
    parts = {"/values": values, "/note": document.note}
    wrong = [FieldError(at, why) for at, part in parts.items() if (why := wrong_text(part))]
    if not wrong:
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
        caller,
        batch_id,
        job_id,
        approve=document.approve,
        note=document.note,
        values=values,
    )
    return {"batch_id": batch_id, "job_id": job_id, "state": state}


@call(
    "POST /v1/batches/{b}/jobs/{j}/answer-links",
    Right.WRITE,
    AnswerLink,
    permission=Permission.EXECUTE,
    marks=KEYED,
)
async def create_answer_link(
    services: Services,
    caller: Caller,
    batch_id: BatchId,
    job_id: JobId,
    document: AnswerLinkDocument,
    server: ServerUrl,
    origin: Origin,
) -> Answer:
    """Make a link to a page on which whoever has it answers this job, without a login: once. It is
    one of the caller's tokens, until then. Raise `NotWaiting`, `TooManyTokens`.
    """
    name = format_job_ref(batch_id, job_id)
    job = await services.store.get_job(caller, batch_id, job_id)
    if job.get("wait", {}).get("for") not in ASKED or job["state"] in ENDED_WORDS:
        raise NotWaiting(
            f"job {name} waits for no answer",
            detail="Only a job with `wait` for an approval or an event does, until it has one.",
            hint=f"`weft why {name}` says what it waits for.",
        )
    # What is stored is the digest of all of it: a link for one job is none for another.
    code = f"{name}.{secrets.token_urlsafe(_SECRET_BYTES)}"
    made = await services.store.create_token(
        caller,
        code,
        name=f"answer {name}",
        scopes={Right.WRITE},
        kind="answer",
        valid_s=caller.lasting(document.valid_s),
        tokens_max=services.settings.tokens_per_user_max,
        idempotency_key=origin.key,
    )
    log.info("answer_link.created", job=name, token=made["token_id"], user=caller.user_name)
    return {
        "token_id": made["token_id"],
        "url": f"{server}/ui/answer?code={code}",
        "expires_at": made["expires_at"],
    }


async def read_link(services: Services, code: str) -> tuple[Caller, int, int]:
    """Return as whom a link answers, and which job: one who needs what an answer without a link
    does. Raise `AnswerLinkNotFound`, `RightMissing`.
    """
    found = _CODE.fullmatch(code)
    caller = await services.store.authenticate_answer(code) if found else None
    if found is None or caller is None:
        raise AnswerLinkNotFound(
            "this link answers no job", detail="It was used or revoked, or has expired."
        )
    answering = call_of(answer_job)
    require(answering.right, caller.user_name, caller.role)
    may = replace(caller, needs=answering.permission or Permission.WRITE)
    return may, *parse_job_ref(found["job"])


CALLS: Final = calls_of(sys.modules[__name__])

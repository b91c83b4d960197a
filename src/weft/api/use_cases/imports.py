"""Take over jobs that have ended in another system: each is a batch without jobs here."""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import msgspec

from weft.api.calls.call import TraceId, call
from weft.api.services import Services
from weft.core.access.rights import Right, UserRole
from weft.core.errors import FieldError, InvalidValue
from weft.ports.store import Caller, Origin
from weft.submission.services import Answer
from weft.submission.submit import create_batch
from weft.wire.documents.batches import BatchDocument
from weft.wire.documents.imports import ImportDocument, Imported, ImportedJob

_PAGE: Final = 1000
_SHOWN: Final = 20


@call("POST /v1/imports", Right.MANAGE, Imported, client="")
async def import_jobs(
    services: Services, caller: Caller, document: ImportDocument, trace_id: TraceId
) -> Answer:
    """Take over jobs that have ended in another system, each as a batch of its own, without jobs,
    that a door shows. They are not billed. Jobs that were imported before stay as they are; if one
    of the others is wrong, nothing is imported. Raise `InvalidValue` before anything is changed,
    `KeyReused` for a job that was imported otherwise.
    """
    users = await _users(services, caller, {job.user for job in document.jobs})
    errors = list(_wrong(document, users))
    if errors:
        raise InvalidValue("the jobs were not imported", errors=errors[:_SHOWN])
    n_new = 0
    if not document.check:
        for job in document.jobs:
            owner = replace(
                caller, user_id=users[job.user], user_name=job.user, role=UserRole.USER
            )
            n_new += await _import(services, owner, document.door, job, trace_id)
    return {"n_new": n_new, "n_known": 0 if document.check else len(document.jobs) - n_new}


def _wrong(document: ImportDocument, users: dict[str, int]) -> "list[FieldError]":
    errors, known = [], set[str]()
    for n, job in enumerate(document.jobs):
        if job.user not in users:
            message = f"the tenant has no user {job.user!r}"
            errors.append(FieldError(f"/jobs/{n}/user", message))
        if job.id in known or not job.id.isprintable():
            errors.append(FieldError(f"/jobs/{n}/id", "it is there twice, or cannot be shown"))
        if job.created_at > datetime.now(UTC):
            errors.append(FieldError(f"/jobs/{n}/created_at", "it is in the future"))
        elif not job.created_at <= job.ended_at <= datetime.now(UTC):
            message = "it is before created_at, or in the future"
            errors.append(FieldError(f"/jobs/{n}/ended_at", message))
        known.add(job.id)
    return errors


async def _users(services: Services, caller: Caller, names: set[str]) -> dict[str, int]:
    """Return the numbers of those of these users that there are."""
    found: dict[str, int] = {}
    after = 0
    while rows := await services.store.list_users(caller, after=after, limit=_PAGE):
        found.update((row["name"], row["user_id"]) for row in rows if row["name"] in names)
        after = rows[-1]["user_id"]
    return found


async def _import(
    services: Services, owner: Caller, door: str, job: ImportedJob, trace_id: str
) -> bool:
    origin = Origin(
        digest=hashlib.sha256(msgspec.json.encode(job, order="deterministic")).digest(),
        trace_id=trace_id,
        key=f"import/{door}/{job.id}",
        door=door,
        foreign_id=job.id,
        foreign_document=job.document,
        foreign_kind=job.kind,
        created_at=job.created_at,
        ended_at=job.ended_at,
    )
    _, is_new = await create_batch(services, owner, BatchDocument(name=job.name), origin)
    return is_new

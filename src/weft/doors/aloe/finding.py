"""Find jobs for a request: one by its id, or those of a list."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.services import Services
from weft.core.access.permissions import Permission
from weft.core.access.secret_variables import patterns_of
from weft.doors.aloe.archives import own_name
from weft.doors.aloe.documents import job_document
from weft.doors.aloe.refused import bad_request, not_found
from weft.doors.aloe.replies import base_of
from weft.doors.aloe.searching import Term, sort_key, states_of
from weft.doors.aloe.words import ID_CHARS_MAX, NAME
from weft.ports.store import Caller, Row

_NEWEST: Final = 2**62
_STEP: Final = 500


async def find(
    request: AnyRequest, *, hidden: bool = False, needs: Permission | None = None
) -> tuple[Caller, Row]:
    """Return the caller, and the job in the path. `hidden`: also a hidden one. Raise a 404 if
    there is none for them; `needs`: what they must be allowed, if the route does not say it.
    """
    job_id, caller = str(request.path_params["aloe_id"]), caller_of(request)
    if needs is not None:
        caller = replace(caller, needs=needs)
    found = None
    if len(job_id) <= ID_CHARS_MAX and job_id.isascii() and job_id.isprintable():
        store = services_of(request).store
        found = await store.find_door_job(caller, NAME, job_id, hidden=hidden)
    if found is None:
        raise not_found(job_id)
    return caller, found


async def archived_at(services: Services, caller: Caller, path: str) -> Row | None:
    """Return the newest of the caller's last jobs whose archive in weft's own store has a path."""
    newest = await services.store.list_door_jobs(
        caller, NAME, before=_NEWEST, states=None, hidden=False, limit=_STEP
    )
    return next((one for one in newest if own_name(one["document"], path) != path), None)


async def listed(
    request: AnyRequest,
    terms: list[Term],
    order: tuple[str, bool] | None,
    limit: int,
    offset: int,
) -> list[dict[str, Any]]:
    """Return documents of the caller's jobs that meet the terms, a page of them in an order; None:
    the newest first. Raise a 400 if too many jobs would be read for it.
    """
    if not limit:
        return []
    services, caller = services_of(request), caller_of(request)
    most, wanted = services.settings.query_scan_jobs_max, offset + limit
    states, before, n_read = states_of(terms), _NEWEST, 0
    hidden = any(term.field == "visible" for term in terms)
    found: list[dict[str, Any]] = []
    while order is not None or len(found) < wanted:
        step = _STEP if terms or order is not None else min(_STEP, wanted - len(found))
        rows = await services.store.list_door_jobs(
            caller, NAME, before=before, states=states, hidden=hidden, limit=step
        )
        documents = (document_of(request, one) for one in rows)
        found += [one for one in documents if all(term.holds(one) for term in terms)]
        if len(rows) < step:
            break
        before, n_read = int(rows[-1]["batch_id"]), n_read + len(rows)
        if n_read >= most:
            raise bad_request(
                f"more than {most} jobs would be read for this; search by status, or sort by "
                "created"
            )
    if order is not None:
        found.sort(key=sort_key(order[0]), reverse=order[1])
    return found[offset:wanted]


def document_of(request: AnyRequest, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a job as this caller sees it."""
    masks = patterns_of(services_of(request).settings.masked_env)
    return job_document(facts, base_of(request), masks)

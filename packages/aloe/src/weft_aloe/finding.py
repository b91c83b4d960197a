"""Find jobs for a request: one by its id, or those of a list."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from weft.api.http.requests import AnyRequest
from weft.api.services import Services
from weft.api.use_cases.read import limits_of, search_limits_of
from weft.core.access.rights import Permission
from weft.core.access.secret_variables import patterns_of
from weft.core.errors import QueryTooSlow
from weft.core.query.tree import EVERYTHING, all_of
from weft.ports.store import Caller, Row
from weft.ports.store.offers import DoorJobQuery
from weft_aloe import sql_terms
from weft_aloe.documents import job_document
from weft_aloe.replies import bad_request, base_of, not_found
from weft_aloe.searching import Term, name_of, sort_key
from weft_aloe.words import ID_CHARS_MAX, NAME

_STEP: Final = 500
_NARROWER: Final = "search by {}, too, by which few are found, and without sortBy".format(
    ", ".join(map(name_of, sql_terms.INDEXED))
)


async def find(
    request: AnyRequest, *, hidden: bool = False, needs: Permission | None = None
) -> tuple[Caller, Row]:
    """Return the caller, and the job in the path. `hidden`: also a hidden one. Raise a 404 if
    there is none for them; `needs`: what they must be allowed, if the route does not say it.
    """
    job_id, caller = str(request.path_params["aloe_id"]), request.caller
    if needs is not None:
        caller = replace(caller, needs=needs)
    found = None
    if len(job_id) <= ID_CHARS_MAX and job_id.isascii() and job_id.isprintable():
        store = request.services.store
        found = await store.find_door_job(caller, NAME, job_id, hidden=hidden)
    if found is None:
        raise not_found(job_id)
    return caller, found


async def archived_at(services: Services, caller: Caller, path: str) -> Row | None:
    """Return the newest of the caller's jobs whose archive in weft's own store has a path."""
    query, limits = sql_terms.archived_below(path), limits_of(services.settings)
    wanted = DoorJobQuery(door=NAME, query=query, limit=1, limits=limits)
    return next(iter(await services.store.list_door_jobs(caller, wanted)), None)


async def listed(
    request: AnyRequest, terms: list[Term], order: tuple[str, bool] | None, limit: int, offset: int
) -> Sequence[Row]:
    """Return those of the caller's jobs that meet the terms, a page of them in an order; None: the
    newest first. Raise a 400 if too many jobs would be read for it, or it takes too long.
    """
    try:
        return await _listed(request, terms, order, limit, offset) if limit else []
    except QueryTooSlow as error:
        raise bad_request(f"{error.message}: {error.detail} Narrow it: {_NARROWER}.") from error


async def _listed(
    request: AnyRequest, terms: list[Term], order: tuple[str, bool] | None, limit: int, offset: int
) -> Sequence[Row]:
    services, sieve = request.services, sql_terms.sieve_of(terms)
    key = None if order is None else sql_terms.order_in_sql(order[0])
    query = DoorJobQuery(
        door=NAME,
        query=all_of(sieve.nodes) if sieve.nodes else EVERYTHING,
        ended=sieve.ended,
        hidden=any(term.field == "visible" for term in terms),
        limit=limit,
        limits=(search_limits_of if terms or order else limits_of)(services.settings),
        **sieve.exact,
    )
    if sieve.rest or (order is not None and key is None):
        return await _sifted(request, query, sieve.rest, order, slice(offset, offset + limit))
    if order is not None:
        has_all = sql_terms.have_all(order[0])
        query = replace(query, sort_key=key, is_descending=order[1], has_all=has_all)
    return await services.store.list_door_jobs(request.caller, replace(query, offset=offset))


async def _sifted(
    request: AnyRequest,
    query: DoorJobQuery,
    terms: Sequence[Term],
    order: tuple[str, bool] | None,
    page: slice,
) -> Sequence[Row]:
    """Return a page of those whose documents meet the terms, of those that the query finds."""
    store, most = request.services.store, query.limits.scan_jobs_max
    query, n_read = replace(query, limit=_STEP), 0
    found: list[tuple[Row, dict[str, Any]]] = []
    until = time.monotonic() + query.limits.timeout_s
    while order is not None or len(found) < page.stop:
        rows = await store.list_door_jobs(request.caller, query)
        both = ((row, document_of(request, row)) for row in rows)
        found += [one for one in both if all(term.holds(one[1]) for term in terms)]
        if len(rows) < _STEP:
            break
        query, n_read = replace(query, before=int(rows[-1]["batch_id"])), n_read + len(rows)
        if n_read >= most or time.monotonic() > until:
            limit = f"{n_read} documents or {query.limits.timeout_s:g} s ({query.limits.setting})"
            raise bad_request(f"this takes more than {limit}; {_NARROWER}")
    if order is not None:
        key = sort_key(order[0])
        found.sort(key=lambda one: key(one[1]), reverse=order[1])
    return [one for one, _ in found[page]]


def document_of(request: AnyRequest, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a job as this caller sees it."""
    masks = patterns_of(request.services.settings.masked_env)
    return job_document(facts, base_of(request), masks)

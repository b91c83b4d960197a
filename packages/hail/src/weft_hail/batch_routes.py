"""Hail's routes of batches, of their updates and of their groups."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, delete, get, patch, post
from weft.api.use_cases import batches, groups, read
from weft.core.errors import UpdateNotFound
from weft.core.query import Subject
from weft.core.query.tree import Field, Operator, TextTerm
from weft.ports.store import Row
from weft.wire.documents.batches import CancelDocument
from weft_hail import submissions
from weft_hail.batch_documents import batch_document, group_document
from weft_hail.queries import Parser, parse_v1, parse_v2
from weft_hail.requests import (
    ADDED,
    CANCELLED,
    PAGE,
    READ,
    WRITTEN,
    Document,
    batch_of,
    last_of,
    number_of,
    origin_of,
    query_of,
    read_list,
    read_parts,
    token_in,
)

API: Final = "/api/v1alpha"
SECOND: Final = "/api/v2alpha"
_BATCH: Final = API + "/batches/{b:str}"
_UPDATE: Final = _BATCH + "/updates/{u:str}"


@post(f"{API}/batches/create", **WRITTEN)
async def create_hail_batch(request: AnyRequest) -> Response[bytes]:
    """Create a batch, and reserve the numbers of its first update."""
    return reply(await submissions.create_batch(request, await read_parts(request, ())))


@post(f"{API}/batches/create-fast", **WRITTEN)
async def create_hail_batch_fast(request: AnyRequest) -> Response[bytes]:
    """Create a batch with its jobs and groups."""
    parts = await read_parts(request, ("bunch", "job_groups"))
    return reply(await submissions.create_fast(request, parts))


@post(f"{_BATCH}/updates/create", **WRITTEN)
async def create_hail_update(request: AnyRequest) -> Response[bytes]:
    """Reserve the numbers of an update."""
    update = await submissions.create_update(
        request, batch_of(request), await read_parts(request, ())
    )
    return reply(submissions.reserved(update))


@post(f"{_BATCH}/update-fast", **WRITTEN)
async def update_hail_batch_fast(request: AnyRequest) -> Response[bytes]:
    """Add an update with its jobs and groups."""
    parts = await read_parts(request, ("bunch", "job_groups"))
    return reply(await submissions.update_fast(request, batch_of(request), parts))


@post(f"{_UPDATE}/job-groups/create", **ADDED)
async def add_hail_groups(request: AnyRequest) -> Response[bytes]:
    """Add a bunch of groups to an update."""
    update = await submissions.open_update(request, batch_of(request), number_of(request, "u"))
    await submissions.add_groups(request, update, await read_list(request, "job_groups"))
    return empty()


@post(f"{_UPDATE}/jobs/create", **ADDED)
async def add_hail_jobs(request: AnyRequest) -> Response[bytes]:
    """Add a bunch of jobs to an update."""
    update = await submissions.open_update(request, batch_of(request), number_of(request, "u"))
    await submissions.add_jobs(request, update, await read_list(request, "jobs"))
    return empty()


@patch(f"{_UPDATE}/commit", **WRITTEN)
async def commit_hail_update(request: AnyRequest) -> Response[bytes]:
    """Commit an update."""
    batch_id = batch_of(request)
    await submissions.own(request, batch_id)
    return reply(await submissions.commit(request, batch_id, number_of(request, "u")))


# Old clients add jobs to a batch without updates, and then close it.


@post(f"{_BATCH}/jobs/create", **ADDED)
async def add_hail_batch_jobs(request: AnyRequest) -> Response[bytes]:
    """Add a bunch of jobs to the first update of a batch."""
    update = await submissions.open_update(request, batch_of(request), submissions.FIRST)
    await submissions.add_jobs(request, update, await read_list(request, "jobs"))
    return empty()


@patch(f"{_BATCH}/close", **WRITTEN)
async def close_hail_batch(request: AnyRequest) -> Response[bytes]:
    """Commit the first update of a batch, if it has one."""
    batch_id = batch_of(request)
    await submissions.own(request, batch_id)
    with suppress(UpdateNotFound):
        await submissions.commit(request, batch_id, submissions.FIRST)
    return empty()


@get(_BATCH, **READ)
async def get_hail_batch(request: AnyRequest) -> Response[bytes]:
    """Get a batch."""
    row = await read.get_batch(request.services, request.caller, batch_of(request))
    (document,) = await _documents(request, [row])
    return reply(document)


@delete(_BATCH, **WRITTEN)
async def delete_hail_batch(request: AnyRequest) -> Response[bytes]:
    """Cancel a batch and delete it."""
    services, caller = request.services, request.caller
    await batches.delete_batch(services, caller, batch_of(request), origin_of(request))
    return empty()


@patch(f"{_BATCH}/cancel", **CANCELLED)
async def cancel_hail_batch(request: AnyRequest) -> Response[bytes]:
    """Cancel a batch, as older clients do."""
    await batches.cancel_batch(
        request.services, request.caller, batch_of(request), CancelDocument()
    )
    return empty()


@get(f"{API}/batches", **READ)
async def list_hail_batches(request: AnyRequest) -> Response[bytes]:
    """List batches by the first query language."""
    return await _list(request, parse_v1)


@get(f"{SECOND}/batches", **READ)
async def list_hail_batches_v2(request: AnyRequest) -> Response[bytes]:
    """List batches by the second query language."""
    return await _list(request, parse_v2)


async def _list(request: AnyRequest, parse: Parser) -> Response[bytes]:
    query, caller = query_of(request), request.caller
    text = query.get("q")
    node = parse(text, Subject.BATCHES)
    if text is None:
        node = TextTerm(Field.USER, Operator.EQ, caller.user_name)
    before = last_of(query, "last_batch_id")
    wanted = read.BatchList(limit=PAGE + 1, before=before, query=node)
    rows = await read.list_batches(request.services, caller, wanted)
    answer: Document = {"batches": await _documents(request, rows[:PAGE])}
    if len(rows) > PAGE:
        answer["last_batch_id"] = rows[PAGE - 1]["id"]
    return reply(answer)


async def _documents(request: AnyRequest, rows: Sequence[Row]) -> list[Document]:
    ids = [row["id"] for row in rows]
    keys = await read.list_keys(request.services, request.caller, ids) if ids else {}
    return [batch_document(row, token_in(keys.get(row["id"], ""))) for row in rows]


def empty() -> Response[bytes]:
    """Reply without a body."""
    return Response(b"", status_code=200, media_type="application/json")


_GROUPS: Final = API + "/batches/{b:str}/job-groups"
_GROUP: Final = _GROUPS + "/{g:str}"
_MOST: Final = 2_000_000_000
ROOT: Final = 0


@get(_GROUP, **READ)
async def get_hail_group(request: AnyRequest) -> Response[bytes]:
    """Get a job group."""
    row = await read.get_group(
        request.services, request.caller, batch_of(request), number_of(request, "g")
    )
    return reply(group_document(row))


@patch(f"{_GROUP}/cancel", **CANCELLED)
async def cancel_hail_group(request: AnyRequest) -> Response[bytes]:
    """Cancel a job group; group 0 is the batch."""
    await groups.cancel_group(
        request.services,
        request.caller,
        batch_of(request),
        number_of(request, "g"),
        CancelDocument(),
    )
    return empty()


@get(f"{_GROUP}/job-groups", **READ)
async def list_hail_groups_below(request: AnyRequest) -> Response[bytes]:
    """List the job groups directly below one."""
    return await _list_groups(request, number_of(request, "g"))


@get(_GROUPS, **READ)
async def list_hail_groups(request: AnyRequest) -> Response[bytes]:
    """List the job groups directly below the root."""
    return await _list_groups(request, ROOT)


async def _list_groups(request: AnyRequest, group_id: int) -> Response[bytes]:
    after = last_of(query_of(request), "last_job_group_id") or 0
    rows = await read.list_child_groups(
        request.services,
        request.caller,
        batch_of(request),
        group_id,
        after=min(after, _MOST),
        limit=PAGE + 1,
    )
    answer: Document = {"job_groups": [group_document(row) for row in rows[:PAGE]]}
    if len(rows) > PAGE:
        answer["last_job_group_id"] = rows[PAGE - 1]["group_id"]
    return reply(answer)

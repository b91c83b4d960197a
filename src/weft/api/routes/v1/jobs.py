"""`/v1/batches/{b}/jobs`: list, get, edit, children, parents, attempts, history, cancel, signal,
message, extend, hold, release.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final

from litestar import Response, get, patch, post

from weft.api.calls.path_ids import parse_group
from weft.api.http.job_lists import job_list_of
from weft.api.http.paging import INT_MAX, PAGE, cursor_of, kind_of, limit_of, page, page_until
from weft.api.http.parameters import Query
from weft.api.http.path_ids import batch_id_of, job_id_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import cancel, command, edit, hold, read, release, why
from weft.core.query.reach import JOB_ID_MAX
from weft.ports.store import Row
from weft.wire.answers.batches import (
    Attempt,
    HistoryEntry,
    Job,
    JobCancelled,
    JobDetail,
    JobHoldChanged,
    Plan,
    ReasonCount,
)
from weft.wire.documents.batches import CancelDocument, EditDocument, Empty
from weft.wire.documents.commands import (
    ExtendDocument,
    JobExtended,
    JobMessaged,
    JobSignalled,
    MessageDocument,
    SignalDocument,
)

ROOT: Final = 0
_LIST: Final = ("state", "q", "explain", "group", "after", "why", *PAGE)


@get("/v1/batches/{b:str}/jobs", opt={"page": Job, "explained": Plan, "query": _LIST})
async def list_jobs(request: AnyRequest) -> Response[bytes]:
    """List jobs in order of their numbers. `q`: only jobs that match this query; `group`: only
    jobs of this group; `state`, which may be repeated: only jobs in one of these states; `after`:
    only jobs with a larger number; `explain=true`: show how the query would run, do not run it;
    `why=true`: say why each job waits.
    """
    query = Query(request, _LIST)
    services, caller, batch_id = services_of(request), caller_of(request), batch_id_of(request)
    kind = kind_of("j", query.text("q"), query.text("group"), *query.many("state"))
    after = cursor_of(query, kind, most=INT_MAX) or query.integer(
        "after", default=0, least=0, most=JOB_ID_MAX
    )
    wanted = replace(job_list_of(query, services.settings), after=after or 0)
    if query.flag("explain"):
        return reply(await read.explain_jobs(services, caller, batch_id, wanted))
    rows = await read.list_jobs(services, caller, batch_id, wanted)
    if query.flag("why"):
        rows = await why.add_why(services, caller, batch_id, rows)
    is_first = not rows and not after
    warnings = await read.doubt_jobs(services, caller, batch_id, wanted) if is_first else ()
    return reply(page(rows, wanted.limit, kind, "job_id", warnings=warnings))


@get("/v1/batches/{b:str}/reasons", opt={"page": ReasonCount, "query": ("group", "cursor")})
async def count_reasons(request: AnyRequest) -> Response[bytes]:
    """Count the reasons for which jobs failed. A page counts the failed jobs up to some number:
    add the pages up. `group`: only jobs of this group.
    """
    query = Query(request, ("group", "cursor"))
    services, batch_id, group = services_of(request), batch_id_of(request), query.text("group")
    kind = kind_of("y", group)
    rows, last = await read.count_reasons(
        services,
        caller_of(request),
        batch_id,
        ROOT if group is None else parse_group(group, services.settings),
        after=cursor_of(query, kind, most=INT_MAX) or 0,
    )
    return reply(page_until(rows, kind, last))


@get("/v1/batches/{b:str}/jobs/{j:str}", opt={"answer": JobDetail})
async def get_job(request: AnyRequest) -> Response[bytes]:
    """Get one job with its spec, its first parents and its times."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    return reply(await read.get_job(services_of(request), caller_of(request), batch_id, job_id))


@patch("/v1/batches/{b:str}/jobs/{j:str}", opt={"answer": JobDetail, "body": EditDocument})
async def edit_job(request: AnyRequest) -> Response[bytes]:
    """Change the name, attributes and priority of a job by a JSON merge patch: null removes. The
    priority of an ended job cannot change; that of a running job applies to its next attempt.
    """
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    document = await read_document(request, EditDocument)
    return reply(
        await edit.edit_job(services_of(request), caller_of(request), batch_id, job_id, document)
    )


@get("/v1/batches/{b:str}/jobs/{j:str}/children", opt={"page": Job, "query": PAGE})
async def list_children(request: AnyRequest) -> Response[bytes]:
    """List the jobs that depend directly on a job, in order of their numbers."""
    return await _page_of(request, services_of(request).store.list_children, "d")


@get("/v1/batches/{b:str}/jobs/{j:str}/parents", opt={"page": Job, "query": PAGE})
async def list_parents(request: AnyRequest) -> Response[bytes]:
    """List the jobs that a job depends on directly, in order of their numbers."""
    return await _page_of(request, services_of(request).store.list_parents, "u")


async def _page_of(
    request: AnyRequest, list_jobs: Callable[..., Awaitable[Sequence[Row]]], kind: str
) -> Response[bytes]:
    """Reply with a page of the neighbours of a job."""
    query = Query(request, PAGE)
    limit = limit_of(query, services_of(request).settings)
    rows = await list_jobs(
        caller_of(request),
        batch_id_of(request),
        job_id_of(request),
        after=cursor_of(query, kind, most=INT_MAX) or 0,
        limit=limit,
    )
    return reply(page(rows, limit, kind, "job_id"))


@get("/v1/batches/{b:str}/jobs/{j:str}/attempts", opt={"page": Attempt})
async def list_attempts(request: AnyRequest) -> Response[bytes]:
    """List the attempts of a job, oldest first, including a running one."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    rows = await services_of(request).store.list_attempts(caller_of(request), batch_id, job_id)
    return reply({"items": rows, "cursor": None})


@get("/v1/batches/{b:str}/jobs/{j:str}/history", opt={"page": HistoryEntry})
async def job_history(request: AnyRequest) -> Response[bytes]:
    """List the dated changes of a job, oldest first."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    rows = await services_of(request).store.job_history(caller_of(request), batch_id, job_id)
    return reply({"items": rows, "cursor": None})


@post(
    "/v1/batches/{b:str}/jobs/{j:str}/cancel", opt={"answer": JobCancelled, "body": CancelDocument}
)
async def cancel_job(request: AnyRequest) -> Response[bytes]:
    """Cancel one job, also one that always runs."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    await read_document(request, CancelDocument)
    return reply(
        await cancel.cancel_job(services_of(request), caller_of(request), batch_id, job_id)
    )


@post(
    "/v1/batches/{b:str}/jobs/{j:str}/signal", opt={"answer": JobSignalled, "body": SignalDocument}
)
async def signal_job(request: AnyRequest) -> Response[bytes]:
    """Send a signal to the first process of a running job."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    document = await read_document(request, SignalDocument)
    return reply(
        await command.signal_job(
            services_of(request), caller_of(request), batch_id, job_id, document.signal
        )
    )


@post(
    "/v1/batches/{b:str}/jobs/{j:str}/message",
    opt={"answer": JobMessaged, "body": MessageDocument},
)
async def message_job(request: AnyRequest) -> Response[bytes]:
    """Send a text to a running job, which finds it in a new file in `$WEFT_MESSAGES`."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    document = await read_document(request, MessageDocument)
    return reply(
        await command.message_job(
            services_of(request), caller_of(request), batch_id, job_id, document.text
        )
    )


@post(
    "/v1/batches/{b:str}/jobs/{j:str}/extend", opt={"answer": JobExtended, "body": ExtendDocument}
)
async def extend_job(request: AnyRequest) -> Response[bytes]:
    """Extend the time limit of a job, of its running attempt and of those that follow."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    document = await read_document(request, ExtendDocument)
    return reply(
        await command.extend_job(
            services_of(request), caller_of(request), batch_id, job_id, by_s=document.by_s
        )
    )


@post("/v1/batches/{b:str}/jobs/{j:str}/hold", opt={"answer": JobHoldChanged, "body": Empty})
async def hold_job(request: AnyRequest) -> Response[bytes]:
    """Hold one job: it does not start until it is released."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    await read_document(request, Empty)
    return reply(await hold.hold_job(services_of(request), caller_of(request), batch_id, job_id))


@post("/v1/batches/{b:str}/jobs/{j:str}/release", opt={"answer": JobHoldChanged, "body": Empty})
async def release_job(request: AnyRequest) -> Response[bytes]:
    """Release one job; it waits on while a group of it is held."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    await read_document(request, Empty)
    return reply(
        await release.release_job(services_of(request), caller_of(request), batch_id, job_id)
    )


ROUTES = (
    list_jobs, count_reasons, get_job, edit_job, list_children, list_parents, list_attempts,
    job_history, cancel_job, signal_job, message_job, extend_job, hold_job, release_job,
)  # fmt: skip

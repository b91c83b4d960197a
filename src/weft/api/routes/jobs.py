"""`/v1/batches/{b}/jobs`: list, get, edit, attempts, history, cancel."""

from typing import Final

from litestar import Response, get, patch, post

from weft.api.edits import Edits
from weft.api.functions import shown_spec
from weft.api.inbox import Query, read_body, wrong_parameter
from weft.api.paging import PAGE, cursor_of, limit_of, page
from weft.api.reply import reply
from weft.api.routes.ids import batch_id_of, job_id_of
from weft.api.services import AnyRequest, caller_of, services_of
from weft.core.states import JobState
from weft.wire.documents import CancelDocument, EditDocument

_STATES: Final = {state.word: state for state in JobState}


@get("/v1/batches/{b:str}/jobs", opt={"query": ("state", *PAGE)})
async def list_jobs(request: AnyRequest) -> Response[bytes]:
    """List jobs in order of their numbers; `state`, which may be repeated: only those in one of
    these states.
    """
    query = Query(request, ("state", *PAGE))
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_jobs(
        caller_of(request),
        batch_id_of(request),
        after=cursor_of(query, "j") or 0,
        limit=limit,
        states=[_state(word) for word in query.many("state")],
    )
    return reply(page(rows, limit, "j", "job_id"))


def _state(word: str) -> JobState:
    if word not in _STATES:
        raise wrong_parameter("state", f"{word[:40]!r} is none of {', '.join(_STATES)}")
    return _STATES[word]


@get("/v1/batches/{b:str}/jobs/{j:str}")
async def get_job(request: AnyRequest) -> Response[bytes]:
    """Get one job with its spec, parents and times."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    job = await services_of(request).store.get_job(caller_of(request), batch_id, job_id)
    return reply({**job, "spec": shown_spec(job["spec"], job_id)})


@patch("/v1/batches/{b:str}/jobs/{j:str}", opt={"body": EditDocument})
async def edit_job(request: AnyRequest) -> Response[bytes]:
    """Change name and attributes of a job by a JSON merge patch: null removes."""
    Query(request, ())
    return reply(await Edits(request).edit_job(batch_id_of(request), job_id_of(request)))


@get("/v1/batches/{b:str}/jobs/{j:str}/attempts")
async def list_attempts(request: AnyRequest) -> Response[bytes]:
    """List the attempts of a job, oldest first, the live one included."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    rows = await services_of(request).store.list_attempts(caller_of(request), batch_id, job_id)
    return reply({"items": rows, "cursor": None})


@get("/v1/batches/{b:str}/jobs/{j:str}/history")
async def job_history(request: AnyRequest) -> Response[bytes]:
    """List the dated changes of a job, oldest first."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    rows = await services_of(request).store.job_history(caller_of(request), batch_id, job_id)
    return reply({"items": rows, "cursor": None})


@post("/v1/batches/{b:str}/jobs/{j:str}/cancel", opt={"body": CancelDocument})
async def cancel_job(request: AnyRequest) -> Response[bytes]:
    """Cancel one job, whether it always runs or not."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    (await read_body(request)).document(CancelDocument)
    store = services_of(request).store
    found = await store.cancel_jobs(caller_of(request), batch_id, [job_id])
    return reply({"batch_id": batch_id, "job_id": job_id, "result": found[job_id]})


ROUTES = (list_jobs, get_job, edit_job, list_attempts, job_history, cancel_job)

"""JobWeaver's routes, and what the api serves of this door."""

from typing import Any, Final
from uuid import uuid4

from weft.api.http.doors import ApiDoor, ForeignTrace
from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest, foreign_origin, idempotency_key
from weft.api.http.routing import Response, get, post
from weft.api.use_cases import read
from weft.core.access.rights import Right
from weft.core.errors import IdempotencyConflict
from weft.core.states import JobState
from weft.ports.store import ForeignJobs, ForeignOrder, Row
from weft.submission import submit
from weft_jobweaver import documents, requests
from weft_jobweaver.intake import NAME, take_in, travel_of

DEPTH_MAX: Final = 100_000
"""A page is refused if there are jobs on it, behind more rows than this."""
_HANDLERS: Final = {requests.Refused: requests.answer_refused}


def _options(right: Right | None) -> dict[str, Any]:
    return {"status_code": 200, "exception_handlers": _HANDLERS, "opt": {"right": right}}


READ: Final = _options(Right.READ)
OPEN: Final = _options(None)
"""They say no more than `/readyz`."""
SUBMITTED: Final = {**_options(Right.WRITE), "status_code": 202}


@post("/api/jobs", **SUBMITTED)
async def create_jobweaver_job(request: AnyRequest) -> Response[bytes]:
    """Submit a job."""
    asked, key = await requests.read_submission(request), idempotency_key(request)
    job_id = requests.new_id(request, key)
    origin = foreign_origin(request, asked.digest, key, foreign_id=job_id)
    request.scope["state"]["foreign_id"] = job_id
    travel = await travel_of(request.services, request.caller, job_id, origin.foreign_trace or "")
    document = documents.batch_of(asked.simulation, asked.retries_max, travel)
    try:
        _, is_new = await submit.create_batch(request.services, request.caller, document, origin)
    except IdempotencyConflict as error:
        message = "the Idempotency-Key was used for another job"
        raise requests.Refused(409, "DUPLICATE_JOB", message, job_id=job_id) from error
    trace = origin.foreign_trace if is_new else (await _find(request, job_id))["foreign_trace"]
    return reply({"jobId": job_id, "traceId": trace}, status=202)


@get("/api/jobs/{job_id:str}", **READ)
async def get_jobweaver_job(request: AnyRequest) -> Response[bytes]:
    """Get a job."""
    return reply(documents.job_document(await _find(request, requests.id_in_path(request))))


@get("/api/jobs", **READ)
async def list_jobweaver_jobs(request: AnyRequest) -> Response[bytes]:
    """List jobs, the newest first."""
    query = requests.query_of(request)
    page = requests.page_of(query)
    if query.get("type") not in {None, "", documents.SIMULATION}:
        raise requests.bad_request(f"type: expected {documents.SIMULATION}")
    found = await _list(request, page)
    return reply(
        {
            "jobs": [documents.job_document(one) for one in found["jobs"]],
            "page": page.number,
            "size": page.size,
            "totalElements": found["total"],
            "totalPages": -(-found["total"] // page.size),
        }
    )


@get("/internal/jobs/{job_id:str}/status", **READ)
async def get_jobweaver_status(request: AnyRequest) -> Response[bytes]:
    """Get the state of a job."""
    return reply(documents.status_document(await _find(request, requests.id_in_path(request))))


@get("/internal/jobs", **READ)
async def list_jobweaver_states(request: AnyRequest) -> Response[bytes]:
    """List states of jobs, those that changed last first."""
    query = requests.query_of(request)
    page, status, order = (
        requests.page_of(query),
        query.get("status") or None,
        requests.order_of(query),
    )
    if status is not None and status not in documents.STATES:
        raise requests.bad_request(f"status: expected one of {', '.join(documents.STATES)}")
    found = await _list(request, page, states=documents.STATES.get(status or ""), order=order)
    return reply(
        _paged([documents.status_document(one) for one in found["jobs"]], found["total"], page)
    )


@get("/internal/executions/{job_id:str}", **READ)
async def list_jobweaver_executions(request: AnyRequest) -> Response[bytes]:
    """List the executions of a job, the newest first."""
    job_id, page = requests.id_in_path(request), requests.page_of(requests.query_of(request))
    services, caller = request.services, request.caller
    first = page.number * page.size
    try:
        job = await _find(request, job_id)
    except requests.Refused:
        runs = await services.store.list_topic_runs(
            caller, job_id, first_row=first, limit=page.size
        )
        return reply(_paged([*map(documents.run_document, runs["runs"])], runs["total"], page))
    attempts = [*await read.list_attempts(services, caller, job["batch_id"], 1)]
    attempts = [attempt for attempt in reversed(attempts) if documents.is_execution(attempt)]
    shown = [
        documents.execution_document(job, attempt)
        for attempt in attempts[first : first + page.size]
    ]
    return reply(_paged(shown, len(attempts), page))


@get(requests.HEALTH, **OPEN)
async def get_jobweaver_health(request: AnyRequest) -> Response[bytes]:
    """Tell whether the database answers."""
    await request.services.store.ready()
    return reply({"status": "UP"})


@get("/actuator/info", **OPEN)
async def get_jobweaver_info() -> Response[bytes]:
    """Tell nothing."""
    return reply({})


async def _find(request: AnyRequest, job_id: str) -> Row:
    found = await _list(request, requests.Page(0, 1), foreign_id=job_id)
    if not found["jobs"]:
        raise requests.not_found(job_id)
    row: Row = found["jobs"][0]
    return row


async def _list(
    request: AnyRequest,
    page: requests.Page,
    *,
    foreign_id: str | None = None,
    states: tuple[JobState, ...] | None = None,
    order: ForeignOrder = ForeignOrder.CREATED,
) -> Row:
    first, limit = page.number * page.size, page.size
    if is_deep := first > DEPTH_MAX:  # is it beyond the end?
        first, limit = 0, 1
    wanted = ForeignJobs(
        door=NAME, foreign_id=foreign_id, states=states, order=order, first_row=first, limit=limit
    )
    foreign_jobs = await read.list_foreign_jobs(request.services, request.caller, wanted)
    if is_deep and foreign_jobs["total"] > page.number * page.size:
        raise requests.bad_request(f"page: expected one of the first {DEPTH_MAX} rows")
    return {**foreign_jobs, "jobs": []} if is_deep else foreign_jobs


def _paged(content: list[dict[str, Any]], total: int, page: requests.Page) -> dict[str, Any]:
    counts = {
        "size": page.size,
        "number": page.number,
        "totalElements": total,
        "totalPages": -(-total // page.size),
    }
    return {"content": content, "page": counts}


SERVED: Final = ApiDoor(
    name=NAME,
    routes=(
        create_jobweaver_job,
        get_jobweaver_job,
        list_jobweaver_jobs,
        get_jobweaver_status,
        list_jobweaver_states,
        list_jobweaver_executions,
        get_jobweaver_health,
        get_jobweaver_info,
    ),
    paths=("/api", "/internal", "/actuator"),
    refuse=requests.refuse,
    intake=take_in,
    trace=ForeignTrace(header="x-trace-id", new=lambda: str(uuid4())),
)

"""`/v1/batches/{b}/jobs`: list, get, edit, attempts, history, cancel, hold, release."""

from collections.abc import Sequence
from typing import Final

from litestar import Response, get, patch, post

from weft.api.http.paging import PAGE, cursor_of, kind_of, limit_of, page
from weft.api.http.path_ids import batch_id_of, job_id_of, parse_group
from weft.api.http.queries import QUERY, limits_of, query_of
from weft.api.http.replies import reply
from weft.api.http.requests import Query, read_body, wrong_parameter
from weft.api.services import AnyRequest, caller_of, services_of
from weft.api.translation.functions import shown_spec
from weft.api.use_cases.edit import Edits
from weft.core.query import EVERYTHING, Node, Subject, all_of
from weft.core.query.reach import JOB_ID_MAX
from weft.core.query.tree import Operator, StateTerm, any_of
from weft.core.states import JobState
from weft.ports.store import JobQuery
from weft.wire.answers import (
    Attempt,
    HistoryEntry,
    Job,
    JobCancelled,
    JobDetail,
    JobHoldChanged,
    Plan,
)
from weft.wire.documents import CancelDocument, EditDocument, Empty

_STATES: Final = {state.word: state for state in JobState}


_LIST: Final = ("state", *QUERY, "group", "after", *PAGE)


@get("/v1/batches/{b:str}/jobs", opt={"page": Job, "explained": Plan, "query": _LIST})
async def list_jobs(request: AnyRequest) -> Response[bytes]:
    """List jobs in order of their numbers; `q`: those that a query chooses; `group`: of this
    group; `state`, which may be repeated: only those in one of these states; `after`: from the
    number above this one on; `explain`: how the query would be run.
    """
    query = Query(request, _LIST)
    services, caller, batch_id = services_of(request), caller_of(request), batch_id_of(request)
    store, limit = services.store, limit_of(query, services.settings)
    kind = kind_of("j", query.text("q"), query.text("group"), *query.many("state"))
    after = cursor_of(query, kind) or query.integer("after", default=0, least=0, most=JOB_ID_MAX)
    states = [_state(word) for word in query.many("state")]
    node = query_of(query, Subject.JOBS, services.settings)
    group = query.text("group")
    explain = query.flag("explain")
    if node is None and group is None and not explain:
        rows = await store.list_jobs(
            caller, batch_id, after=after or 0, limit=limit, states=states
        )
        return reply(page(rows, limit, kind, "job_id"))
    wanted = JobQuery(
        query=all_of((node or EVERYTHING, _in_states(states))),
        group=None if group is None else parse_group(group, services.settings),
        after=after or 0,
        limit=limit,
        limits=limits_of(services.settings),
    )
    if explain:
        return reply(await store.explain_jobs(caller, batch_id, wanted))
    rows = await store.query_jobs(caller, batch_id, wanted)
    return reply(page(rows, limit, kind, "job_id"))


def _in_states(states: Sequence[JobState]) -> Node:
    if not states:
        return EVERYTHING
    return any_of(tuple(StateTerm(Operator.EQ, state.word) for state in states))


def _state(word: str) -> JobState:
    if word not in _STATES:
        raise wrong_parameter("state", f"{word[:40]!r} is none of {', '.join(_STATES)}")
    return _STATES[word]


@get("/v1/batches/{b:str}/jobs/{j:str}", opt={"answer": JobDetail})
async def get_job(request: AnyRequest) -> Response[bytes]:
    """Get one job with its spec, parents and times."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    job = await services_of(request).store.get_job(caller_of(request), batch_id, job_id)
    return reply({**job, "spec": shown_spec(job["spec"], job_id)})


@patch("/v1/batches/{b:str}/jobs/{j:str}", opt={"answer": JobDetail, "body": EditDocument})
async def edit_job(request: AnyRequest) -> Response[bytes]:
    """Change name, attributes and priority of a job by a JSON merge patch: null removes. The
    priority only of one that has not ended; a running one has it for its next attempt.
    """
    Query(request, ())
    return reply(await Edits(request).edit_job(batch_id_of(request), job_id_of(request)))


@get("/v1/batches/{b:str}/jobs/{j:str}/attempts", opt={"page": Attempt})
async def list_attempts(request: AnyRequest) -> Response[bytes]:
    """List the attempts of a job, oldest first, the live one included."""
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
    """Cancel one job, whether it always runs or not."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    (await read_body(request)).document(CancelDocument)
    store = services_of(request).store
    found = await store.cancel_jobs(caller_of(request), batch_id, [job_id])
    return reply({"batch_id": batch_id, "job_id": job_id, "result": found[job_id]})


@post("/v1/batches/{b:str}/jobs/{j:str}/hold", opt={"answer": JobHoldChanged, "body": Empty})
async def hold_job(request: AnyRequest) -> Response[bytes]:
    """Hold one job: it does not start until it is released."""
    return await _change_hold(request, held=True)


@post("/v1/batches/{b:str}/jobs/{j:str}/release", opt={"answer": JobHoldChanged, "body": Empty})
async def release_job(request: AnyRequest) -> Response[bytes]:
    """Release one job; it waits on while a group of it is held."""
    return await _change_hold(request, held=False)


async def _change_hold(request: AnyRequest, *, held: bool) -> Response[bytes]:
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    (await read_body(request)).document(Empty)
    store = services_of(request).store
    change = store.hold_jobs if held else store.release_jobs
    found = await change(caller_of(request), batch_id, [job_id])
    return reply({"batch_id": batch_id, "job_id": job_id, "result": found[job_id]})


ROUTES = (
    list_jobs, get_job, edit_job, list_attempts, job_history, cancel_job, hold_job, release_job,
)  # fmt: skip

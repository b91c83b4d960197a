"""Read batches, groups and jobs, one or many."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from weft.api.calls.call import Cursor, call
from weft.api.calls.path_ids import BatchId, GroupId, JobId
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.access.secret_variables import patterns_of
from weft.core.alike import alike
from weft.core.batch_order import BatchOrder, BatchPlace
from weft.core.bounds import INT_MAX
from weft.core.errors import QueryTooWide
from weft.core.query import EVERYTHING, Node, Subject, all_of, parse_query
from weft.core.query.terms import attribute_keys, doubt_of
from weft.core.query.tree import AttributeTerm, Field, Operator, StateTerm, TextTerm, any_of
from weft.core.states import JobState
from weft.ports.store import BatchQuery, Caller, ForeignJobs, JobEntry, JobQuery, QueryLimits, Row
from weft.settings import Settings
from weft.submission.services import Answer
from weft.submission.translation.functions import shown_spec
from weft.wire.answers.attempts import Attempt
from weft.wire.answers.batches import Batch, Change
from weft.wire.answers.groups import Group
from weft.wire.answers.jobs import HistoryEntry, Job, JobDetail

DOUBTED_MAX: Final = 5
"""Keys of a query that found nothing that are looked for."""

_JOB: Final = "/v1/batches/{b}/jobs/{j}"
_ROOT: Final = 0


@dataclass(frozen=True, kw_only=True)
class BatchList:
    """Which batches to list, newest first, or in another order."""

    limit: int
    before: int | None = None
    """Only numbers below this one."""
    order: BatchOrder | None = None
    """Another order, for `page_of_batches`."""
    after: BatchPlace | None = None
    """Only those after this place of the order."""
    query: str | Node | None = None
    """As text, or parsed by a door that has a language of its own."""
    name: str | None = None
    """Only batches of exactly this name."""
    hidden: bool = False
    """Also hidden ones."""


@dataclass(frozen=True, kw_only=True)
class JobList:
    """Which jobs of a batch to list, in order of their numbers."""

    limit: int
    after: int = 0
    """Only numbers above this one."""
    query: str | Node | None = None
    """As text, or parsed by a door that has a language of its own."""
    group: int | str | None = None
    states: Sequence[JobState] = ()
    """None: in any state."""


@call("GET /v1/batches/{b}", Right.READ, Batch, public=False)
async def get_batch(services: Services, caller: Caller, batch_id: BatchId) -> Row:
    """Return the state, counts and cost of a batch. Raise `BatchNotFound`."""
    return await services.store.get_batch(caller, batch_id)


async def list_batches(services: Services, caller: Caller, wanted: BatchList) -> Sequence[Row]:
    """Return batches, newest first."""
    if wanted.query is None:
        return await services.store.list_batches(
            caller,
            before=wanted.before,
            limit=wanted.limit,
            name=wanted.name,
            hidden=wanted.hidden,
        )
    return await services.store.query_batches(caller, _batch_query(services.settings, wanted))


async def page_of_batches(
    services: Services, caller: Caller, wanted: BatchList
) -> tuple[Sequence[Row], BatchPlace | None]:
    """Return batches in any order, and the place after which the next page begins, or None."""
    if wanted.order is not None:
        return await services.store.sort_batches(caller, _batch_query(services.settings, wanted))
    rows = await list_batches(services, caller, wanted)
    if len(rows) < wanted.limit:
        return rows, None
    last = int(rows[-1]["id"])
    return rows, BatchPlace(last, last)


async def explain_batches(services: Services, caller: Caller, wanted: BatchList) -> Row:
    """Return how the list would be read."""
    return await services.store.explain_batches(caller, _batch_query(services.settings, wanted))


@call(
    "GET /v1/batches/{b}/groups",
    Right.READ,
    page=Group,
    cursor=Cursor("g", "group_id", INT_MAX),
    public=False,
)
async def list_groups(
    services: Services, caller: Caller, batch_id: BatchId, *, after: int | None, limit: int
) -> Sequence[Row]:
    """Return the groups of a batch in order of their numbers, beginning with the root."""
    first = -1 if after is None else after
    return await services.store.list_groups(caller, batch_id, after=first, limit=limit)


@call("GET /v1/batches/{b}/groups/{g}", Right.READ, Group, public=False)
async def get_group(services: Services, caller: Caller, batch_id: BatchId, group: GroupId) -> Row:
    """Return the state, counts and cost of a group. Raise `GroupNotFound`."""
    return await services.store.get_group(caller, batch_id, group)


async def list_child_groups(
    services: Services, caller: Caller, batch_id: int, group_id: int, *, after: int, limit: int
) -> Sequence[Row]:
    """Return the groups directly below a group, in order of their numbers above `after`."""
    return await services.store.list_child_groups(
        caller, batch_id, group_id, after=after, limit=limit
    )


async def list_keys(
    services: Services, caller: Caller, batch_ids: Sequence[int]
) -> Mapping[int, str]:
    """Return the idempotency keys with which batches were created, of those that have one."""
    return await services.store.list_batch_keys(caller, batch_ids)


async def list_foreign_jobs(services: Services, caller: Caller, jobs: ForeignJobs) -> Row:
    """Return jobs that came through a door with ids of its own; see the store."""
    return await services.store.list_foreign_jobs(caller, jobs)


@call(f"GET {_JOB}/attempts", Right.READ, page=Attempt, public=False)
async def list_attempts(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId
) -> Sequence[Row]:
    """Return the attempts of a job, oldest first, those that run, or were lost, included."""
    return await services.store.list_attempts(caller, batch_id, job_id)


async def find_group_id(
    services: Services, caller: Caller, batch_id: int, group: int | str
) -> int:
    """Return the number of a group that is named by its number, path or name."""
    if isinstance(group, int):
        return group
    return int((await services.store.get_group(caller, batch_id, group))["group_id"])


@call(f"GET {_JOB}/history", Right.READ, page=HistoryEntry, public=False)
async def job_history(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId
) -> Sequence[Row]:
    """Return the dated changes of a job, oldest first."""
    return await services.store.job_history(caller, batch_id, job_id)


@call(
    f"GET {_JOB}/children",
    Right.READ,
    page=Job,
    cursor=Cursor("d", "job_id", INT_MAX),
    public=False,
)
async def list_children(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, *, after: int, limit: int
) -> Sequence[Row]:
    """Return the jobs that depend directly on a job, in order of their numbers."""
    store = services.store
    return await store.list_children(caller, batch_id, job_id, after=after, limit=limit)


@call(
    f"GET {_JOB}/parents",
    Right.READ,
    page=Job,
    cursor=Cursor("u", "job_id", INT_MAX),
    public=False,
)
async def list_parents(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, *, after: int, limit: int
) -> Sequence[Row]:
    """Return the jobs that a job depends on directly, in order of their numbers."""
    store = services.store
    return await store.list_parents(caller, batch_id, job_id, after=after, limit=limit)


@call(
    "GET /v1/batches/{b}/history", Right.READ, page=Change, cursor=Cursor("c", "id"), public=False
)
async def batch_history(
    services: Services, caller: Caller, batch_id: BatchId, *, before: int | None, limit: int
) -> Sequence[Row]:
    """Return what people changed of a batch, newest first."""
    return await group_history(services, caller, batch_id, _ROOT, before=before, limit=limit)


@call(
    "GET /v1/batches/{b}/groups/{g}/history",
    Right.READ,
    page=Change,
    cursor=Cursor("c", "id"),
    public=False,
)
async def group_history(
    services: Services,
    caller: Caller,
    batch_id: BatchId,
    group: GroupId,
    *,
    before: int | None,
    limit: int,
) -> Sequence[Row]:
    """Return what people changed of a group, newest first; group 0 is the batch."""
    group_id = await find_group_id(services, caller, batch_id, group)
    return await services.store.group_history(
        caller, batch_id, group_id, before=before, limit=limit
    )


@call(f"GET {_JOB}", Right.READ, JobDetail, public=False)
async def get_job(services: Services, caller: Caller, batch_id: BatchId, job_id: JobId) -> Answer:
    """Return one job with its `spec`, its first `parents`, of which there are `n_parents`, and its
    `times`; `n_parents` null: more than 1,000. Raise `JobNotFound`.
    """
    job = await services.store.get_job(caller, batch_id, job_id)
    masks = patterns_of(services.settings.masked_env)
    return {**job, "spec": shown_spec(job["spec"], job_id, masks)}


async def get_foreign_job(
    services: Services, caller: Caller, batch_id: int, job_id: int
) -> tuple[Row, bytes | None]:
    """Return a job, with its spec as it is stored, and the document in which a door received it;
    None: it did not come through a door. What the owner masks is for the door to mask.
    """
    job = await services.store.get_job(caller, batch_id, job_id)
    return job, job["spec"].original if job["spec"] is not None else None


async def list_jobs(
    services: Services, caller: Caller, batch_id: int, wanted: JobList
) -> Sequence[Row]:
    """Return jobs in order of their numbers."""
    if wanted.query is None and wanted.group is None:
        return await services.store.list_jobs(
            caller, batch_id, after=wanted.after, limit=wanted.limit, states=wanted.states
        )
    query = _job_query(services.settings, wanted)
    return await services.store.query_jobs(caller, batch_id, query)


async def list_job_entries(
    services: Services, caller: Caller, batch_id: int, wanted: JobList
) -> Sequence[JobEntry]:
    """Return what short lists show of jobs, in order of their numbers; see the store."""
    if wanted.query is None and wanted.group is None:
        return await services.store.list_job_entries(
            caller, batch_id, after=wanted.after, limit=wanted.limit
        )
    query = _job_query(services.settings, wanted)
    return await services.store.query_job_entries(caller, batch_id, query)


async def count_reasons(
    services: Services, caller: Caller, batch_id: int, group: int | str, *, after: int
) -> tuple[Sequence[Row], int | None]:
    """Return why jobs of a group failed, with counts, as far as one request goes, and the job
    after which the next one goes on.
    """
    group_id = await find_group_id(services, caller, batch_id, group)
    limit = services.settings.reasons_attempts_max
    return await services.store.count_reasons(caller, batch_id, group_id, after=after, limit=limit)


async def explain_jobs(services: Services, caller: Caller, batch_id: int, wanted: JobList) -> Row:
    """Return how the list would be read."""
    query = _job_query(services.settings, wanted)
    return await services.store.explain_jobs(caller, batch_id, query)


async def doubt_jobs(
    services: Services, caller: Caller, batch_id: int, wanted: JobList
) -> Sequence[str]:
    """Return a warning for each key of a query that no job has as an attribute."""

    async def is_there(key: str) -> bool:
        query = _job_query(services.settings, JobList(limit=1, group=wanted.group))
        query = replace(query, query=_has_key(key))
        return bool(await services.store.query_jobs(caller, batch_id, query))

    return await _doubts(services.settings, wanted.query, Subject.JOBS, is_there)


async def doubt_batches(services: Services, caller: Caller, wanted: BatchList) -> Sequence[str]:
    """Return a warning for each key of a query that no batch has as an attribute."""

    async def is_there(key: str) -> bool:
        query = replace(_batch_query(services.settings, BatchList(limit=1)), query=_has_key(key))
        return bool(await services.store.query_batches(caller, query))

    return await _doubts(services.settings, wanted.query, Subject.BATCHES, is_there)


async def _doubts(
    settings: Settings,
    text: str | Node | None,
    subject: Subject,
    is_there: Callable[[str], Awaitable[bool]],
) -> Sequence[str]:
    found: list[str] = []
    for key in attribute_keys(parse(text, subject, settings))[:DOUBTED_MAX]:
        try:
            if not await is_there(key):
                found.append(doubt_of(key, subject))
        except QueryTooWide:
            return found  # asking would cost more than the query
    return found


def _has_key(key: str) -> Node:
    return AttributeTerm(key, Operator.CONTAINS, "")


def parse(text: str | Node | None, subject: Subject, settings: Settings) -> Node:
    """Return the query in this text; None: everything. Raise `BadQuery`."""
    if text is None:
        return EVERYTHING
    if not isinstance(text, str):
        return text
    return parse_query(text, subject, chars_max=settings.query_chars_max)


def _batch_query(settings: Settings, wanted: BatchList) -> BatchQuery:
    named = TextTerm(Field.NAME, Operator.EQ, wanted.name) if wanted.name is not None else None
    query = all_of((parse(wanted.query, Subject.BATCHES, settings), named or EVERYTHING))
    return alike(BatchQuery, wanted, query=query, limits=limits_of(settings))


def _job_query(settings: Settings, wanted: JobList) -> JobQuery:
    in_states = any_of(tuple(StateTerm(Operator.EQ, state.word) for state in wanted.states))
    asked = parse(wanted.query, Subject.JOBS, settings)
    query = all_of((asked, in_states if wanted.states else EVERYTHING))
    return alike(JobQuery, wanted, query=query, limits=limits_of(settings))


def limits_of(settings: Settings) -> QueryLimits:
    """Return how much a query may cost."""
    return QueryLimits(settings.query_timeout_s, settings.query_scan_jobs_max)


def search_limits_of(settings: Settings) -> QueryLimits:
    """Return how much a search through a door may cost: not all that it names has an index."""
    limits, name = limits_of(settings), "door_search_timeout_s"
    return replace(limits, timeout_s=settings.door_search_timeout_s, setting=name)

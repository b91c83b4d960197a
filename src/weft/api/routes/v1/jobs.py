"""`/v1/batches/{b}/jobs`: list, get, edit, children, parents, attempts, history, cancel, signal,
message, extend, hold, release.
"""

from dataclasses import replace
from typing import Final

from weft.api.calls.path_ids import parse_group
from weft.api.http.paging import INT_MAX, PAGE, cursor_of, job_list_of, kind_of, page, page_until
from weft.api.http.parameters import batch_id_of
from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, get
from weft.api.use_cases import read, why
from weft.core.access.rights import Right
from weft.core.query.reach import JOB_ID_MAX
from weft.wire.answers.batches import Job, Plan, ReasonCount

ROOT: Final = 0
_LIST: Final = ("state", "q", "explain", "group", "after", "why", *PAGE)


@get("/v1/batches/{b:str}/jobs", Right.READ, opt={"page": Job, "explained": Plan, "query": _LIST})
async def list_jobs(request: AnyRequest) -> Response[bytes]:
    """List jobs in order of their numbers. `q`: only jobs that match this query; `group`: only
    jobs of this group; `state`, which may be repeated: only jobs in one of these states; `after`:
    only jobs with a larger number; `explain=true`: show how the query would run, do not run it;
    `why=true`: say why each job waits.
    """
    query = request.query
    services, caller, batch_id = request.services, request.caller, batch_id_of(request)
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


@get(
    "/v1/batches/{b:str}/reasons",
    Right.READ,
    opt={"page": ReasonCount, "query": ("group", "cursor")},
)
async def count_reasons(request: AnyRequest) -> Response[bytes]:
    """Count the reasons for which jobs failed. A page counts the failed jobs up to some number:
    add the pages up. `group`: only jobs of this group.
    """
    query = request.query
    services, batch_id, group = request.services, batch_id_of(request), query.text("group")
    kind = kind_of("y", group)
    rows, last = await read.count_reasons(
        services,
        request.caller,
        batch_id,
        ROOT if group is None else parse_group(group, services.settings),
        after=cursor_of(query, kind, most=INT_MAX) or 0,
    )
    return reply(page_until(rows, kind, last))

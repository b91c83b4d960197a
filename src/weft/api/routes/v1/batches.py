"""`/v1/batches`: list them; the groups, jobs and graph of one, and parts of its large arguments.

A group is named by its number or by its path, with `/` written %2F; a set also by its name.
"""

from dataclasses import replace
from typing import Final

import msgspec

from weft.api.calls.path_ids import parse_group
from weft.api.http.paging import (
    INT_MAX,
    ORDER,
    PAGE,
    BatchPage,
    cursor_of,
    job_list_of,
    kind_of,
    limit_of,
    page,
    page_until,
)
from weft.api.http.parameters import batch_id_of, digest_of, part_of, wrong_parameter
from weft.api.http.problem_documents import created, reply
from weft.api.http.requests import AnyRequest, read_bytes, read_submission
from weft.api.http.routing import Response, get, post, put
from weft.api.use_cases import groups, pictures, read, sets, why
from weft.core.access.rights import Right
from weft.core.pictures.graph import Graph
from weft.core.query.reach import JOB_ID_MAX
from weft.submission import payloads
from weft.wire.answers.batches import Batch
from weft.wire.answers.groups import Group
from weft.wire.answers.jobs import Job, ReasonCount
from weft.wire.answers.operations import Operation
from weft.wire.answers.queries import Plan
from weft.wire.answers.updates import PayloadPart
from weft.wire.documents.groups import GroupDocument
from weft.wire.documents.sets import QuerySetDocument
from weft.wire.payload import PART_BYTES

_LIST: Final = ("name", "q", "hidden", *ORDER, "explain", *PAGE)


@get("/v1/batches", Right.READ, opt={"page": Batch, "explained": Plan, "query": _LIST})
async def list_batches(request: AnyRequest) -> Response[bytes]:
    """List batches, newest first, or as `sort` says. `q`: only batches that match this query;
    `name`: only batches of exactly this name; `hidden=true`: also hidden batches; `explain=true`:
    show how the query would run instead of running it.
    """
    query = request.query
    services, caller = request.services, request.caller
    asked = BatchPage(query, query.text("q"), query.text("name"), query.text("hidden"))
    wanted = read.BatchList(
        limit=limit_of(query, services.settings),
        before=asked.before,
        order=asked.order,
        after=asked.after,
        query=query.text("q"),
        name=query.text("name"),
        hidden=query.flag("hidden"),
    )
    if query.flag("explain"):
        return reply(await read.explain_batches(services, caller, wanted))
    rows, last = await read.page_of_batches(services, caller, wanted)
    found = asked.document(rows, last)
    if asked.is_first and not rows:
        warnings = await read.doubt_batches(services, caller, wanted)
        found |= {"warnings": warnings} if warnings else {}
    return reply(found)


@post(
    "/v1/batches/{b:str}/groups",
    Right.WRITE,
    opt={
        "answer": Group,
        "accepted": Operation,
        "body": GroupDocument,
        "query": ("q", "group"),
        "creates": True,
    },
)
async def create_group(request: AnyRequest) -> Response[bytes]:
    """Create a group of the tree, with a path, or a set, with a name. With `q` the set is filled
    with the existing jobs that match, of `group` if given: the reply is 202 and the operation that
    fills it.
    """
    query = request.query
    services, caller, batch_id = request.services, request.caller, batch_id_of(request)
    text, within = query.text("q"), query.text("group")
    if text is None:
        document, origin = await read_submission(request, GroupDocument)
        answer, is_new = await groups.create_group(services, caller, batch_id, document, origin)
        return created(answer, is_new=is_new)
    set_document, origin = await read_submission(request, QuerySetDocument, text, within)
    operation = await sets.fill_set_by_query(
        services,
        caller,
        batch_id,
        set_document,
        origin,
        query=text,
        within=None if within is None else parse_group(within, services.settings),
    )
    return reply(operation, 202)


_GRAPH: Final = ("group", "level", "apart", "limit", "cursor")


@get("/v1/batches/{b:str}/graph", Right.READ, opt={"answer": Graph, "query": _GRAPH})
async def get_graph(request: AnyRequest) -> Response[bytes]:
    """Get the dependencies within a batch as nodes and edges. `group`: those within this group,
    otherwise within the batch; `level`: `groups`, those directly below it, or `jobs`; `auto`:
    groups if there are some; `apart=true`: do not draw twelve or more jobs with the same parents
    and the same children as one node. A reply has at most 1,000 nodes, and looks at 5,000
    dependencies of jobs; of groups it samples 2,000 if there are more (`sampled`).
    """
    query = request.query
    services, group = request.services, query.text("group")
    level = query.choice("level", ("auto", "groups", "jobs"))
    kind = kind_of("n", group, level)
    wanted = pictures.GraphPage(
        group=pictures.ROOT if group is None else parse_group(group, services.settings),
        level="jobs" if level == "jobs" else "groups" if level == "groups" else None,
        apart=query.flag("apart"),
        limit=query.integer("limit", default=None, least=1, most=pictures.NODES_MAX)
        or pictures.NODES_MAX,
        after=cursor_of(query, kind, most=INT_MAX) or 0,
    )
    graph = await pictures.get_graph(services, request.caller, batch_id_of(request), wanted)
    cursor = page_until([], kind, graph.next_after)["cursor"]
    return reply(msgspec.structs.replace(graph.graph, cursor=cursor))


BYTES: Final = "application/octet-stream"


@put(
    "/v1/batches/{b:str}/payloads/{s:str}/{n:str}",
    Right.WRITE,
    opt={
        "unrecorded": True,
        "answer": PayloadPart,
        "reads": BYTES,
        "query": ("bytes",),
        "refuses": (408, 409, 413),
    },
)
async def add_payload_part(request: AnyRequest) -> Response[bytes]:
    """Store a part of a payload, the large arguments of a function, for jobs that are submitted
    later. A repeat does nothing.
    """
    query = request.query
    batch_id, digest, part = batch_id_of(request), digest_of(request), part_of(request)
    n_bytes = query.integer("bytes", default=None, least=1, most=payloads.BYTES_MAX)
    if n_bytes is None:
        raise wrong_parameter("bytes", "it is missing; it says how long the whole payload is")
    services = request.services
    payloads.check_size(services, n_bytes)
    body = await read_bytes(request, PART_BYTES)
    answer = await payloads.add_part(
        services, request.caller, batch_id, digest, part, body, n_bytes=n_bytes
    )
    return reply(answer)


ROOT: Final = 0
_JOB_LIST: Final = ("state", "q", "explain", "group", "after", "why", *PAGE)


@get(
    "/v1/batches/{b:str}/jobs",
    Right.READ,
    opt={"page": Job, "explained": Plan, "query": _JOB_LIST},
)
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

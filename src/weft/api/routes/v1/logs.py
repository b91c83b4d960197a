"""Output of jobs: `…/jobs/{j}/log`, with ranges and live; and of many jobs at once `…/outputs`,
`…/results`, and lines that have a text.
"""

import re
from functools import partial
from typing import Final

from weft.api.calls.path_ids import ATTEMPTS_MAX
from weft.api.http.output_lines import output_lines, result_lines
from weft.api.http.paging import cursor_text, job_list_of, kind_of, page_until, wrong_cursor
from weft.api.http.parameter_schemas import FIND_CHARS_MAX, LAST_JOB, OUTPUTS_MAX, STREAMS
from weft.api.http.parameters import batch_id_of, job_id_of, wrong_parameter
from weft.api.http.problem_documents import reply
from weft.api.http.ranges import ranged_reply
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, Stream, get
from weft.api.http.sse import follow_position, log_messages, stream_reply
from weft.api.use_cases.find_lines import Position
from weft.api.use_cases.find_lines import find_lines as search
from weft.api.use_cases.follow import Follower
from weft.api.use_cases.output import Outputs, outputs_of
from weft.core.access.rights import Right
from weft.core.text.number_ranges import parse_ranges
from weft.wire.answers.output import FoundLine

BYTES: Final = "application/octet-stream"
LINES: Final = "application/x-ndjson"
_LOG: Final = ("stream", "attempt", "follow")
_FIND: Final = ("find", "group", "q", "state", "stream", "limit", "cursor")
_POSITION: Final = re.compile(r"([0-9]{1,10})\.([12])\.([0-9]{1,16})\.([0-9]{1,16})\.([01])")


@get(
    "/v1/batches/{b:str}/jobs/{j:str}/log",
    Right.READ,
    opt={
        "bytes": (BYTES, "text/event-stream"),
        "partial": BYTES,
        "refuses": (410, 416),
        "query": _LOG,
        "headers": ("Range", "Last-Event-ID"),
    },
)
async def read_log(request: AnyRequest) -> Stream:
    """Read what a job wrote, one stream also in ranges; `follow=true`: as events while it runs."""
    query = request.query
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    stream = query.choice("stream", STREAMS)
    attempt = query.integer("attempt", default=None, least=1, most=ATTEMPTS_MAX)
    services, caller = request.services, request.caller
    outputs = Outputs(services, caller, batch_id)
    if query.flag("follow"):
        await outputs.find(job_id, attempt)  # so that the status tells what does not exist
        only = None if stream == "both" else stream
        at = follow_position(request.headers.get("last-event-id"))
        follower = Follower(services, caller, batch_id, job_id, attempt, only, at)
        return stream_reply(log_messages(follower.items()))
    log = await outputs.get(job_id, attempt)
    facts = {"x-weft-attempt": str(log.attempt), "x-weft-truncated": str(log.truncated).lower()}
    if stream == "both":
        return stream_reply(outputs.interleaved(log), media=BYTES, headers=facts)
    size = await outputs.size(log, stream)
    return ranged_reply(request, size, partial(outputs.read, log, stream), facts)


@get(
    "/v1/batches/{b:str}/outputs", Right.READ, opt={"bytes": (LINES,), "query": ("first", "last")}
)
async def read_outputs(request: AnyRequest) -> Response[bytes] | Stream:
    """Read the outputs of the jobs `first` to `last` that have ended, one line of JSON each."""
    query = request.query
    batch_id = batch_id_of(request)
    first = query.integer("first", default=1, least=1, most=LAST_JOB) or 1
    last = query.integer("last", default=first + OUTPUTS_MAX - 1, least=1, most=LAST_JOB) or 1
    if last - first >= OUTPUTS_MAX:
        raise wrong_parameter("last", f"at most {OUTPUTS_MAX} jobs per request")
    services = request.services
    jobs = range(first, last + 1)
    outputs = await outputs_of(services, request.caller, batch_id, jobs)
    lines = output_lines(services.logs, outputs.ended(jobs))
    return stream_reply(lines, media=LINES)


@get("/v1/batches/{b:str}/results", Right.READ, opt={"bytes": (LINES,), "query": ("jobs",)})
async def read_results(request: AnyRequest) -> Response[bytes] | Stream:
    """Read what the functions of these jobs returned, one line of JSON for each job that has
    ended; `jobs` as in `1-20,25`, at most 1000.
    """
    query = request.query
    batch_id = batch_id_of(request)
    try:
        text = query.text("jobs")
        text = f"1-{OUTPUTS_MAX}" if text is None else text
        jobs = parse_ranges(text, count_max=OUTPUTS_MAX)
    except ValueError as error:
        raise wrong_parameter("jobs", str(error)) from error
    services = request.services
    outputs = await outputs_of(services, request.caller, batch_id, jobs)
    lines = result_lines(services.logs, outputs.ended(jobs))
    return stream_reply(lines, media=LINES)


@get("/v1/batches/{b:str}/logs", Right.READ, opt={"page": FoundLine, "query": _FIND})
async def find_lines(request: AnyRequest) -> Response[bytes]:
    """Find lines that have the text `find` in the output of a batch's jobs, which may go on.
    `group`, `q`, `state`: as for jobs. A page has few lines, or none, if it has read much.
    """
    query = request.query
    services, caller, batch_id = request.services, request.caller, batch_id_of(request)
    text, stream = query.text("find") or "", query.choice("stream", STREAMS)
    if not 1 <= len(text) <= FIND_CHARS_MAX or "\n" in text:
        raise wrong_parameter("find", f"write 1 to {FIND_CHARS_MAX} characters of one line")
    jobs = job_list_of(query, services.settings)
    filters = (text, stream, query.text("q"), query.text("group"), *query.many("state"))
    kind = kind_of("k", *filters)
    begin = _position(cursor_text(query, kind))
    found = await search(services, caller, batch_id, jobs, text, stream, begin)
    last = None if found.to_go is None else ".".join(str(int(one)) for one in found.to_go)
    return reply(page_until(found.items, kind, last))


def _position(cursor: str | None) -> Position:
    if cursor is None:
        return Position()
    match = _POSITION.fullmatch(cursor)
    if match is None:
        raise wrong_cursor()
    after, stream, at, number, is_told = map(int, match.groups())
    return Position(after, stream, at, number, bool(is_told))

"""`/ui/batches/{b}/jobs/{j}`: one job, why it is where it is, and the end of what it wrote."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from litestar import Response, get
from markupsafe import Markup

from weft.api.html.log_text import LogText
from weft.api.http.parameters import Query
from weft.api.http.path_ids import ATTEMPTS_MAX, batch_id_of, job_id_of
from weft.api.http.replies import encode
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.pages.job_usage import usage_of
from weft.api.pages.view import events_of, link, may_act, show
from weft.api.services import Answer, Services
from weft.api.use_cases import read, why
from weft.api.use_cases.output import STREAMS, Outputs
from weft.core.errors import AttemptNotFound, OutputElsewhere, WeftError
from weft.core.query.reach import JOB_ID_MAX
from weft.core.texts import harmless
from weft.ports.store import Caller, Row

NEIGHBOURS: Final = 50
_SHOWN: Final = ("parents", "children", "usage")
TAIL_BYTES: Final = 8 * 1024


@dataclass(frozen=True)
class Output:
    """The end of one stream of an attempt."""

    stream: str
    n_bytes: int = 0
    text: Markup | str = ""
    problem: WeftError | None = None
    """Why it cannot be read here."""

    @property
    def is_cut(self) -> bool:
        """Whether it has more than is shown."""
        return self.n_bytes > TAIL_BYTES


@dataclass(frozen=True)
class Neighbours:
    """One page of the parents or children of a job."""

    jobs: Sequence[Row]
    """With their states, if they are children."""
    next: str | None
    """The address of the page of the next ones."""
    first: str | None
    """That of the first ones, if these are others."""


@get("/ui/batches/{b:str}/jobs/{j:str}", include_in_schema=False)
async def show_job(request: AnyRequest) -> Response[bytes]:
    """Show a job with its attempts, its history, and the end of its output; `parents`, `children`:
    those after a number; `usage`: what this attempt used, default: the last one.
    """
    query = Query(request, _SHOWN)
    services, caller = services_of(request), caller_of(request)
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    job = await read.get_job(services, caller, batch_id, job_id)
    sees_batch = await services.store.sees_batch(caller, batch_id)
    path, spec = f"/ui/batches/{batch_id}/jobs/{job_id}", encode(job["spec"])
    document = msgspec.json.decode(spec)
    explained = await why.why_job(services, caller, batch_id, job_id)
    attempts = await services.store.list_attempts(caller, batch_id, job_id)
    number = query.integer("usage", default=_last_of(attempts), least=1, most=ATTEMPTS_MAX)
    return show(
        request,
        "job.html",
        here="/ui/batches",
        events=events_of(batch_id),
        path=path,
        job=job,
        may_change=await may_act(
            request, lambda one: read.get_job(services, one, batch_id, job_id)
        ),
        sees_batch=sees_batch,
        parents=_parents_of(job, query, path),
        children=sees_batch and await _children_of(services, caller, job, query, path),
        why=explained["causes"],
        outputs=await _outputs_of(services, caller, batch_id, job_id),
        attempts=attempts,
        usage=number and await usage_of(services, caller, job, number),
        history=await services.store.job_history(caller, batch_id, job_id),
        spec=document,
        spec_json=harmless(msgspec.json.format(spec, indent=2).decode()),
        limit_s=document and document.get("timeout_s"),
    )


def _last_of(attempts: Sequence[Row]) -> int | None:
    return int(attempts[-1]["attempt"]) if attempts else None


def _after(query: Query, name: str) -> int:
    """Return the number of a job after which the page of neighbours begins."""
    return query.integer(name, default=0, least=0, most=JOB_ID_MAX) or 0


def _parents_of(job: Answer, query: Query, path: str) -> Neighbours:
    after = _after(query, "parents")
    found = [{"job_id": one} for one in job["parents"] if one > after][: NEIGHBOURS + 1]
    return _page_of(found, "parents", path, after)


async def _children_of(
    services: Services, caller: Caller, job: Answer, query: Query, path: str
) -> Neighbours:
    after = _after(query, "children")
    found = await services.store.list_children(
        caller, job["batch_id"], job["job_id"], after=after, limit=NEIGHBOURS + 1
    )
    return _page_of(found, "children", path, after)


def _page_of(found: Sequence[Row], name: str, path: str, after: int) -> Neighbours:
    """Return the page of some neighbours, of which there may be one more than it shows."""
    jobs = found[:NEIGHBOURS]
    more = len(found) > len(jobs)
    return Neighbours(
        jobs,
        next=link(path, {name: str(jobs[-1]["job_id"])}) if more else None,
        first=path if after else None,
    )


async def _outputs_of(
    services: Services, caller: Caller, batch_id: int, job_id: int
) -> list[Output]:
    """Return the end of each stream of the last attempt that is not empty."""
    try:
        log = await Outputs(services, caller, batch_id).get(job_id, None)
    except AttemptNotFound:
        return []
    except OutputElsewhere as error:
        return [Output("output", problem=error)]
    found = []
    extent = await services.logs.extent(log)
    for stream, kind in STREAMS.items():
        if size := extent.count(kind):
            pieces = await services.logs.window(log, kind, max(0, size - TAIL_BYTES), size)
            text = LogText(is_marked=False)
            found.append(Output(stream, size, text.feed(pieces) + text.end()))
    return found


ROUTES = (show_job,)
"""The routes of jobs."""

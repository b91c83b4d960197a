"""`/ui/batches/{b}/jobs/{j}`: one job, why it is where it is, and the end of what it wrote."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from litestar import Response, get
from markupsafe import Markup

from weft.api.html.log_text import LogText
from weft.api.http.parameters import Query
from weft.api.http.path_ids import batch_id_of, job_id_of
from weft.api.http.replies import encode
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.pages.view import events_of, link, show
from weft.api.services import Services
from weft.api.use_cases import read, why
from weft.api.use_cases.output import STREAMS, Outputs
from weft.core.errors import AttemptNotFound, OutputElsewhere, WeftError
from weft.core.query.reach import JOB_ID_MAX
from weft.core.texts import harmless
from weft.ports.store import Caller

NEIGHBOURS: Final = 50
_LISTS: Final = ("parents", "children")
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

    jobs: Sequence[int]
    next: str | None
    """The address of the page of the next ones."""
    first: str | None
    """That of the first ones, if these are others."""


@get("/ui/batches/{b:str}/jobs/{j:str}", include_in_schema=False)
async def show_job(request: AnyRequest) -> Response[bytes]:
    """Show a job with its attempts, its history, and the end of its output."""
    query = Query(request, _LISTS)
    services, caller = services_of(request), caller_of(request)
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    job = await read.get_job(services, caller, batch_id, job_id)
    sees_batch = await services.store.sees_batch(caller, batch_id)
    path, spec = f"/ui/batches/{batch_id}/jobs/{job_id}", encode(job["spec"])
    document = msgspec.json.decode(spec)
    explained = await why.why_job(services, caller, batch_id, job_id)
    return show(
        request,
        "job.html",
        here="/ui/batches",
        events=events_of(batch_id),
        path=path,
        job=job,
        sees_batch=sees_batch,
        parents=_neighbours(job["parents"], query, "parents", path),
        why=explained["causes"],
        outputs=await _outputs_of(services, caller, batch_id, job_id),
        attempts=await services.store.list_attempts(caller, batch_id, job_id),
        history=await services.store.job_history(caller, batch_id, job_id),
        spec=document,
        spec_json=harmless(msgspec.json.format(spec, indent=2).decode()),
        limit_s=document and document.get("timeout_s"),
    )


def _neighbours(some: Sequence[int], query: Query, name: str, path: str) -> Neighbours:
    """Return the page of neighbours above the number that the request gives."""
    after = query.integer(name, default=0, least=0, most=JOB_ID_MAX) or 0
    above = [one for one in some if one > after]
    page = above[:NEIGHBOURS]
    more = len(above) > len(page)
    return Neighbours(
        page,
        next=link(path, {name: str(page[-1])}) if more else None,
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

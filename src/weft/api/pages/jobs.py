"""`/ui/batches/{b}/jobs/{j}`: one job, why it is where it is, and the end of what it wrote."""

import re
from dataclasses import dataclass
from typing import Final

import msgspec
from litestar import Response, get

from weft.api.http.parameters import Query
from weft.api.http.path_ids import batch_id_of, job_id_of
from weft.api.http.replies import encode
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.pages.view import events_of, show
from weft.api.services import Services
from weft.api.use_cases import read, why
from weft.api.use_cases.output import STREAMS, Outputs
from weft.core.errors import AttemptNotFound, OutputElsewhere, WeftError
from weft.core.texts import harmless
from weft.ports.store import Caller

TAIL_BYTES: Final = 64 * 1024
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(frozen=True)
class Output:
    """The end of one stream of an attempt."""

    stream: str
    n_bytes: int = 0
    text: str = ""
    problem: WeftError | None = None
    """Why it cannot be read here."""

    @property
    def is_cut(self) -> bool:
        """Whether it has more than is shown."""
        return self.n_bytes > TAIL_BYTES


@get("/ui/batches/{b:str}/jobs/{j:str}", include_in_schema=False)
async def show_job(request: AnyRequest) -> Response[bytes]:
    """Show a job with its attempts, its history, and the end of its output."""
    Query(request, ())
    services, caller = services_of(request), caller_of(request)
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    job = await read.get_job(services, caller, batch_id, job_id)
    explained = await why.why_job(services, caller, batch_id, job_id)
    return show(
        request,
        "job.html",
        here="/ui/batches",
        events=events_of(batch_id),
        path=f"/ui/batches/{batch_id}/jobs/{job_id}",
        job=job,
        why=explained["causes"],
        outputs=await _outputs_of(services, caller, batch_id, job_id),
        attempts=await services.store.list_attempts(caller, batch_id, job_id),
        history=await services.store.job_history(caller, batch_id, job_id),
        spec=harmless(msgspec.json.format(encode(job["spec"]), indent=2).decode()),
    )


async def _outputs_of(
    services: Services, caller: Caller, batch_id: int, job_id: int
) -> list[Output]:
    """Return the end of each stream of the last attempt that is not empty."""
    outputs = Outputs(services, caller, batch_id)
    try:
        log = await outputs.get(job_id, None)
    except AttemptNotFound:
        return []
    except OutputElsewhere as error:
        return [Output("output", problem=error)]
    found = []
    for stream in STREAMS:
        size = await outputs.size(log, stream)
        if size:
            pieces = [
                one async for one in outputs.read(log, stream, max(0, size - TAIL_BYTES), size)
            ]
            found.append(Output(stream, size, readable(b"".join(pieces))))
    return found


def readable(output: bytes) -> str:
    """Return output as text: without colours, and without what could steer the page."""
    text = output.decode("utf-8", errors="replace").replace("\r\n", "\n")
    return harmless(_COLOURS.sub("", text))


ROUTES = (show_job,)
"""The routes of jobs."""

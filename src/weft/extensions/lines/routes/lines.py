"""`/v1/setups`, `/v1/lifecycles`, `/v1/lines`: production lines; `…/jobs/{j}/status`."""

from typing import Final

from weft.api.http.decoding import JSON, decode
from weft.api.http.parameters import Query
from weft.api.http.path_ids import batch_id_of, job_id_of, lifecycle_of, setup_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, read_text, services_of
from weft.api.http.routing import Response, delete, get, post, put
from weft.api.use_cases.failing_lines import LINES_MAX
from weft.extensions.lines.calls import lines
from weft.wire.answers.lines import JobStatus, Lifecycle, Lines, Setup, SetupRemoved, SetupSaved
from weft.wire.documents.batches import BatchDocument, Empty
from weft.wire.documents.lines import StatusDocument

TOML: Final = "application/toml"


@get("/v1/lines", opt={"answer": Lines})
async def get_lines(request: AnyRequest) -> Response[bytes]:
    """Get how production lines are: sources with what they found last, sinks with what has not
    arrived, and how many jobs have each status.
    """
    Query(request, ())
    store = services_of(request).store
    return reply({**await store.overview_lines(caller_of(request), limit=LINES_MAX)})


@get("/v1/setups/{setup:str}", opt={"answer": Setup})
async def get_setup(request: AnyRequest) -> Response[bytes]:
    """Get the file of a production line, as it came."""
    Query(request, ())
    return reply(
        {**await services_of(request).store.get_setup(caller_of(request), setup_of(request))}
    )


@put("/v1/setups/{setup:str}", opt={"answer": SetupSaved, "reads": TOML, "refuses": (409, 413)})
async def save_setup(request: AnyRequest) -> Response[bytes]:
    """Save the file of a production line: whole, or not at all. New batches get its lifecycles,
    jobs keep theirs.
    """
    Query(request, ())
    name, text = setup_of(request), await read_text(request)
    return reply(
        await lines.save_setup(
            services_of(request),
            caller_of(request),
            name,
            text,
            lambda body: decode(body, JSON, BatchDocument),
        )
    )


@delete("/v1/setups/{setup:str}", status_code=200, opt={"answer": SetupRemoved, "body": Empty})
async def remove_setup(request: AnyRequest) -> Response[bytes]:
    """Forget the file of a production line. Its jobs go on."""
    Query(request, ())
    await read_document(request, Empty)
    return reply(
        await lines.remove_setup(services_of(request), caller_of(request), setup_of(request))
    )


@get("/v1/lifecycles/{lifecycle:str}", opt={"answer": Lifecycle})
async def get_lifecycle(request: AnyRequest) -> Response[bytes]:
    """Get the lifecycle that new batches get by this name."""
    Query(request, ())
    name = lifecycle_of(request)
    return reply({**await services_of(request).store.get_lifecycle(caller_of(request), name)})


@post("/v1/batches/{b:str}/jobs/{j:str}/status", opt={"answer": JobStatus, "body": StatusDocument})
async def change_status(request: AnyRequest) -> Response[bytes]:
    """Set the status of a job, if its lifecycle allows it now; a job that waits or has ended goes
    along.
    """
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    document = await read_document(request, StatusDocument)
    return reply(
        await lines.change_status(
            services_of(request), caller_of(request), batch_id, job_id, document
        )
    )


ROUTES = (get_lines, get_setup, save_setup, remove_setup, get_lifecycle, change_status)
"""The routes of production lines."""

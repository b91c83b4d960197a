"""`/v1/sources`: what production lines read, and the items that they found."""

from typing import Final, get_args

from weft.api.http.decoding import JSON, decode
from weft.api.http.paging import PAGE, cursor_of, cursor_text, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import source_of
from weft.api.http.replies import reply
from weft.api.http.requests import (
    AnyRequest,
    caller_of,
    read_document,
    read_submission,
    services_of,
)
from weft.api.http.routing import Response, get, patch, post
from weft.extensions.lines.calls import source_trial, sources
from weft.wire.answers.sources import (
    ItemStateWord,
    SeriesRerunning,
    ShownSource,
    Source,
    SourceItem,
    SourceTried,
)
from weft.wire.documents.batches import BatchDocument, Empty
from weft.wire.documents.sources import SeriesRerun, SourceEdit

ITEM_QUERY: Final = (*PAGE, "state", "series", "key")
STATES: Final[tuple[str, ...]] = get_args(ItemStateWord)


@get("/v1/sources", opt={"page": Source, "query": PAGE})
async def list_sources(request: AnyRequest) -> Response[bytes]:
    """List the sources, in the order of their names."""
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    after = cursor_text(query, "src") or ""
    rows = await services.store.list_sources(caller_of(request), after=after, limit=limit)
    return reply(page(rows, limit, "src", "source"))


@get("/v1/sources/{source:str}", opt={"answer": ShownSource})
async def get_source(request: AnyRequest) -> Response[bytes]:
    """Get a source."""
    Query(request, ())
    return reply(
        await sources.get_source(services_of(request), caller_of(request), source_of(request))
    )


@patch(
    "/v1/sources/{source:str}",
    opt={"answer": ShownSource, "body": SourceEdit, "headers": ("Idempotency-Key",)},
)
async def change_source(request: AnyRequest) -> Response[bytes]:
    """Pause, resume or replay a source, as its owner or an operator."""
    Query(request, ())
    name = source_of(request)
    edit, origin = await read_submission(request, SourceEdit)
    services, caller = services_of(request), caller_of(request)
    return reply(await sources.change_source(services, caller, name, edit, origin))


@post(
    "/v1/sources/{source:str}/trial", status_code=200, opt={"answer": SourceTried, "body": Empty}
)
async def try_source(request: AnyRequest) -> Response[bytes]:
    """Read a source once from the api's host, as its owner or an operator: what it gives, and the
    jobs that would be made of it. Nothing is kept.
    """
    Query(request, ())
    name = source_of(request)
    await read_document(request, Empty)
    return reply(
        await source_trial.try_source(
            services_of(request),
            caller_of(request),
            name,
            lambda body: decode(body, JSON, BatchDocument),
        )
    )


@get("/v1/sources/{source:str}/items", opt={"page": SourceItem, "query": ITEM_QUERY})
async def list_source_items(request: AnyRequest) -> Response[bytes]:
    """List what a source has found, the newest first; or only items in one state, of
    one series, or the one of a key.
    """
    query = Query(request, ITEM_QUERY)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_source_items(
        caller_of(request),
        source_of(request),
        before=cursor_of(query, "item"),
        state=None if query.text("state") is None else query.choice("state", STATES),
        series=query.text("series"),
        key=query.text("key"),
        limit=limit,
    )
    return reply(page(rows, limit, "item", "n"))


@post(
    "/v1/sources/{source:str}/rerun",
    status_code=200,
    opt={"answer": SeriesRerunning, "body": SeriesRerun, "headers": ("Idempotency-Key",)},
)
async def rerun_series(request: AnyRequest) -> Response[bytes]:
    """Let items of a series run again from a date on, one after another, as its owner or an
    operator. What they left before stays; each gets another job.
    """
    Query(request, ())
    name = source_of(request)
    asked, origin = await read_submission(request, SeriesRerun)
    services, caller = services_of(request), caller_of(request)
    return reply(await sources.rerun_series(services, caller, name, asked, origin))


ROUTES = (
    list_sources, get_source, change_source, try_source, list_source_items, rerun_series
)  # fmt: skip
"""The routes of sources."""

"""Health, metrics, the workers, and the description of this api."""

import contextlib
from collections.abc import Mapping
from typing import Any, Final

from litestar import Response, get

from weft.api.http.description import describe, render_page
from weft.api.http.replies import encode, reply
from weft.api.http.requests import Query
from weft.api.services import AnyRequest, Services, caller_of, services_of
from weft.core.errors import Unavailable
from weft.telemetry import metrics
from weft.wire.answers import Overview, Worker

_COUNTED: Final = ("pending", "ready", "running")


@get("/healthz")
async def healthz(request: AnyRequest) -> Response[bytes]:
    """Say that this process lives."""
    Query(request, ())
    return reply({"status": "alive"})


@get("/readyz")
async def readyz(request: AnyRequest) -> Response[bytes]:
    """Say whether requests can be served: the database answers."""
    Query(request, ())
    await services_of(request).store.ready()
    return reply({"status": "ready"})


@get("/v1/overview", opt={"answer": Overview})
async def overview(request: AnyRequest) -> Response[bytes]:
    """Get the workers and how many jobs wait and run."""
    Query(request, ())
    return reply(await services_of(request).store.overview(caller_of(request)))


@get("/v1/workers", opt={"page": Worker})
async def list_workers(request: AnyRequest) -> Response[bytes]:
    """List the workers."""
    Query(request, ())
    found = await services_of(request).store.overview(caller_of(request))
    return reply({"items": found["workers"], "cursor": None})


@get("/metrics")
async def show_metrics(request: AnyRequest) -> Response[bytes]:
    """Get the metrics of this host's roles, in the form of Prometheus."""
    Query(request, ())
    services = services_of(request)
    with contextlib.suppress(Unavailable):  # what this process counts is wanted then most of all
        _set_counts(await services.store.overview(caller_of(request)))
    return Response(
        metrics.render("api", _snapshots(services)), headers={"content-type": metrics.CONTENT_TYPE}
    )


def _set_counts(found: Mapping[str, Any]) -> None:
    metrics.set_job_counts({state: found[state] for state in _COUNTED})
    metrics.WORKERS.labels("live").set(len(found["workers"]))


def _snapshots(services: Services) -> dict[str, str]:
    return metrics.read_snapshots(services.settings.home / "run")


@get("/openapi.json")
async def openapi(request: AnyRequest) -> Response[bytes]:
    """Get the description of this api (OpenAPI 3.1)."""
    Query(request, ())
    return Response(encode(describe(request.app)), media_type="application/json")


@get("/docs")
async def docs(request: AnyRequest) -> Response[bytes]:
    """Get the description of this api as a page."""
    Query(request, ())
    page = render_page(describe(request.app)).encode()
    return Response(page, media_type="text/html; charset=utf-8")


ROUTES = (healthz, readyz, overview, list_workers, show_metrics, openapi, docs)

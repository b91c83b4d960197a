"""Health, metrics, and the description of this API: the paths without a version."""

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from weft.api.http.description import describe, render_page
from weft.api.http.problem_documents import encode, reply
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import OPEN, Response, get
from weft.api.services import Services
from weft.api.use_cases import transports
from weft.core.access.rights import RIGHTS_OF, Right
from weft.core.errors import Unavailable
from weft.ports.store import Row
from weft.telemetry import line_metrics, metrics
from weft.wire.answers.health import Health

_COUNTED: Final = ("pending", "ready", "running", "blocked")
_LIVE: Final = ("active", "silent", "cordoned", "draining")
_LABELS_MAX: Final = 1000
"""Queues, licences, sources and sinks that are counted each by itself, at most."""
_NO_LINES: Final[Row] = {"sources": [], "sinks": [], "statuses": []}
_SNAPSHOT_AGE_MIN_S: Final = 30.0
"""A role may be this late with its metrics on a busy host."""


@get("/healthz", OPEN, opt={"answer": Health})
async def healthz() -> Response[bytes]:
    """Tell whether this process is alive."""
    return reply({"status": "alive"})


@get("/readyz", OPEN, opt={"answer": Health})
async def readyz(request: AnyRequest) -> Response[bytes]:
    """Tell whether requests can be served: the database answers, within two seconds."""
    await request.services.readiness.check()
    return reply({"status": "ready"})


@get("/metrics", Right.READ, opt={"bytes": (metrics.CONTENT_TYPE.partition(";")[0],)})
async def show_metrics(request: AnyRequest) -> Response[bytes]:
    """Get metrics in the text format of Prometheus: counts of the tenant, and for administrators
    of the site all metrics of the roles on this host.
    """
    services = request.services
    caller = request.caller
    registries = []
    snapshots: Mapping[str, str] = {}
    if caller.visit is None and Right.ADMINISTER in RIGHTS_OF[caller.role]:
        registries.append(metrics.REGISTRY)
        if services.link is not None:
            services.link.hearing.show()
        snapshots = _snapshots(services)
    # Without an answer no counts are shown: the last ones may be those of another tenant.
    with contextlib.suppress(Unavailable):
        found = await services.store.overview(caller)
        queues = await services.store.list_queues(caller)
        licences = await services.store.list_licences(caller)
        travelling = await transports.list_transports(services, caller)
        lines = _NO_LINES
        if found["has_lines"]:
            lines = await services.store.overview_lines(caller, limit=_LABELS_MAX)
        # Nothing is awaited from here on: another scrape may be of another tenant.
        _set_counts(found, queues, licences)
        metrics.set_transport_counts(travelling[:_LABELS_MAX], datetime.now(UTC))
        line_metrics.set_line_counts(lines, datetime.now(UTC))
        # They count the submissions of everybody.
        metrics.show_guard_failures(caller.tenant_id if caller.sees_tenant else None)
        registries.append(metrics.COUNTS)
    page = metrics.render("api", snapshots, registries=registries)
    return Response(page, headers={"content-type": metrics.CONTENT_TYPE})


def _set_counts(found: Mapping[str, Any], queues: Sequence[Row], licences: Sequence[Row]) -> None:
    metrics.set_job_counts({state: found[state] for state in _COUNTED})
    metrics.CONDITIONS.set(found["conditions"])
    states = Counter(worker["state"] for worker in found["workers"])
    metrics.WORKERS.labels("live").set(states.total())
    for state in _LIVE:
        metrics.WORKERS.labels(state).set(states[state])
    metrics.set_queue_counts(
        {
            one["name"]: (one["n_waiting"], one["n_running"])
            for one in queues[:_LABELS_MAX]
            if one["n_waiting"] is not None
        }
    )
    metrics.set_licence_counts(
        {one["licence"]: (one["n"], one["n_used"]) for one in licences[:_LABELS_MAX]}
    )


def _snapshots(services: Services) -> dict[str, str]:
    settings = services.settings
    age_max_s = max(_SNAPSHOT_AGE_MIN_S, 3 * settings.heartbeat_s)
    return metrics.read_snapshots(settings.home / "run", age_max_s=age_max_s)


@get("/openapi.json", OPEN, opt={"bytes": ("application/json",)})
async def openapi(request: AnyRequest) -> Response[bytes]:
    """Get the description of this API (OpenAPI 3.1)."""
    return Response(encode(describe(request.app)), media_type="application/json")


@get("/docs", OPEN, opt={"bytes": ("text/html",)})
async def docs(request: AnyRequest) -> Response[bytes]:
    """Get the description of this API as a page."""
    return Response(render_page(request.app), media_type="text/html")

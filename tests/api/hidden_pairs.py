"""Pairs of requests: one about something of another tenant, one about what does not exist; and
which routes are asked so.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any
from uuid import UUID

import httpx

from api.full_tenant import FullTenant
from benches.route_bodies import MAKING
from weft.telemetry.metrics import STORE_CALL_SECONDS

LOCAL = {
    "a",
    "j",
    "g",
    "u",
    "n",
    "container",
    "payloads/{s}",
    "app-parts/{s}",
    "pairs",
    "file_path",
}
"""Parameters that count within a batch."""
_SITE = "it is the administrators' of the site, who see all tenants, and so does its function"
_LINK = "the code of the link is the proof"
_NOBODY = "it asks for no token, and so has no tenant"
SKIPPED = {
    "DELETE /v1/licences/{l}": "licences are the site's",
    "GET /": _NOBODY,
    "GET /actuator/health": _NOBODY,
    "GET /actuator/info": _NOBODY,
    "GET /api/v1alpha/cloud": _NOBODY,
    "GET /api/v1alpha/version": _NOBODY,
    "GET /docs": _NOBODY,
    "GET /batches/{b}": "it leads to a page, which asks who it is",
    "GET /batches/{b}/jobs/{j}": "likewise",
    "GET /healthcheck": _NOBODY,
    "GET /healthz": _NOBODY,
    "GET /login": _NOBODY,
    "GET /login/oidc/callback": "it finds its tenant by a code of an issuer",
    "GET /login/oidc/start": _NOBODY,
    "GET /openapi.json": _NOBODY,
    "GET /readyz": _NOBODY,
    "GET /ui/answer": _LINK,
    "GET /ui/assets/{digest}/{name}": _NOBODY,
    "GET /ui/events": "it does not end: naming has it with a batch",
    "GET /ui/system": _SITE,
    "GET /v1/events": "it does not end: two of them are read side by side",
    "GET /v1/system": _SITE,
    "GET /v1/tenants": _SITE,
    "PATCH /v1/tenants/{tenant}/quota": _SITE,
    "POST /login": "the code of a login link is the proof",
    "POST /logout": "it ends the session whose cookie it is sent",
    "POST /ui/answer": _LINK,
    "POST /ui/visit": _SITE,
    "POST /ui/workers/{w}/cordon": _SITE,
    "POST /ui/workers/{w}/drain": _SITE,
    "POST /ui/workers/{w}/uncordon": _SITE,
    "POST /v1/device-logins": _NOBODY,
    "POST /v1/device-logins/poll": "it finds its tenant by a code of an issuer",
    "POST /v1/logins": _NOBODY,
    "POST /v1/worker-link/join": "it finds its tenant by an invitation",
    "POST /v1/logins/finish": "it finds its tenant by a code of an issuer",
    "POST /v1/secret-rotation": "it seals the values of all tenants again and returns none",
    "POST /v1/tenants": _SITE,
    "POST /v1/workers/{w}/cordon": _SITE,
    "POST /v1/workers/{w}/drain": _SITE,
    "POST /v1/workers/{w}/lose": _SITE,
    "POST /v1/workers/{w}/uncordon": _SITE,
    "PUT /v1/licences/{l}": "licences are the site's",
    "PUT /v1/pools": _SITE,
    "PUT /v1/users/{user}/weight": _SITE,
}
"""Routes that are not asked about another tenant's things, and why."""
NOT_FOUND = 404
_HAIL_PROJECT = "POST /api/v1alpha/billing_projects/{p}"
ANSWERS = {
    **dict.fromkeys(MAKING, 200),
    f"{_HAIL_PROJECT}/users/{{user}}/remove": 200,  # also of nobody
    "GET /internal/executions/{job_id}": 200,  # none, also of no job
    **dict.fromkeys(
        (
            "GET /api/v1alpha/billing_projects/{p}",
            f"{_HAIL_PROJECT}/close",
            f"{_HAIL_PROJECT}/delete",
            f"{_HAIL_PROJECT}/reopen",
            f"{_HAIL_PROJECT}/users/{{user}}/add",
            "POST /api/v1alpha/billing_limits/{p}/edit",
        ),
        403,
    ),
    "PUT /v1/apps/{app}": 409,  # of a folder that was not sent
    "POST /v1/setups/{setup}/trial": 400,  # likewise
    "PUT /v1/setups/{setup}": 400,  # an empty file, under any name
}
"""What does not exist is answered with 404, but for these: clients of doors know them so."""
MISSING = {int: 987_654, str: "missing", UUID: UUID(int=987_654)}
_WHEN = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)")


def paths_of(route: str, ours: FullTenant, theirs: FullTenant) -> Iterator[tuple[str, str, Any]]:
    """Yield paths in which one parameter is theirs, and the same with one that does not exist."""
    names = theirs.ids.names(route)
    for place, name in enumerate(names):
        if name in LOCAL:
            continue
        value = theirs.ids[name]
        pair = []
        for other in (value, MISSING[type(value)]):
            values = [other if n == place else ours.ids[one] for n, one in enumerate(names)]
            pair.append(re.sub(r"\{\w+\}", "{}", route).format(*values))
        yield pair[0], pair[1], value


def known(answer: httpx.Response, value: Any) -> tuple[int, str]:  # noqa: ANN401
    """Return an answer without what differs between two requests."""
    text = re.sub(r'"trace_id":"[0-9a-f]+"|, trace [0-9a-f]+', "", answer.text)
    text = text.replace(str(value), "X").replace(str(MISSING[type(value)]), "X")
    return answer.status_code, _WHEN.sub("T", text)


async def answer_of(
    http: httpx.AsyncClient,
    method: str,
    path: str,
    **more: Any,  # noqa: ANN401
) -> httpx.Response:
    """Return an answer, without the content of a stream of events, which may never end."""
    async with http.stream(method, path, **more) as answer:
        if answer.headers["content-type"].startswith("text/event-stream"):
            return httpx.Response(answer.status_code, text="a stream")
        await answer.aread()
        return answer


def naming(theirs: FullTenant) -> list[tuple[str, str, Any, Any]]:
    """Return requests whose bodies or queries name something of theirs, as `<>`."""
    ids = theirs.ids
    project, queue = ids["billing-projects/{p}"], ids["q"]
    cron = {"cron": "0 2 * * *"}
    job = {"command": ["true"]}
    return [
        ("POST", "/v1/batches", {"billing_project": "<>"}, project),
        ("POST", "/v1/batches", {"jobs": [job | {"queue": "<>"}]}, queue),
        (
            "POST",
            "/v1/batches",
            {"jobs": [job | {"secrets": [{"name": "<>", "env": "A"}]}]},
            ids["secret"],
        ),
        (
            "POST",
            "/v1/schedules",
            cron | {"document": {"billing_project": "<>", "jobs": [{}]}},
            project,
        ),
        ("POST", "/v1/queue-reroute", {"to": "<>"}, queue),
        (
            "PUT",
            "/v1/queues",
            {"dry_run": True, "queues": [{"name": "x", "priority": 1, "users": ["<>"]}]},
            ids["user"],
        ),
        ("POST", "/v1/batch-actions", {"action": "cancel", "batches": ["<>"]}, ids["b"]),
        ("GET", f"/v1/batches/<>/jobs/{ids['j']}/log?follow=true", None, ids["b"]),
        *(
            ("GET", f"/v1/{path}?batch=<>", None, ids["b"])
            for path in ("events", "operations", "dead-letters", "trail")
        ),
        ("GET", "/ui/events?batch=<>", None, ids["b"]),
        ("GET", "/v1/batches?q=<>", None, theirs.word),
        ("GET", "/v1/batches?name=<>", None, f"{theirs.word}-batch"),
        ("GET", "/v1/trail?user=<>", None, f"{theirs.word}-ann"),
    ]


KEPT = {"authenticate", "list_queues", "licence_limits", "pool_offers", "record_request"}
"""Functions that an api does not call again for a while, whatever is asked for."""


def statements() -> Mapping[str, float]:
    """Return how often each function of the database was called so far."""
    return {
        one.labels["function"]: one.value
        for metric in STORE_CALL_SECONDS.collect()
        for one in metric.samples
        if one.name.endswith("_count") and one.labels["function"] not in KEPT
    }


async def answers_of(
    http: httpx.AsyncClient,
    method: str,
    pair: Sequence[tuple[str, Mapping[str, Any]]],
    value: Any,  # noqa: ANN401
) -> tuple[list[httpx.Response], bool]:
    """Ask for something of theirs, and for what does not exist; say whether nothing tells which
    is which: neither the answer nor the statements. A pair has a path and what goes with it.
    """
    answers, told, counts = [], [], [statements()]
    for path, more in pair:
        answer = await answer_of(http, method, path, **more)
        answers.append(answer)
        counts.append(statements())
        told.append(known(answer, value))
    done = [
        {name: n - before.get(name, 0) for name, n in after.items() if n != before.get(name, 0)}
        for before, after in pairwise(counts)
    ]
    return answers, told[0] == told[1] and done[0] == done[1]

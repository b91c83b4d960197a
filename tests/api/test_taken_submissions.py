"""Batches that come by a transport, with a transport that is a list."""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from httpx import AsyncClient

from api.live import LiveApi
from one_transport import Delivery, OneTransport
from weft.api.http.decoding import JSON, decode
from weft.api.use_cases.taken_submissions import TakenSubmissions
from weft.ports.transport import SUBMISSIONS, Route, Transport, route_of
from weft.settings.transports_file import SubmissionsDocument
from weft.wire.documents.batches import BatchDocument

WITHIN_S = 30.0
BATCH = {"name": "from afar", "jobs": [{"command": ["true"]}]}


async def taken(api: LiveApi, *bodies: object, user: str = "tester") -> list[Any]:
    """Let messages come; return why each was refused, None: it was not."""
    deliveries = [
        Delivery(one if isinstance(one, bytes) else json.dumps(one).encode()) for one in bodies
    ]
    intake = TakenSubmissions(
        api.app.services,
        cast("Transport", OneTransport(deliveries, Route("local", SUBMISSIONS), one_by_one=True)),
        "rabbit",
        SubmissionsDocument(tenant="local", user=user),
        lambda body: decode(body, JSON, BatchDocument),
    )
    serving = asyncio.create_task(intake.serve())
    try:
        async with asyncio.timeout(WITHIN_S):
            for one in deliveries:
                await one.over.wait()
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
    return [json.loads(one.refused) if one.refused else None for one in deliveries]


async def batches(http: AsyncClient) -> list[dict[str, Any]]:
    """Return the batches that there are."""
    found: list[dict[str, Any]] = (await http.get("/v1/batches")).json()["items"]
    return found


async def test_a_batch_is_submitted_once_for_its_id(api: LiveApi, http: AsyncClient) -> None:
    message = {"id": "order 1", "batch": BATCH}
    assert await taken(api, message, message, {**message, "id": "order 2"}) == [None] * 3
    (other,) = await taken(api, {"id": "order 1", "batch": {**BATCH, "name": "other"}})
    found = await batches(http)

    assert [(one["name"], one["user"], one["n_jobs"]) for one in found] == [
        ("from afar", "tester", 1)
    ] * 2
    assert other["status"] == 409


async def test_what_is_refused_has_a_problem_document(api: LiveApi, http: AsyncClient) -> None:
    wrong = [
        b"no JSON",
        {"batch": BATCH},
        {"id": "", "batch": BATCH},
        {"id": "a", "batch": {"jobs": [{"command": "true"}]}},
        {"id": "b", "batch": {"jobs": [{"command": ["true"], "priority": "high"}]}},
    ]
    found = await taken(api, *wrong)
    (stranger,) = await taken(api, {"id": "c", "batch": BATCH}, user="nobody")

    assert {one["code"] for one in found[:3]} == {"SUBMIT.MESSAGE_MALFORMED"}
    assert [one["errors"][0]["pointer"] for one in found[3:]] == [
        "/jobs/0/command", "/jobs/0/priority",
    ]  # fmt: skip
    assert stranger["status"] == 403
    assert await batches(http) == []


async def test_a_message_has_no_more_bytes_than_a_request(api: LiveApi) -> None:
    services = api.app.services
    services.settings = replace(services.settings, bunch_bytes_max=1000)
    (refused,) = await taken(api, {"id": "a" * 2000, "batch": BATCH})

    assert "bytes, at most 1,000" in refused["detail"]


def test_the_route_has_a_name_of_its_own() -> None:
    route = Route("home", SUBMISSIONS)

    assert route.name == "weft.home.submissions"
    assert route_of("home", route.name) == route
    assert route_of("home", "weft.home.outcomes") == Route("home", "")
    assert route_of("home", "weft.home.submit.") is None

"""Which role may call which route: the application's own table of routes, tried with each role."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from api.fakes import RecordingStore, SilentNotices, client_of
from api.problems import code_of
from weft.api.app import Application, create_app
from weft.api.http.doors import ApiDoor, DoorPaths
from weft.api.http.routing import Response, get
from weft.core.access.rights import RIGHTS_OF, Right, UserRole
from weft.ports.store import Caller
from weft.run.doors import api_doors
from weft.settings import Settings

OPEN = {
    "GET /healthz",
    "GET /readyz",
    "GET /openapi.json",
    "GET /docs",
    "GET /login",
    "POST /login",
    "POST /logout",
    "GET /",
    "GET /ui/assets/{digest}/{name}",
    "GET /batches/{b}/jobs/{j}",
    "GET /login/oidc/start",
    "GET /login/oidc/callback",
    "POST /v1/logins",
    "POST /v1/logins/finish",
    "POST /v1/device-logins",
    "POST /v1/device-logins/poll",
    "GET /healthcheck",
    "GET /batches/{b}",
    "GET /api/v1alpha/cloud",
    "GET /api/v1alpha/version",
    "GET /actuator/health",
    "GET /actuator/info",
    "POST /v1/worker-link/join",
    "GET /ui/answer",
    "POST /ui/answer",
}
_LEAST = {
    UserRole.VIEWER: """
        POST /ui/queues/test, POST /v1/queue-test""",
    UserRole.OPERATOR: """
        POST /ui/conditions/{c}/fail, POST /ui/conditions/{c}/release, POST
        /v1/queues/{q}/drain, POST /v1/queue-reroute, POST /v1/conditions/{c}/release, POST
        /v1/conditions/{c}/fail, DELETE /v1/setups/{setup}, PUT /v1/app-parts/{s}/{n}, DELETE
        /v1/apps/{app}, PUT /v1/apps/{app}, DELETE /v1/stores/{store}, DELETE
        /v1/dead-messages/{dead}, GET /v1/dead-messages, GET /v1/dead-messages/{dead}, POST
        /v1/dead-messages/{dead}/acknowledge, POST /v1/dead-messages/{dead}/resend, PUT
        /v1/stores/{store}, POST /v1/stores/{store}/trial, PUT /v1/setups/{setup}, POST
        /v1/setups/{setup}/trial, PUT /v1/parameters/{parameter}, GET
        /v1/sinks/{sink}/deliveries, POST /v1/sinks/{sink}/deliveries/{message}/redeliver, POST
        /v1/sinks/{sink}/deliveries/{message}/decide, POST /v1/sinks/{sink}/given-up""",
    UserRole.ADMIN: """
        GET /ui/system, POST /ui/visit, GET /v1/system, POST /ui/workers/{w}/cordon, POST
        /ui/workers/{w}/drain, POST /ui/workers/{w}/uncordon, POST /v1/workers/{w}/cordon, POST
        /v1/workers/{w}/drain, POST /v1/workers/{w}/lose, POST /v1/workers/{w}/uncordon, POST
        /v1/secret-rotation, GET /v1/tenants, PATCH /v1/tenants/{tenant}/quota, POST
        /v1/tenants, PUT /v1/pools, PUT /v1/licences/{l}, DELETE /v1/licences/{l}, PUT
        /v1/users/{user}/weight""",
    UserRole.TENANT_ADMIN: """
        POST /v1/imports, PUT /v1/queues, GET /v1/callbacks/secret, GET /v1/trail, GET
        /v1/users, POST /v1/billing-projects, PATCH /v1/billing-projects/{p}, DELETE
        /v1/billing-projects/{p}, PUT /v1/billing-projects/{p}/members/{user}, DELETE
        /v1/billing-projects/{p}/members/{user}, GET /v1/tenants/{tenant}, PATCH
        /v1/tenants/{tenant}, PATCH /v1/user-quota, PATCH /v1/users/{user}/quota, PATCH
        /v1/users/{user}/limit, PATCH /v1/billing-projects/{p}/limit, POST /v1/users, PATCH
        /v1/users/{user}, DELETE /v1/users/{user}, POST
        /api/v1alpha/billing_projects/{p}/create, POST /api/v1alpha/billing_projects/{p}/close,
        POST /api/v1alpha/billing_projects/{p}/reopen, POST
        /api/v1alpha/billing_projects/{p}/delete, POST
        /api/v1alpha/billing_projects/{p}/users/{user}/add, POST
        /api/v1alpha/billing_projects/{p}/users/{user}/remove, POST
        /api/v1alpha/billing_limits/{p}/edit""",
}
NOT_BY_METHOD = {
    " ".join(route.split()): role for role, routes in _LEAST.items() for route in routes.split(",")
}
"""The least role of each route that is not: readers read, users write."""
ANYBODY = {
    "GET /v1/whoami",
    "GET /v1/tokens",
    "POST /v1/tokens",
    "DELETE /v1/tokens/{t}",
    "POST /v1/login-links",
    "GET /v1/sessions",
    "DELETE /v1/sessions",
    "DELETE /v1/sessions/{session}",
    "GET /ui/sessions",
    "POST /ui/sessions/end",
    "POST /ui/sessions/{session}/end",
}
"""Every role may call them."""
FOR_WORK = {
    "POST /v1/worker-link",
    "POST /v1/worker-link/exec",
    "GET /v1/worker-link/notices",
}
"""They ask what the token is for, too: `test_worker_link.py`."""
LADDER = [UserRole.VIEWER, UserRole.USER, UserRole.OPERATOR, UserRole.TENANT_ADMIN, UserRole.ADMIN]
DOOR_PATHS = DoorPaths(api_doors())
UNAUTHENTICATED = 401
REFUSALS = {UNAUTHENTICATED, 403}


class _Store(RecordingStore):
    """Each role is the token of a user who has it."""

    async def authenticate(self, token: str) -> Caller | None:
        return Caller(1, 1, "ada", UserRole(token)) if token in set(UserRole) else None


@pytest.fixture
async def anybody(tmp_path: Path) -> AsyncIterator[tuple[Application, httpx.AsyncClient]]:
    """Give the application, and a client without a token."""
    app = create_app(_Store(), SilentNotices(), None, Settings(home=tmp_path), doors=api_doors())  # type: ignore[arg-type]  # doubles
    async with client_of(app) as client:
        yield app, client


def routes_of(app: Application) -> set[str]:
    return {name for route in app.router.routes for name in route.names}


def least_role(route: str) -> UserRole:
    by_method = UserRole.VIEWER if route.startswith("GET") else UserRole.USER
    return NOT_BY_METHOD.get(route, by_method)


def said_right_missing(route: str, answer: httpx.Response) -> bool:
    """Say whether a refusal is about the role. Doors answer in their own form; that for Hail's
    client by its contract with 401 whoever may not administer billing projects.
    """
    if DOOR_PATHS.door_of(route.partition(" ")[2]) is None:
        return code_of(answer) == "API.RIGHT_MISSING"
    expected = 401 if route in NOT_BY_METHOD else 403
    return answer.status_code == expected and "user ada may not" in answer.text


async def test_each_route_refuses_each_lower_role(
    anybody: tuple[Application, httpx.AsyncClient],
) -> None:
    app, client = anybody
    wrong: list[tuple[str, str, object]] = []
    for route in sorted(routes_of(app) - OPEN - FOR_WORK):
        method, _, path = route.partition(" ")
        first = LADDER.index(least_role(route))
        bad = await client.request(method, path, headers={"authorization": "Bearer nobody"})
        if bad.status_code != UNAUTHENTICATED:
            wrong.append((route, "a token that nobody has", bad.status_code))
        for role in UserRole:
            may = role in LADDER[first:] or route in ANYBODY
            answer = await client.request(
                method, path, headers={"authorization": f"Bearer {role}"}
            )
            if (answer.status_code in REFUSALS) is may:
                wrong.append((route, role, answer.status_code))
            if not may and not said_right_missing(route, answer):
                wrong.append((route, role, answer.text))

    assert wrong == []
    assert NOT_BY_METHOD.keys() | ANYBODY <= routes_of(app)


async def test_no_role_is_looked_up_in_a_thread(
    anybody: tuple[Application, httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the request waits for a thread")

    monkeypatch.setattr(asyncio.get_running_loop(), "run_in_executor", refuse)
    answer = await anybody[1].put("/v1/queues", headers={"authorization": "Bearer viewer"})

    assert answer.status_code == 403


async def test_refusal_says_who_may(anybody: tuple[Application, httpx.AsyncClient]) -> None:
    _, client = anybody
    answer = await client.put("/v1/queues", headers={"authorization": "Bearer viewer"})

    problem = answer.json()
    assert (
        problem["title"]
        == "user ada may not change queues, users or projects of the tenant or read its secrets"
    )
    assert (
        problem["detail"] == "The role of this user is viewer; this needs tenant-admin or admin."
    )
    assert "administrator" in problem["hint"]


async def test_description_names_the_roles(anybody: tuple[Application, httpx.AsyncClient]) -> None:
    _, client = anybody
    paths = (await client.get("/openapi.json")).json()["paths"]

    assert paths["/v1/pools"]["put"]["x-weft-user-roles"] == ["admin"]
    assert paths["/v1/batches"]["post"]["x-weft-user-roles"] == LADDER[1:]
    assert "x-weft-user-roles" not in paths["/healthz"]["get"]


@get("/forgotten")
async def forgotten() -> Response[str]:
    return Response("secret")


def test_route_without_a_right_is_not_served(tmp_path: Path) -> None:
    door = ApiDoor(name="forgetful", routes=[forgotten])

    with pytest.raises(LookupError, match="GET /forgotten has no right"):
        create_app(
            _Store(),
            SilentNotices(),
            None,  # type: ignore[arg-type]  # no log store is asked
            Settings(home=tmp_path),
            doors=[door],
        )


def test_each_role_may_do_what_lesser_ones_may() -> None:
    rights = [RIGHTS_OF[role] for role in LADDER]

    assert all(less < more for less, more in pairwise(rights))
    assert RIGHTS_OF[UserRole.WORKER] - {Right.WORK} < rights[0]

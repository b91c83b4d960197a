"""Who is let in."""

import asyncio
from typing import Any, cast

import pytest
from httpx import AsyncClient

from api.fakes import TOKEN, RecordingStore, client_of
from api.test_rights import OPEN
from cases import cases
from weft.api.app import Application
from weft.api.http.identity import REMEMBER_S, Identities
from weft.core.errors import Unauthenticated
from weft.ports.store import Caller
from weft.store import ApiStore


@cases("header", [None, "Bearer", "Bearer wrong", "Basic abc", "Bearer a\x7f"])
@pytest.mark.parametrize("path", ["/v1/batches", "/metrics", "/nothing"])
async def test_strangers_see_nothing(app: Application, header: str | None, path: str) -> None:
    headers = {} if header is None else {"authorization": header}
    async with client_of(app, **headers) as client:
        answer = await client.get(path)

    assert (answer.status_code, answer.json()["code"]) == (401, "API.UNAUTHENTICATED")
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.heavy
async def test_strangers_are_refused_on_every_path_with_every_method(app: Application) -> None:
    async with client_of(app) as client:
        let_in = {
            path
            for route in app.router.routes
            for path in route.path_formats
            for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
            if (await client.request(method, path)).status_code != 401
        }

    assert let_in == {route.partition(" ")[2] for route in OPEN}


async def test_health_is_open_and_says_nothing_else(app: Application) -> None:
    async with client_of(app) as client:
        alive, ready = await client.get("/healthz"), await client.get("/readyz")

    assert alive.json() == {"status": "alive"}
    assert ready.json() == {"status": "ready"}


@pytest.mark.parametrize(("length", "asked"), [(8192, 1), (8193, 0), (1_000_000, 0)])
async def test_token_of_more_than_8_kib_is_refused_unasked(
    store: RecordingStore, length: int, asked: int
) -> None:
    identities = Identities(cast("ApiStore", store))

    with pytest.raises(Unauthenticated):
        await identities.caller_of({"authorization": f"Bearer {'a' * length}"})
    assert store.authenticated == asked


async def test_good_token_is_remembered_for_a_while(store: RecordingStore) -> None:
    now = 100.0
    port = cast("ApiStore", store)
    identities = Identities(port, clock=lambda: now)

    callers = [await identities.caller_of({"authorization": f"Bearer {TOKEN}"}) for _ in range(3)]
    asked = store.authenticated
    now += REMEMBER_S + 0.1
    await identities.caller_of({"authorization": f"bearer  {TOKEN}"})

    assert callers[2].user_name == "somebody"
    assert (asked, store.authenticated) == (1, 2)


async def test_wrong_token_is_asked_for_every_time(store: RecordingStore) -> None:
    port = cast("ApiStore", store)
    identities = Identities(port)

    for _ in range(2):
        with pytest.raises(Unauthenticated):
            await identities.caller_of({"authorization": "Bearer wrong"})

    assert store.authenticated == 2


async def test_answers_carry_security_headers(client: AsyncClient) -> None:
    answer = await client.get("/healthz", headers={"origin": "https://evil.example"})

    assert answer.headers["x-frame-options"] == "DENY"
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "server" not in answer.headers


async def test_trace_of_the_caller_goes_on(client: AsyncClient) -> None:
    trace_id = "a" * 31 + "b"
    parent = f"00-{trace_id}-00f067aa0ba902b7-01"

    named = await client.get("/healthz", headers={"x-trace-id": trace_id})
    traced = await client.get("/healthz", headers={"traceparent": parent})
    wrong = await client.get("/healthz", headers={"x-trace-id": "x", "traceparent": "y"})

    assert named.headers["x-trace-id"] == traced.headers["x-trace-id"] == trace_id
    assert traced.headers["traceparent"].split("-")[1] == trace_id
    assert len(wrong.headers["x-trace-id"]) == 32


async def test_description_names_every_route_and_document(client: AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    page = await client.get("/docs")

    assert document["openapi"].startswith("3.1")
    post = document["paths"]["/v1/batches"]["post"]
    assert post["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith(
        "BatchDocument"
    )
    assert "JobDocument" in document["components"]["schemas"]
    assert all(
        operation["summary"]
        for operations in document["paths"].values()
        for operation in operations.values()
    )
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "POST /v1/batches" in page.text


async def test_description_tells_what_creates_and_which_headers_count(client: AsyncClient) -> None:
    paths = (await client.get("/openapi.json")).json()["paths"]
    creates = {path for path, found in paths.items() if "201" in _answers_of(found)}
    takes_key = {path for path, found in paths.items() if "Idempotency-Key" in _headers_of(found)}

    update = "/v1/batches/{b}/updates"
    assert creates == {
        "/v1/tokens",
        "/v1/billing-projects",
        "/v1/tenants",
        "/v1/users",
        "/v1/schedules",
        "/v1/schedules/{s}/run-now",
        "/v1/batches",
        "/v1/batches/{b}/groups",
        update,
        f"{update}/{{u}}/jobs",
        f"{update}/{{u}}/groups",
    }
    assert takes_key == {
        *creates,
        "/v1/batch-actions",
        "/v1/batches/{b}/retry",
        "/v1/batches/{b}/resubmit",
        "/v1/sources/{source}/rerun",
        "/v1/conditions/{c}/release",
        *(
            f"/v1/batches/{{b}}/jobs/{{j}}/{told}"
            for told in ("signal", "message", "extend", "status", "answer-links")
        ),
    }
    assert _headers_of(paths["/v1/events"], "get") == {"Last-Event-ID", "X-Weft-Visit"}


def _answers_of(operations: dict[str, Any]) -> set[str]:
    return set(operations.get("post", {"responses": {}})["responses"])


def _headers_of(operations: dict[str, Any], method: str = "post") -> set[str]:
    parameters = operations.get(method, {"parameters": []})["parameters"]
    return {one["name"] for one in parameters if one["in"] == "header"}


class SlowStore(RecordingStore):
    """A store whose answers are on the way until it is told otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.is_read, self.may_answer = asyncio.Event(), asyncio.Event()
        self.has_revoked = False

    async def authenticate(self, token: str) -> Caller | None:
        found = None if self.has_revoked else await super().authenticate(token)
        self.is_read.set()
        await self.may_answer.wait()
        return found

    async def authenticate_session(self, session: str) -> Caller | None:
        return await self.authenticate(session)


@pytest.mark.parametrize("told", [None, 1, 77])
@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": f"Bearer {TOKEN}"},
        {"cookie": f"weft_session={TOKEN}"},
    ],
    ids=["token", "session"],
)
async def test_who_was_read_before_a_revocation_is_not_remembered_after_it(
    headers: dict[str, str], told: int | None
) -> None:
    """The notice may pass the answer of the database: what is on the way then counts once."""
    store = SlowStore()
    identities = Identities(cast("ApiStore", store))
    asked = asyncio.create_task(identities.caller_of(headers))
    await store.is_read.wait()
    store.has_revoked = True
    identities.forget(told)
    store.may_answer.set()
    assert (await asked).user_name == "somebody"

    with pytest.raises(Unauthenticated):
        await identities.caller_of(headers)

"""What a door says on its paths, outside of its routes, too: refusals and trace ids."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from api import line_door
from api.fakes import TOKEN, RecordingStore, SilentNotices, client_of
from weft.api.app import create_app
from weft.api.http.doors import ApiDoor, DoorPaths
from weft.core.errors import Unavailable
from weft.ports.store import Caller
from weft.settings import Settings

KNOWN = {"authorization": f"Bearer {TOKEN}"}


class _Away(RecordingStore):
    """Its database is away for one token."""

    async def authenticate(self, token: str) -> Caller | None:
        if token == "away":
            raise Unavailable("the database is away", detail="x", hint="x")
        return await super().authenticate(token)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client without a token, of an api with the door of lines and 0.1 requests/s."""
    settings = Settings(home=tmp_path, requests_per_s=0.1)
    app = create_app(_Away(), SilentNotices(), None, settings, doors=[line_door.SERVED])  # type: ignore[arg-type]  # doubles
    async with client_of(app) as found:
        yield found


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "code"),
    [
        ("POST", "/lines", {}, 401, "API.UNAUTHENTICATED"),
        ("GET", "/lines/nowhere", KNOWN, 404, "API.ROUTE_NOT_FOUND"),
        ("GET", "/lines", KNOWN, 405, "API.METHOD_NOT_ALLOWED"),
        ("POST", "/lines", {**KNOWN, "content-length": "999999999999"}, 413, "API.TOO_LARGE"),
        ("POST", "/lines", {"authorization": "Bearer away"}, 503, "API.UNAVAILABLE"),
    ],
)
async def test_a_door_words_every_refusal_on_its_paths(
    client: httpx.AsyncClient, method: str, path: str, headers: dict[str, str], status: int,
    code: str,
) -> None:  # fmt: skip
    answer = await client.request(method, path, headers=headers)

    assert (answer.status_code, answer.text) == (status, f"refused {code} {method}\n")
    assert ("www-authenticate" in answer.headers) == (status == 401)
    assert answer.headers.get("allow") == ("OPTIONS, POST" if status == 405 else None)


async def test_a_door_words_too_many_requests(client: httpx.AsyncClient) -> None:
    answers = [await client.get("/lines", headers=KNOWN) for _ in range(3)]

    assert answers[-1].text == "refused API.RATE_LIMIT_EXCEEDED GET\n"
    assert answers[-1].headers["retry-after"] == "10"


async def test_refusals_on_other_paths_stay_problem_documents(client: httpx.AsyncClient) -> None:
    for path in ("/linesman", "/v1/nowhere"):
        answer = await client.get(path)

        assert answer.headers["content-type"] == "application/problem+json"


async def test_a_foreign_trace_id_is_echoed_beside_ours(client: httpx.AsyncClient) -> None:
    for given, echoed in [
        ("order 7/é", "line-new"),
        ("order 7", "order 7"),
        ("x" * 100, "x" * 100),
        ("x" * 101, "line-new"),
        (" ", "line-new"),
        (None, "line-new"),
    ]:
        headers = {} if given is None else {b"x-line": given.encode()}
        answer = await client.post("/lines", headers=headers)
        elsewhere = await client.get("/v1/batches", headers=headers)

        assert answer.headers["x-line"] == echoed
        assert len(answer.headers["x-trace-id"]) == 32
        assert "x-line" not in elsewhere.headers


def test_of_two_doors_the_longer_path_wins() -> None:
    doors = [ApiDoor(name=name, routes=(), paths=(path,)) for name, path in
             (("jobs", "/jobs"), ("second", "/jobs/v2"))]  # fmt: skip
    paths = DoorPaths(doors)

    found = [paths.door_of(path) for path in ("/jobs", "/jobs/7", "/jobs/v2/7", "/jobsx", "/")]
    assert [one and one.name for one in found] == ["jobs", "jobs", "second", None, None]

"""Further doors: a second wire format, its paths, and a door of a foreign package."""

import errno
import gzip
import json
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NoReturn

import asyncpg
import httpx
import pytest
from httpx import AsyncClient
from structlog.testing import capture_logs

from api import line_door
from api.fakes import TOKEN, RecordingStore, SilentNotices, client_of
from api.live import LiveApi, make_user
from api.test_bad_input import BODIES
from cases import cases
from plugins.package import install
from weft.api.app import create_app
from weft.api.http.doors import ApiDoor, Asked, DoorPaths
from weft.api.http.problem_documents import as_weft_error
from weft.cli.app import all_commands, run_command
from weft.core.errors import Unavailable
from weft.ports.plugins import PluginGroup
from weft.ports.store import Caller
from weft.run.doors import api_doors, callback_forms, client_doors, installed_doors
from weft.settings import Settings

LINES_MAX = 150


@pytest.fixture
async def door(database: dict[str, str], tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client of an api with the door of lines beside the routes of `/v1`."""
    await make_user(database["admin"])
    live = LiveApi(database["weft_api"], Settings(home=tmp_path), doors=[line_door.SERVED])
    async with live, live.client() as client:
        yield client


async def _say(door: httpx.AsyncClient, *lines: str, **headers: str) -> list[str]:
    answer = await door.post("/lines", content="\n".join(lines), headers=headers)
    assert answer.status_code == 200
    return answer.text.splitlines()


async def test_a_door_submits_reads_and_cancels(door: httpx.AsyncClient) -> None:
    submitted = await _say(door, "submit nightly default", "a: echo 1", "echo 2")
    (shown,) = await _say(door, "show b1")
    jobs = await _say(door, "jobs b1")
    cancelled = [await _say(door, "cancel b1") for _ in range(2)]
    over_http = (await door.get("/v1/batches/b1")).json()
    spec = (await door.get("/v1/batches/b1/jobs/1")).json()["spec"]

    assert submitted == ["new b1 jobs 2"]
    assert shown == "b1 nightly running 0/2"
    assert jobs == ["j1 a ready", "j2 - ready"]
    assert cancelled == [["b1 cancelled"], ["b1 was cancelled"]]
    assert (over_http["name"], over_http["cancelled"]) == ("nightly", True)
    assert spec["command"] == ["echo", "1"]


async def test_a_door_asks_what_no_query_can_say(door: httpx.AsyncClient) -> None:
    await _say(door, "submit nightly default", "true", "a: echo 1", "true", "b: true")

    assert await _say(door, "every b1 2") == ["j2 a ready", "j4 b ready"]


async def test_a_door_has_the_same_idempotency(door: httpx.AsyncClient) -> None:
    first, again = [
        await _say(door, "submit one default", "true", **{"x-once": "k"}) for _ in range(2)
    ]
    (other,) = await _say(door, "submit two default", "true", **{"x-once": "k"})

    assert (first, again) == (["new b1 jobs 1"], ["known b1 jobs 1"])
    assert other.startswith("refused API.IDEMPOTENCY_CONFLICT")


async def test_a_batch_knows_its_door_and_its_foreign_trace(
    door: httpx.AsyncClient, admin: asyncpg.Connection
) -> None:
    await _say(door, "submit one default", "true", **{"x-once": "k", "x-line": "order 7"})
    await _say(door, "submit two default", "true", **{"x-line": "x" * 101})
    document = {"name": "three", "billing_project": "default"}
    await door.post("/v1/batches", json=document, headers={"idempotency-key": "k"})
    text = "SELECT door, foreign_trace, idempotency_key FROM weft.batch ORDER BY batch_id"
    rows = [tuple(row) for row in await admin.fetch(text)]

    assert rows == [
        ("lines", "order 7", "lines k"),
        ("lines", "line-new", None),
        (None, None, "k"),
    ]


async def test_a_door_gets_the_same_refusals(door: httpx.AsyncClient) -> None:
    unknown = await _say(door, "show b7")
    project = await _say(door, "submit x nobodys", "true")
    nul, size = await _say(door, "submit x default", "a\0b: true"), await _say(door, "")

    assert unknown[0].startswith("refused API.BATCH_NOT_FOUND")
    assert project[0].startswith("refused API.PROJECT_NOT_FOUND")
    assert project[1].startswith("at /billing_project")
    assert nul[1].startswith("at /jobs/0/name")
    assert size[0].startswith("refused API.INVALID_REQUEST")


def test_a_door_is_small_and_uses_no_route() -> None:
    text = Path(line_door.__file__).read_text(encoding="utf-8")

    assert text.count("\n") < LINES_MAX
    assert "weft.api.routes" not in text
    assert ".store" not in text


KNOWN = {"authorization": f"Bearer {TOKEN}"}


class _Away(RecordingStore):
    """Its database is away for one token. For licences the disk of the api has no room."""

    async def authenticate(self, token: str) -> Caller | None:
        if token == "away":
            raise Unavailable("the database is away", detail="x", hint="x")
        return await super().authenticate(token)

    async def list_licences(self, caller: Caller) -> NoReturn:
        raise OSError(errno.ENOSPC, "no space", caller.user_name)


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
    client: httpx.AsyncClient,
    method: str,
    path: str,
    headers: dict[str, str],
    status: int,
    code: str,
) -> None:
    answer = await client.request(method, path, headers=headers)

    assert (answer.status_code, answer.text) == (status, f"refused {code} {method}\n")
    assert ("www-authenticate" in answer.headers) == (status == 401)
    assert ("retry-after" in answer.headers) == (status >= 500)
    assert answer.headers.get("allow") == ("OPTIONS, POST" if status == 405 else None)


def test_foreign_clients_hear_of_a_full_disk_as_of_what_passes() -> None:
    full, asked = as_weft_error(OSError(errno.ENOSPC, "no space")), Asked("POST", "/", {})
    refusals = {one.name: one.refuse(full, asked).status for one in api_doors() if one.refuse}

    assert refusals == {"aloe": 503, "hail": 503, "jobweaver": 507, "tes": 503}


async def test_a_full_disk_of_the_api_is_in_its_log(client: httpx.AsyncClient) -> None:
    with capture_logs() as logs:
        answer = await client.get("/v1/licences", headers=KNOWN)

    full = [(one["path"], one["error"]) for one in logs if one["event"] == "request.disk_full"]
    assert full == [("/v1/licences", "[Errno 28] no space: 'somebody'")]
    assert (answer.status_code, "no space" in answer.text) == (507, False)


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
    doors = [
        ApiDoor(name=name, routes=(), paths=(path,))
        for name, path in (("jobs", "/jobs"), ("second", "/jobs/v2"))
    ]
    paths = DoorPaths(doors)

    found = [paths.door_of(path) for path in ("/jobs", "/jobs/7", "/jobs/v2/7", "/jobsx", "/")]
    assert [one and one.name for one in found] == ["jobs", "jobs", "second", None, None]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the door of lines, which nobody has without its package."""
    assert "lines-config" not in all_commands()
    install(tmp_path / "site", monkeypatch, doors="lines = api.line_door:DOOR")
    for found in (installed_doors, api_doors):
        found.cache_clear()
    yield
    for found in (installed_doors, api_doors):
        found.cache_clear()


@pytest.mark.usefixtures("installed")
def test_each_role_gets_its_part_of_an_installed_door() -> None:
    document = {"name": "nightly", "state": "success"}

    for group in (name for name in entry_points().groups if name.startswith("weft.")):
        assert PluginGroup(group, "").names() == tuple(sorted(entry_points(group=group).names))
    assert line_door.DOOR in installed_doors()
    assert line_door.SERVED in api_doors()
    assert callback_forms()["lines"].document(document, "k") == "nightly success k"
    assert client_doors()["lines-config"] is line_door.DOOR


@pytest.mark.usefixtures("installed")
def test_the_command_line_offers_what_an_installed_door_brings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WEFT_URL", "http://weft.example:9")
    monkeypatch.setenv("WEFT_TOKEN", "t")
    folder = tmp_path / "lines"

    assert all_commands()["lines-config"] == "Write a key."
    assert run_command(["lines-config", "--help"]) == 0
    assert "Write a key to a file." in capsys.readouterr().out
    assert run_command(["lines-config", str(folder)]) == 0
    assert (folder / "key.txt").read_text() == "t"
    assert (folder / "key.txt").stat().st_mode & 0o777 == 0o600
    assert "export LINES_URL=http://weft.example:9" in (folder / "env").read_text()
    assert "unset" not in (folder / "env").read_text()


LIVE_DOORS = api_doors()
JSON = {"content-type": "application/json"}
TASKS = "/ga4gh/tes/v1/tasks"
DOORS = {
    "jobweaver": ("/api/jobs", "errorCode"),
    "agave": ("/jobs/v2", "message"),
    "tes": (TASKS, "detail"),
}
TOO_MANY = 17 << 20
"""Bytes: a MiB more than a body may have."""
STEPS = {"jobType": "SIMULATION", "payload": {"steps": []}, "maxRetryCount": 0}
WEAVER_BODIES = [
    b'{"jobType": "SIMULATION", "payload": {"steps": []}, "maxRetryCount": 1e400}',
    b'{"jobType": "SIMULATION", "payload": {"steps": []}, "maxRetryCount": 1' + b"0" * 5000 + b"}",
    b'{"jobType": "SIMULATION", "payload": {"steps": [{"action": "LOG", "message": "a\\u0000"}]}}',
    b'{"jobType": "SIMULATION", "payload": {"steps": {"a": 1}}, "maxRetryCount": 0}',
    json.dumps(STEPS).encode("utf-16"),
    b"\xef\xbb\xbf" + json.dumps(STEPS).encode(),
]
HOSTILE = (
    "'; DROP TABLE weft.batch; --",
    "' OR '1'='1",
    "%",
    "_",
    "\\",
    "x' UNION SELECT 1",
    "$1",
    "{0}",
    "1) OR (1=1",
    "a' || pg_sleep(9) || '",
)
FIELDS = ("name", "appId", "id", "owner", "status", "archivePath", "inputs", "endTime", "runtime")


@pytest.fixture
async def untouched(http: AsyncClient) -> AsyncIterator[AsyncClient]:
    """Give a client; see at the end that no job has come."""
    yield http
    assert (await http.get("/v1/batches")).json()["items"] == []


def check(answer: httpx.Response, door: str, what: object) -> None:
    assert 400 <= answer.status_code < 500, (what, answer.text)
    assert answer.json()[DOORS[door][1]], (what, answer.text)


@cases("door", DOORS)
async def test_bodies_that_cannot_be_read_are_refused_in_the_form_of_the_door(
    untouched: AsyncClient, door: str
) -> None:
    """Not JSON, too deep, too large a number, broken texts, and other media than JSON."""
    path, _ = DOORS[door]
    for body in [b"", *BODIES["application/json"], *WEAVER_BODIES]:
        check(await untouched.post(path, content=body, headers=JSON), door, body[:60])
    bomb = gzip.compress(b" " * 50_000_000)
    packed = await untouched.post(path, content=bomb, headers={**JSON, "content-encoding": "gzip"})
    check(packed, door, "a bomb")
    for media in ("application/xml", "text/plain", "multipart/form-data; boundary=x"):
        answer = await untouched.post(path, content=b"<a/>", headers={"content-type": media})
        check(answer, door, media)


@cases("door", DOORS)
async def test_bodies_beyond_the_limit_are_refused(untouched: AsyncClient, door: str) -> None:
    """By their length, and without one."""
    path, _ = DOORS[door]

    async def without_a_length() -> AsyncIterator[bytes]:
        for _ in range(TOO_MANY >> 19):
            yield b" " * (1 << 20)

    for content in (b" " * TOO_MANY, without_a_length()):
        answer = await untouched.post(path, content=content, headers=JSON)
        assert answer.status_code == 413, answer.text
        check(answer, door, "a MiB more")


@pytest.mark.heavy
async def test_texts_of_searches_are_only_values(http: AsyncClient) -> None:
    """In each field, order and path; of JobWeaver, too."""
    headers = {"idempotency-key": "1"}
    made = await http.post("/api/jobs", json=STEPS, headers=headers)
    assert made.status_code == 202
    wrong: dict[str, Any] = {}
    for text in HOSTILE:
        asked = [("/jobs/v2", {field: text}) for field in FIELDS]
        asked += [("/jobs/v2", {f"{field}.like": text}) for field in ("name", "appId", "owner")]
        asked += [("/jobs/v2", {"sortBy": text}), ("/jobs/v2", {"filter": text})]
        asked += [(f"/jobs/v2/search/name/{text.replace('/', '')}", {}), (f"/jobs/v2/{text}", {})]
        asked += [("/internal/jobs", {name: text}) for name in ("status", "sort", "page", "size")]
        asked += [(TASKS, {"name_prefix": text, "tag_key": text}), (f"{TASKS}/{text}", {})]
        asked += [("/api/jobs", {"type": text}), (f"/internal/executions/{text}", {})]
        for path, query in asked:
            answer = await http.get(path, params=query)
            if answer.status_code >= 500 or made.json()["jobId"] in answer.text:
                wrong[f"{path} {query}"] = answer.text
    assert wrong == {}
    listed = (await http.get("/api/jobs")).json()["jobs"]
    assert [one["id"] for one in listed] == [made.json()["jobId"]]

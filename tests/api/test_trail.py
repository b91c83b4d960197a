"""The trail over HTTP: who is in it, what is not, and who may read it."""

import asyncio
from datetime import datetime

import msgspec
import pytest
from httpx import AsyncClient

from api.live import TOKEN, Commands, Dsns, LiveApi, add, trail
from api.test_tenants import create
from weft.aio import Client

TRACE = "c0ffee00" * 4


async def test_entry_says_who_what_when_and_from_where(http: AsyncClient, database: Dsns) -> None:
    made = await http.post("/v1/batches", json={"jobs": [{}]}, headers={"x-trace-id": TRACE})
    b = made.json()["id"]
    await http.get(f"/v1/batches/{b}")
    await http.post(f"/v1/batches/b{b}/cancel", json={})
    await http.post("/v1/queue-test", json={"jobs": [{}]})
    one, two = await trail(http, database)
    who = (await http.get("/v1/whoami")).json()

    facts = ("user", "tenant", "action", "path", "address", "batch_id", "refused")
    assert [one[name] for name in facts] == [
        "tester",
        "local",
        "create_batch",
        "/v1/batches",
        "127.0.0.1",
        b,
        None,
    ]
    assert (one["trace_id"], one["token_id"], one["number"]) == (TRACE, who["token_id"], 1)
    assert (two["action"], two["path"], two["batch_id"], two["number"]) == (
        "cancel_batch",
        f"/v1/batches/b{b}/cancel",
        b,
        2,
    )


async def test_of_an_update_the_commit_is_recorded(http: AsyncClient, database: Dsns) -> None:
    b = (await http.post("/v1/batches", json={})).json()["id"]
    path = f"/v1/batches/{b}/updates"
    await http.post(path, json={"n_jobs": 2, "n_groups": 1})
    await http.post(f"{path}/1/groups", json={"first": 1, "groups": [{"name": "g"}]})
    for n in (1, 2):
        await http.post(f"{path}/1/jobs", json={"first": n, "jobs": [{}]})
    await http.post(f"{path}/1/commit", json={})

    assert [one["action"] for one in await trail(http, database)] == [
        "create_batch",
        "create_update",
        "commit_update",
    ]


async def test_refused_changes_are_recorded_once_a_minute(
    http: AsyncClient, database: Dsns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the guard or by what they would give; none that only reads: nobody can fill the disk."""
    boss = await add(http, "boss", role="tenant-admin")
    eve = await add(http, "eve")
    codes = [
        (await http.put("/v1/pools", json={"pools": []}, headers=eve)).status_code,
        (await http.get("/v1/trail", headers=eve)).status_code,
        (await http.get("/v1/trail?all_tenants=true", headers=boss)).status_code,
        (
            await http.post("/v1/users", json={"name": "x", "role": "admin"}, headers=boss)
        ).status_code,
        (await http.put("/v1/pools", json={"pools": []}, headers=eve)).status_code,
        (await http.put("/v1/pools", json={"pools": []}, headers=boss)).status_code,
    ]
    monkeypatch.setattr("weft.api.http.trail.REFUSED_AGAIN_S", 0)
    codes.append((await http.put("/v1/pools", json={"pools": []}, headers=eve)).status_code)
    found = (await trail(http, database))[2:]

    assert codes == [403] * 7
    assert [(one["user"], one["action"], one["refused"]) for one in found] == [
        ("eve", "save_pools", "API.RIGHT_MISSING"),
        ("boss", "add_user", "API.RIGHT_MISSING"),
        ("boss", "save_pools", "API.RIGHT_MISSING"),
        ("eve", "save_pools", "API.RIGHT_MISSING"),
    ]


async def test_logins_and_logouts_of_browsers_are_recorded(
    http: AsyncClient, api: LiveApi, database: Dsns
) -> None:
    """With the number of the session; no login that is refused, or logout of nobody."""
    url = (await http.post("/v1/login-links", json={})).json()["url"]
    code = {"code": url.partition("code=")[2]}
    async with AsyncClient(base_url=api.url, headers={"origin": api.url}) as browser:
        page = await browser.get(url)
        codes = [(await browser.post("/login", data=code)).status_code for _ in range(2)]
        who = (await browser.get("/v1/whoami")).json()
        for _ in range(2):
            await browser.post("/logout", data={"csrf_token": who["csrf_token"]})
    found = (await trail(http, database))[1:]

    assert f"Log in as <bdi>{who['user']}</bdi> " in page.text
    assert codes == [303, 401]
    assert [(one["action"], one["user"], one["token_id"]) for one in found] == [
        ("log_in", who["user"], who["token_id"]),
        ("log_out", who["user"], who["token_id"]),
    ]
    assert code["code"] not in str(found)


async def test_pipelined_request_is_not_recorded_as_the_one_before(
    http: AsyncClient, api: LiveApi, database: Dsns
) -> None:
    """Else a bunch, which is not recorded, would be one that was refused before."""
    b = (await http.post("/v1/batches", json={})).json()["id"]
    await http.post(f"/v1/batches/{b}/updates", json={"n_jobs": 1})
    body = b'{"first": 1, "jobs": [{}]}'
    texts = (("/v1/tokens", b"{"), (f"/v1/batches/{b}/updates/1/jobs", body))
    reader, writer = await asyncio.open_connection("127.0.0.1", api.port)
    for path, content in texts:
        writer.write(
            f"POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n"
            "content-type: application/json\r\n"
            f"content-length: {len(content)}\r\n\r\n".encode()
            + content
        )
    answer = b""
    async with asyncio.timeout(60):
        while answer.count(b"HTTP/1.1 ") < 2 or not answer.endswith(b"}"):
            answer += await reader.read(65536)
    writer.close()

    assert [one[:3] for one in answer.split(b"HTTP/1.1 ")[1:]] == [b"400", b"201"], answer
    assert [one["action"] for one in await trail(http, database)] == [
        "create_batch",
        "create_update",
    ]


async def test_tenants_see_their_own_trail(http: AsyncClient, database: Dsns) -> None:
    ann = await create(http, "acme")
    await http.post("/v1/batches", json={}, headers=ann)
    theirs = await trail(http, database, headers=ann)
    ours = await trail(http, database)
    both = await trail(http, database, "?all_tenants=true")

    assert [(one["tenant"], one["user"]) for one in theirs] == [("acme", "ann")]
    assert [one["action"] for one in ours] == ["create_tenant"]
    assert [one["number"] for one in both] == [1, 2]
    assert ann["authorization"].partition(" ")[2] not in str(both)


async def test_change_of_what_jobs_may_choose_is_recorded(
    http: AsyncClient, database: Dsns
) -> None:
    """Each list by itself, and who tried without the right."""
    ann = await create(http, "acme")
    eve = (await http.post("/v1/users", json={"name": "eve"}, headers=ann)).json()["token"]
    path, lists = "/v1/tenants/acme", ({"image": ["docker://here/*"]}, {"image": None})
    for allowed in lists:
        answer = await http.patch(path, json={"allowed": allowed}, headers=ann)
        assert answer.status_code == 200, answer.text
    tried = await http.patch(
        path, json={"allowed": lists[1]}, headers={"authorization": f"Bearer {eve}"}
    )
    found = (await trail(http, database, headers=ann))[1:]

    assert tried.status_code == 403
    assert [(one["user"], one["action"], one["path"], one["refused"]) for one in found] == [
        ("ann", "set_tenant", path, None),
        ("ann", "set_tenant", path, None),
        ("eve", "set_tenant", path, "API.RIGHT_MISSING"),
    ]


async def test_trail_is_read_in_pages_with_filters(http: AsyncClient, database: Dsns) -> None:
    for name in ("a", "b", "c"):
        await http.post("/v1/tokens", json={"name": name})
    one = (await trail(http, database))[1]
    first = (await http.get("/v1/trail?limit=2")).json()
    rest = (await http.get(f"/v1/trail?limit=2&cursor={first['cursor']}")).json()
    since = (await http.get("/v1/trail", params={"from": one["at"]})).json()
    second = (await http.get("/v1/trail?number=2&action=create_token")).json()["items"]
    others = (await http.get("/v1/trail?action=log_in")).json()["items"]
    wrong = [
        (await http.get(f"/v1/trail?{query}")).status_code
        for query in (
            "from=yesterday",
            "from=2026-01-01T00:00:00",
            "from=0001-01-01T00:00Z",
            "number=0",
            "batch=x",
            "who=me",
            f"user=x&cursor={first['cursor']}",
        )
    ]

    assert [entry["number"] for entry in first["items"] + rest["items"]] == [3, 2, 1]
    assert [entry["number"] for entry in since["items"]] == [3, 2]
    assert (second, others, wrong) == ([one], [], [400] * 7)


async def test_clients_and_the_command_line_read_the_trail(
    http: AsyncClient, api: LiveApi, database: Dsns, command: Commands
) -> None:
    b = (await http.post("/v1/batches", json={})).json()["id"]
    await http.post("/v1/tokens", json={"name": "x"})
    (made, _) = await trail(http, database)
    start = datetime.fromisoformat(made["at"])
    async with Client(url=api.url, token=TOKEN) as client:
        all_ = [one async for one in client.list_trail(since=start, all_tenants=True)]
        ours = [one async for one in client.list_trail(user="tester", batch=b)]
    words = ["trail", "--since", "1h", "--batch", f"b{b}", "--limit", "1"]
    table, document = [await command(*words, *more) for more in ([], ["--json"])]

    assert [one["number"] for one in all_] == [2, 1]
    assert ours == [made]
    assert (table[0], document[0]) == (0, 0)
    assert "create_batch" in table[1]
    assert msgspec.json.decode(document[1]) == [made]

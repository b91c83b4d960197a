"""Sources over HTTP, and jobs of their items: submitted as the owner, once for each item."""

import contextlib
import json
from datetime import UTC, datetime
from typing import Any

import httpx

from api.live import LiveApi, add, as_admin, leading
from cases import cases
from weft.core.errors import Internal
from weft.sql import text_of

SETUP = """
[source.scenes]
kind = "directory"
path = "/data/in"
job = "snow"

[job.snow]
command = ["true"]
env = { MODE = "init" }
"""
TOML = {"content-type": "application/toml"}


async def apply(http: httpx.AsyncClient, text: str = SETUP) -> None:
    answer = await http.put("/v1/setups/snow", content=text, headers=TOML)
    assert answer.status_code == 200, answer.text


async def find(database: dict[str, str], *keys: str, **fields: object) -> None:
    """Let a driver find items."""
    async with leading(database["weft_driver"]) as (store, epoch):
        (due,) = await store.due_sources(epoch, (), limit=9)
        found = [{"key": key, "fields": {"tile": key, **fields}} for key in keys]
        assert await store.store_items(
            epoch, due, found, cursor=None, next_in_s=0, error=None
        ) == len(keys)


async def items(http: httpx.AsyncClient, query: str = "") -> dict[str, Any]:
    answer = await http.get(f"/v1/sources/scenes/items{query}")
    assert answer.status_code == 200, answer.text
    return {one["key"]: one["job"] or one["state"] for one in answer.json()["items"]}


async def audit(database: dict[str, str]) -> None:
    assert await as_admin(database, text_of("audit", "items_have_jobs")) == []


async def test_items_become_jobs_of_the_batch_of_the_day(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    await apply(http)
    await find(database, "b", "a")
    assert await items(http) == {"a": "new", "b": "new"}
    await api.app.beside[0].submit_due()
    await find(database, "c; rm -rf /", note="$(id)")
    await api.app.beside[0].submit_due()

    assert await items(http) == {"b": "b1.j1", "a": "b1.j2", "c; rm -rf /": "b1.j3"}
    job = (await http.get("/v1/batches/1/jobs/3")).json()
    env = job["spec"]["env"]
    assert job["spec"]["command"] == ["true"]
    assert env["MODE"] == "init"
    assert env["WEFT_ITEM_ID"] == job["name"] == "c; rm -rf /"
    assert json.loads(env["WEFT_ITEM"]) == {
        "key": "c; rm -rf /",
        "tile": "c; rm -rf /",
        "note": "$(id)",
    }
    batch = (await http.get("/v1/batches/1")).json()
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    assert batch["attributes"] == {"source": "scenes", "day": day}
    assert (await http.get("/v1/sources/scenes")).json()["n_items"] == {"job": 3}
    assert await items(http, "?state=refused") == {}
    await audit(database)


async def test_api_that_dies_on_the_way_is_replaced(
    api: LiveApi,
    http: httpx.AsyncClient,
    database: dict[str, str],
    monkeypatch: Any,  # noqa: ANN401
) -> None:
    """Before the submission, and between it and its record; also if it would be refused then."""
    await apply(http)
    serve = api.app.beside[0]
    lease = "UPDATE weft.source SET taken_until = now() - interval '1 s'"

    async def dies(*_: object, **__: object) -> None:
        raise Internal("killed")

    for step in ("create_batch", "end_items"):
        await find(database, f"{step} 1", f"{step} 2")
        with monkeypatch.context() as patched:
            if step == "end_items":
                patched.setattr(api.store, "end_items", dies)
            else:
                patched.setattr("weft.submission.submit.create_batch", dies)
            patched.setattr(api.store, "postpone_items", dies)
            with contextlib.suppress(Internal):
                await serve.submit_due()
        await as_admin(database, lease)
        await serve.submit_due()
    assert await items(http) == {
        "create_batch 1": "b1.j1",
        "create_batch 2": "b1.j2",
        "end_items 1": "b1.j3",
        "end_items 2": "b1.j4",
    }
    await find(database, "late 1", "late 2")
    with monkeypatch.context() as patched:
        patched.setattr(api.store, "end_items", dies)
        patched.setattr(api.store, "postpone_items", dies)
        with contextlib.suppress(Internal):
            await serve.submit_due()
    assert (await http.get("/v1/batches/1")).json()["n_jobs"] == 6
    await http.patch("/v1/users/tester/quota", json={"jobs": 1})
    await as_admin(database, lease)
    await serve.submit_due()
    assert (await http.get("/v1/batches/1")).json()["n_jobs"] == 6
    assert (await items(http))["late 2"] == "b1.j6"
    await audit(database)


async def test_batch_that_is_gone_is_followed_by_another(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    await apply(http)
    for n, how in enumerate(("cancel", "delete"), 1):
        await find(database, f"{how} 1")
        await api.app.beside[0].submit_due()
        if how == "cancel":
            answer = await http.post(f"/v1/batches/{n}/cancel", json={})
        else:
            answer = await http.delete(f"/v1/batches/{n}")
        assert answer.status_code < 300, answer.text
        await find(database, f"{how} 2")
        await api.app.beside[0].submit_due()
    found = await items(http)
    assert (found["cancel 1"], found["cancel 2"]) == ("b1.j1", "b2.j1")
    assert (found["delete 1"], found["delete 2"]) == ("b2.j2", "b3.j1")
    await audit(database)


async def test_what_exceeds_a_quota_waits_and_says_so(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    await apply(http)
    me = (await http.get("/v1/whoami")).json()["user"]
    answer = await http.patch(f"/v1/users/{me}/quota", json={"jobs": 3})
    assert answer.status_code == 200, answer.text
    await find(database, *"abcdef")
    await api.app.beside[0].submit_due()
    found = await items(http)
    batch = found["a"].partition(".")[0]
    assert [found[key] for key in "abc"] == [f"{batch}.j{n}" for n in (1, 2, 3)]
    assert {found[key] for key in "def"} <= {"waiting", "ready"}
    await http.patch(f"/v1/users/{me}/quota", json={"jobs": None})
    await as_admin(database, "UPDATE weft.source_item SET due_at = now() WHERE due_at IS NOT NULL")
    await as_admin(database, "UPDATE weft.source SET work_at = now() WHERE work_at IS NOT NULL")
    await api.app.beside[0].submit_due()
    assert {*(await items(http)).values()} == {f"{batch}.j{n}" for n in range(1, 7)}
    await audit(database)


CONFIGURE = """
[configure.snow]
cancel_if = "item.cloud > 90"
priority = "item.cloud < 10 ? 'nrt' : 'delayed'"
priorities = ["nrt", "delayed", "reprocessing"]
env = { TILE = "item.tile", MODE = "'nominal'" }
"""


async def test_items_are_configured_by_their_fields(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    """One that cannot be is refused and says why; the others go on."""
    await apply(http, SETUP + CONFIGURE)
    await find(database, "a", cloud=5)
    await find(database, "b", cloud=95)
    await find(database, "c", cloud=50)
    await find(database, "d")
    await find(database, "e", cloud="much")
    await api.app.beside[0].submit_due()
    found = await items(http)
    assert found == {"a": "b1.j1", "b": "cancelled", "c": "b1.j2", "d": "refused", "e": "refused"}
    page = (await http.get("/v1/sources/scenes/items?state=refused")).json()
    assert all(one["reason"].startswith("cancel_if: ") for one in page["items"])
    first, second = [(await http.get(f"/v1/batches/1/jobs/{j}")).json() for j in (1, 2)]
    assert (first["priority"], first["attributes"]["priority_name"]) == (2, "nrt")
    assert second["priority"] == 1
    assert (first["spec"]["env"]["TILE"], first["spec"]["env"]["MODE"]) == ("a", "nominal")
    await audit(database)


async def test_bad_templates_are_refused_with_line_and_field(http: httpx.AsyncClient) -> None:
    answer = await http.put(
        "/v1/setups/snow", content=SETUP.replace('["true"]', "3"), headers=TOML
    )
    assert answer.status_code == 400
    (problem,) = answer.json()["errors"]
    assert problem["pointer"] == "/job/snow/command"
    assert problem["message"].startswith("line 8: ")
    assert (await http.get("/v1/sources")).json()["items"] == []


async def test_an_unknown_lifecycle_is_refused_with_its_line(http: httpx.AsyncClient) -> None:
    text = SETUP.replace('job = "snow"', 'job = "snow"\nlifecycle = "none"')
    answer = await http.put("/v1/setups/snow", content=text, headers=TOML)

    assert answer.status_code == 400
    (said,) = answer.json()["errors"]
    assert said["pointer"] == "/source/scenes/lifecycle"
    assert said["message"].startswith('line 6: lifecycle "none" does not exist')


LIFECYCLE = """
[lifecycle.scene]
statuses = ["new", "done"]
first = ["new"]
[lifecycle.scene.next]
new = ["done"]
[lifecycle.scene.core]
new = ["pending", "ready"]
done = "success"
[configure.snow.series]
key = "item.tile"
order = "item.day"
until = "done"
"""


async def test_a_changed_lifecycle_is_that_of_the_next_items(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    text = SETUP.replace('job = "snow"', 'job = "snow"\nlifecycle = "scene"')
    text += LIFECYCLE.partition("[configure")[0]
    for key in ("a", "b", "c"):
        await apply(http, text)
        await find(database, key)
        await api.app.beside[0].submit_due()
        text = text.replace('done = "success"', 'done = ["success", "failed"]')

    assert await items(http) == {"a": "b1.j1", "b": "b2.j1", "c": "b2.j2"}


@cases(
    ("old", "new", "pointer", "what"),
    [
        ('until = "done"', 'until = "donee"', "/configure/snow/series/until", 'mean "done"'),
        ('"done"\n', '"done"\nskip = ["faild"]\n', "/configure/snow/series/skip", '"faild"'),
        ('lifecycle = "scene"', "", "/configure/snow/series/until", "the source names none"),
        (
            'until = "done"',
            (
                'until = "done"\n[sink.hub]\nkind = "http"\nurl = "https://h"\nmessage = "{}"\n'
                'retry = {tries = 2, path = ["lost"]}'
            ),
            "/sink/hub/retry/path",
            'no status "lost"',
        ),
    ],
)
async def test_a_status_that_the_lifecycle_lacks_is_refused(
    http: httpx.AsyncClient, old: str, new: str, pointer: str, what: str
) -> None:
    sink = '\nsink = "hub"' if "sink" in new else ""
    text = SETUP.replace('job = "snow"', f'job = "snow"\nlifecycle = "scene"{sink}') + LIFECYCLE
    if not sink:
        fine = await http.put("/v1/setups/snow", content=text, headers=TOML)
        assert fine.status_code == 200, fine.text

    answer = await http.put("/v1/setups/snow", content=text.replace(old, new), headers=TOML)

    assert answer.status_code == 400
    (said,) = answer.json()["errors"]
    assert (said["pointer"], what in said["message"]) == (pointer, True), said


async def test_nobody_lets_others_run_programs(api: LiveApi, http: httpx.AsyncClient) -> None:
    """An operator owns what they change; only administrators name another owner."""
    await apply(http)
    ops = await add(http, "ops", role="operator")
    me = (await http.get("/v1/whoami")).json()["user"]
    async with api.client(**ops) as other:
        named = SETUP.replace('job = "snow"', f'job = "snow"\nowner = "{me}"')
        answer = await other.put("/v1/setups/snow", content=named, headers=TOML)
        assert answer.status_code == 403, answer.text
        await apply(other)
        assert (await http.get("/v1/sources/scenes")).json()["user"] == me
        await apply(other, SETUP.replace("init", "nominal"))
    assert (await http.get("/v1/sources/scenes")).json()["user"] == "ops"


async def test_setup_is_seen_by_who_sees_its_sources(http: httpx.AsyncClient) -> None:
    """Its file says where they read and what they run."""
    await apply(http)
    una = await add(http, "una")
    assert (await http.get("/v1/setups/snow", headers=una)).status_code == 200
    answer = await http.request("DELETE", "/v1/billing-projects/default/members/una")
    assert answer.status_code == 200, answer.text
    assert (await http.get("/v1/sources/scenes", headers=una)).status_code == 404
    answer = await http.get("/v1/setups/snow", headers=una)
    assert (answer.status_code, answer.json()["code"]) == (404, "API.SETUP_NOT_FOUND")


async def test_nobody_chooses_by_parameters_what_others_run(
    api: LiveApi, http: httpx.AsyncClient
) -> None:
    """Where a parameter stands in an image, its owner or an administrator sets it."""
    line = SETUP.replace('command = ["true"]', 'image = "docker://r.example/snow:${param.tag}"')
    line += '\n[parameters]\ntag = "1"\nclouds = 50\nmode = "a"\nextra = "a"\nlast = "a"\n'
    line += '[configure.snow]\ncancel_if = "item.cloud > param.clouds"\n'
    line += "env = { A = 'param.mode', B = 'param . extra' }\n"
    line += 'attributes.c = """[param // the newest\n.\tlast][0]"""\n'
    await apply(http, line)
    me = (await http.get("/v1/whoami")).json()["user"]
    ops = await add(http, "ops", role="operator")
    async with api.client(**ops) as other:
        assert (await other.put("/v1/parameters/clouds", json={"value": 9})).status_code == 200
        refused = await other.put("/v1/parameters/tag", json={"value": "2"})
        filed = await other.put(
            "/v1/setups/snow", content=line.replace('"1"', '"2"'), headers=TOML
        )
        for name in ("mode", "extra", "last"):
            answer = await other.put(f"/v1/parameters/{name}", json={"value": "b"})
            assert (answer.status_code, answer.json()["code"]) == (403, "API.RIGHT_MISSING"), name
        for answer in (refused, filed):
            assert (answer.status_code, answer.json()["code"]) == (403, "API.RIGHT_MISSING")
            told = f'parameter "tag" chooses what source "scenes" runs as {me}'
            assert answer.json()["title"] == told, answer.text
        assert (await http.get("/v1/parameters/tag")).json()["value"] == "1"
        assert (await http.put("/v1/parameters/tag", json={"value": "3"})).status_code == 200
        await apply(other, line.replace("snow:", "rain:"))
        assert (await other.put("/v1/parameters/tag", json={"value": "4"})).status_code == 200


async def test_wrong_requests_are_refused(http: httpx.AsyncClient) -> None:
    await apply(http)
    answer = await http.get("/v1/sources/gone/items")
    assert answer.json()["code"] == "API.SOURCE_NOT_FOUND"
    answer = await http.put("/v1/setups/other", content=SETUP, headers=TOML)
    assert answer.json()["code"] == "API.SOURCE_TAKEN"
    una = await add(http, "una")
    answer = await http.patch("/v1/sources/scenes", json={"paused": True}, headers=una)
    assert answer.json()["code"] in {"API.SOURCE_OF_ANOTHER", "API.SOURCE_NOT_FOUND"}
    answer = await http.patch("/v1/sources/scenes", json={"paused": True})
    assert (answer.json()["state"], answer.json()["next_at"]) == ("paused", None)


async def test_removing_the_setup_stops_its_sources(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    await apply(http)
    await find(database, "a", "b")
    answer = await http.request("DELETE", "/v1/setups/snow", json={})
    assert answer.status_code == 200, answer.text
    await api.app.beside[0].submit_due()
    assert (await http.get("/v1/sources/scenes")).status_code == 404
    assert (await http.get("/v1/batches")).json()["items"] == []
    await apply(http)
    await api.app.beside[0].submit_due()
    assert await items(http) == {"a": "b1.j1", "b": "b1.j2"}
    await audit(database)


CONFIGURED = (
    SETUP
    + """
[configure.snow]
cancel_if = "item.cloud > param.clouds"
env = { WITHIN = "param.within" }

[parameters]
clouds = 50
"""
)


async def test_job_is_configured_by_parameters_and_knows_their_versions(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    """One that nobody has set lets items wait; one that is changed counts for the next items."""
    await apply(http, CONFIGURED)
    await find(database, "a", cloud=40)
    await api.app.beside[0].submit_due()
    (item,) = (await http.get("/v1/sources/scenes/items")).json()["items"]
    assert item["state"] == "waiting"
    assert item["reason"] == "env.WITHIN: there is no parameter within yet"

    for value in ("60d", "30d"):
        answer = await http.put("/v1/parameters/within", json={"value": value})
        assert answer.status_code == 200, answer.text
    await as_admin(database, "UPDATE weft.source_item SET due_at = now() WHERE due_at IS NOT NULL")
    await as_admin(database, "UPDATE weft.source SET work_at = now()")
    await api.app.beside[0].submit_due()
    await http.put("/v1/parameters/clouds", json={"value": 30})
    await find(database, "b", cloud=40)
    await api.app.beside[0].submit_due()

    assert await items(http) == {"a": "b1.j1", "b": "cancelled"}
    job = (await http.get("/v1/batches/1/jobs/1")).json()
    assert job["spec"]["env"]["WITHIN"] == "30d"
    assert job["attributes"] == {
        "source": "scenes",
        "item": "a",
        "param.clouds": "1",
        "param.within": "2",
    }
    shown = (await http.get("/v1/sources/scenes/items")).json()["items"]
    assert [one["parameters"] for one in shown] == [{"clouds": 2}, {"clouds": 1, "within": 2}]
    answer = await http.put("/v1/parameters/clouds", json={"value": "many"})
    assert answer.json()["code"] == "API.PARAMETER_OF_OTHER_TYPE"
    answer = await http.get("/v1/parameters/gone")
    assert answer.json()["code"] == "API.PARAMETER_NOT_FOUND"
    await audit(database)


async def test_files_of_a_job_are_named_by_its_item(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str]
) -> None:
    text = (
        SETUP
        + """
inputs = [{ from = "file:///data/${param.area}/${item.path}", to = "in" }]
outputs = { "out" = "${param.area}/${item.measured:%Y/%m/%d}/" }
[parameters]
area = "alps"
"""
    )
    await apply(http, text)
    await find(database, "a", path="S2/a.zip", measured="2027-04-13T10:13:47Z")
    await find(database, "b", path="../../etc/passwd", measured="2027-04-13")
    await find(database, "c", path="S2/c.zip", measured="soon")
    await find(database, "d", measured="2027-04-13")
    await api.app.beside[0].submit_due()

    job = (await http.get("/v1/batches/1/jobs/1")).json()
    assert job["spec"]["inputs"][0]["from"] == "file:///data/alps/S2/a.zip"
    assert job["spec"]["outputs"][0]["to"] == "alps/2027/04/13/"
    assert job["attributes"]["param.area"] == "1"
    found = (await http.get("/v1/sources/scenes/items?state=refused")).json()["items"]
    assert {one["key"]: one["reason"] for one in found} == {
        "b": "a file of its job: ${item.path} leads out of its directory",
        "c": "a file of its job: ${item.measured:%Y/%m/%d} is no date",
        "d": "it has no path, which a file of its job needs",
    }

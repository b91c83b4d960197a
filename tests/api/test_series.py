"""Items of a series become jobs one after another, with what is known of the one before."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from httpx import AsyncClient

from api.ask_lines import HRSI
from api.live import Dsns, LiveApi, LiveWorker, as_admin, leading
from api.test_sources import apply, audit, items
from weft.client import aio
from weft.core.states import AttemptKey
from weft.sql import text_of
from weft.telemetry.metrics import REGISTRY

SERIES = """
[source.scenes]
kind = "directory"
path = "/data/in"
job = "snow"

[job.snow]
command = ["true"]
max_attempts = 1

[configure.snow]
cancel_if = "item.cloud > 90"
series = { key = "item.tile", order = "item.day", within = "60d" }
env = { BEFORE = "series.previous != null ? series.previous.out : 'none'" }
attributes = { out = "'L2A/' + item.key" }
"""
UNTIL_MADE = (
    SERIES.replace("max_attempts = 1", "max_attempts = 2")
    .replace('within = "60d"', 'until = "made"')
    .replace('job = "snow"', 'job = "snow"\nlifecycle = "making"', 1)
    + """
[lifecycle.making]
statuses = ["waits", "runs", "made", "over"]
first = ["waits"]

[lifecycle.making.next]
waits = ["runs", "over"]
runs = ["made", "waits", "over"]
made = ["waits", "over"]

[lifecycle.making.core]
waits = ["pending", "ready"]
runs = ["running"]
made = ["running"]
over = ["success", "failed", "error", "cancelled"]
"""
)
DUE = (
    "UPDATE weft.source_item SET due_at = now() WHERE due_at IS NOT NULL",
    "UPDATE weft.source SET work_at = now()",
)


async def find(database: Dsns, **days: str) -> None:
    """Let a driver find scenes of one tile; a name that ends with `x` is cloudy."""
    async with leading(database["weft_driver"]) as (store, epoch):
        (due,) = await store.due_sources(epoch, (), limit=9)
        found = [
            {"key": key, "fields": {"tile": "T", "day": day, "cloud": 99 * key.endswith("x")}}
            for key, day in days.items()
        ]
        await store.store_items(epoch, due, found, cursor=None, next_in_s=0, error=None)


async def look(api: LiveApi, database: Dsns) -> None:
    for text in DUE:
        await as_admin(database, text)
    await api.app.beside[0].submit_due()


async def run(api: LiveApi, database: Dsns, worker: LiveWorker, *, rounds: int = 6) -> None:
    """Let the jobs of items run, and those that come after them."""
    for _ in range(rounds):
        await look(api, database)
        claimed = await worker.claim_and_start()
        await worker.end(claimed)


async def befores(http: AsyncClient) -> dict[str, str]:
    """Return of each item its job, and what that got from the one before it."""
    found = await items(http)
    told = {}
    for key, job in found.items():
        batch, n = job[1:].split(".j")
        env = (await http.get(f"/v1/batches/{batch}/jobs/{n}")).json()["spec"]["env"]
        told[key] = f"{job} after {env['BEFORE'].removeprefix('L2A/')}"
    return told


async def lates(http: AsyncClient) -> list[str]:
    answer = await http.get("/v1/sources/scenes/items?series=T")
    return sorted(one["key"] for one in answer.json()["items"] if one["late"])


async def in_order(database: Dsns) -> Sequence[asyncpg.Record]:
    await audit(database)
    return await as_admin(database, text_of("audit", "series_are_in_order"))


async def reasons(http: AsyncClient) -> dict[str, Any]:
    answer = await http.get("/v1/sources/scenes/items?series=T&state=waiting")
    return {one["key"]: one["reason"] for one in answer.json()["items"]}


async def test_each_waits_for_the_one_before(
    api: LiveApi, http: AsyncClient, database: Dsns, worker: LiveWorker
) -> None:
    """Cloudy scenes and failed ones are passed over; those of one date wait for the same one."""
    await apply(http, SERIES)
    await find(
        database,
        d="2027-04-05",
        a="2027-04-01T10:00:00Z",
        bx="2027-04-03",
        c="2027-04-04",
        c2="2027-04-04",
        old="2026-01-01",
    )
    await look(api, database)
    await look(api, database)
    assert await items(http) == {
        "a": "b1.j1",
        "old": "b1.j2",
        "bx": "cancelled",
        "c": "waiting",
        "c2": "waiting",
        "d": "waiting",
    }
    assert await reasons(http) == {
        "c": "it waits for b1.j1 of series T",
        "c2": "it waits for b1.j1 of series T",
        "d": "it waits for c2 of series T",
    }
    for ready, fails in ((["c", "c2"], ()), (["d"], ("c2",))):
        for claimed in await worker.claim():
            await worker.start([claimed])
            job = (await http.get(f"/v1/batches/1/jobs/{claimed.job_id}")).json()
            await worker.end([claimed], exit_code=int(job["name"] in fails))
        await look(api, database)
        found = await items(http)
        assert all(found[key].startswith("b1.j") for key in ready), found
    jobs = {
        one["name"]: one
        for n in range(1, 6)
        for one in [(await http.get(f"/v1/batches/1/jobs/{n}")).json()]
    }
    assert {name: one["spec"]["env"]["BEFORE"] for name, one in jobs.items()} == {
        "a": "none",
        "old": "none",
        "c": "L2A/a",
        "c2": "L2A/a",
        "d": "L2A/c",
    }
    assert jobs["d"]["attributes"]["series"] == "T"
    await audit(database)


async def test_status_that_a_job_had_before_its_retry_does_not_count(
    api: LiveApi, http: AsyncClient, database: Dsns, worker: LiveWorker
) -> None:
    """The next item waits until the job has it again."""
    await apply(http, UNTIL_MADE)
    await find(database, a="2027-04-01", b="2027-04-02")
    await look(api, database)
    made = {"status": "made", "message": "seen"}
    claimed = await worker.claim_and_start()
    assert (await http.post("/v1/batches/1/jobs/1/status", json=made)).status_code == 200
    await worker.end(claimed, exit_code=1)
    await look(api, database)
    assert await reasons(http) == {"b": "it waits for b1.j1 of series T"}

    claimed = await worker.claim_and_start()
    assert (await http.post("/v1/batches/1/jobs/1/status", json=made)).status_code == 200
    await look(api, database)
    assert await items(http) == {"a": "b1.j1", "b": "b1.j2"}
    assert await in_order(database) == []


def late(word: str) -> str:
    return SERIES.replace('within = "60d"', f'within = "60d", late = "{word}"')


@pytest.mark.parametrize("then", ["ignore", "warn"])
async def test_item_that_comes_late_is_marked(
    then: str, api: LiveApi, http: AsyncClient, database: Dsns, worker: LiveWorker
) -> None:
    """It gets its job; what was made without it stays, unless somebody asks."""
    await apply(http, late(then))
    await find(database, a="2027-04-01", d="2027-04-04", far="2027-08-01")
    await run(api, database, worker)
    await find(database, e="2027-04-05", b="2027-04-02", y="2027-07-31")
    await run(api, database, worker)
    assert await befores(http) == {
        "a": "b1.j1 after none",
        "far": "b1.j2 after none",
        "d": "b1.j3 after a",
        "b": "b1.j4 after a",
        "y": "b1.j5 after none",
        "e": "b1.j6 after d",
    }
    assert await lates(http) == ["b", "y"]
    assert await in_order(database) == []
    await as_admin(database, "UPDATE weft.source_item SET late = false WHERE key = 'b'")
    (wrong,) = await in_order(database)
    assert (wrong["before"], wrong["after"]) == ("b", "d")
    answer = await http.post(
        "/v1/sources/scenes/rerun", json={"series": "T", "from": "2027-04-02"}
    )
    assert answer.json() == {"source": "scenes", "series": "T", "n_items": 5}
    await run(api, database, worker)
    assert await lates(http) == []
    found = await befores(http)
    assert {key: told.split(" after ")[1] for key, told in found.items()} == {
        "a": "none",
        "b": "a",
        "d": "b",
        "e": "d",
        "y": "none",
        "far": "y",
    }
    assert await in_order(database) == []


async def test_what_follows_a_late_item_runs_again(
    api: LiveApi, http: AsyncClient, database: Dsns, worker: LiveWorker
) -> None:
    """In order, as far as each reaches back, and not before the job that it had has ended; a
    cancelled one is decided again, too.
    """
    await apply(http, late("rerun"))
    await find(
        database,
        a="2027-04-01",
        cx="2027-04-03",
        d="2027-04-04",
        far="2027-08-01",
        fare="2027-08-02",
    )
    await run(api, database, worker)
    await find(database, e="2027-04-05")
    await look(api, database)
    (running,) = await worker.claim_and_start()
    await find(database, f="2027-04-06", b="2027-04-02")
    await look(api, database)
    await look(api, database)
    assert await reasons(http) == {
        "d": "it waits for b1.j6 of series T",
        "e": "it waits for b1.j5, its own job before",
        "f": "it waits for e of series T",
    }
    assert await in_order(database) == []
    (first,) = await worker.claim_and_start()
    await worker.end([first])
    await run(api, database, worker)
    assert (await items(http))["d"] == "b1.j7"
    assert set(await reasons(http)) == {"e", "f"}
    await worker.end([running])
    await run(api, database, worker)
    found = await items(http)
    assert found.pop("cx") == "cancelled"
    assert found == {
        "a": "b1.j1",
        "far": "b1.j2",
        "d": "b1.j7",
        "fare": "b1.j4",
        "e": "b1.j8",
        "b": "b1.j6",
        "f": "b1.j9",
    }
    assert await lates(http) == []
    assert await in_order(database) == []


async def test_late_item_and_one_after_what_it_follows_in_one_set(
    api: LiveApi, http: AsyncClient, database: Dsns, worker: LiveWorker
) -> None:
    """The later one does not go on from what runs again."""
    await apply(http, late("rerun"))
    await find(database, a="2027-04-01", d="2027-04-04")
    await run(api, database, worker)
    before = REGISTRY.get_sample_value("weft_items_late_total", {"then": "rerun"}) or 0
    await find(database, e="2027-04-05", b="2027-04-02")
    await run(api, database, worker)
    assert await befores(http) == {
        "a": "b1.j1 after none",
        "b": "b1.j3 after a",
        "d": "b1.j4 after b",
        "e": "b1.j5 after d",
    }
    assert REGISTRY.get_sample_value("weft_items_late_total", {"then": "rerun"}) == before + 1
    assert await in_order(database) == []


async def test_rerun_is_refused_to_others_and_without_a_date(
    api: LiveApi, http: AsyncClient, tmp_path: Path
) -> None:
    await apply(http, SERIES)
    path = "/v1/sources/scenes/rerun"
    answer = await http.post(path, json={"series": "T", "from": "yesterday"})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/from"
    token = http.headers["authorization"].removeprefix("Bearer ")
    async with aio.Client(url=api.url, token=token, home=tmp_path) as client:
        assert (await client.rerun_series("scenes", "none", 0))["n_items"] == 0
        assert [one async for one in client.list_source_items("scenes", series="none")] == []
    answer = await http.post("/v1/sources/none/rerun", json={"series": "T", "from": 0})
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "other"),
    [
        ("POST", "/rerun", {"series": "T", "from": 0}, {"series": "T", "from": 1}),
        (
            "PATCH",
            "",
            {"replay_since": "2020-01-01T00:00:00Z"},
            {"replay_since": "2020-01-02T00:00:00Z"},
        ),
    ],
)
async def test_repeat_with_its_key_lets_nothing_run_again(
    api: LiveApi,
    http: AsyncClient,
    database: Dsns,
    worker: LiveWorker,
    method: str,
    path: str,
    body: dict[str, Any],
    other: dict[str, Any],
) -> None:
    """As the client repeats what got no reply: also when the items have their jobs by then."""
    await apply(http, SERIES)
    await find(database, a="2027-04-01", b="2027-04-02")
    await run(api, database, worker, rounds=3)
    assert await items(http) == {"a": "b1.j1", "b": "b1.j2"}

    async def ask(body: dict[str, Any], key: str) -> httpx.Response:
        headers = {"idempotency-key": key}
        return await http.request(method, f"/v1/sources/scenes{path}", json=body, headers=headers)

    for key, jobs in (
        ("k", ["b1.j3", "b1.j4"]),
        ("k", ["b1.j3", "b1.j4"]),
        ("l", ["b1.j5", "b1.j6"]),
    ):
        answer = await ask(body, key)
        assert answer.status_code == 200
        if path:
            assert answer.json()["n_items"] == 2
        await run(api, database, worker, rounds=3)
        assert await items(http) == dict(zip("ab", jobs, strict=True))
    answer = await ask(other, "k")
    assert (answer.status_code, answer.json()["code"]) == (409, "API.IDEMPOTENCY_CONFLICT")
    assert await items(http) == {"a": "b1.j5", "b": "b1.j6"}


async def test_products_of_the_one_before_are_at_hand(
    api: LiveApi, http: AsyncClient, database: Dsns, worker: LiveWorker
) -> None:
    """Of its last attempt, in their order; one that made none has an empty list."""
    said = """series.previous == null ? 'first' : size(series.previous.products) == 0 ? 'empty'
        : series.previous.products.filter(p, p.type == 'L2A')[0].url"""
    before = """series.previous != null ? series.previous.out : 'none'"""
    await apply(http, SERIES.replace(before, " ".join(said.split())))
    await find(database, a="2027-04-01", b="2027-04-02", c="2027-04-03")
    for products in ([{"type": "FSC"}, {"type": "L2A", "url": "s3://a"}], [], []):
        await look(api, database)
        (one,) = await worker.claim()
        key = AttemptKey(one.batch_id, one.job_id, one.attempt)
        if products:
            await worker.store.record_products(worker.incarnation_id, key, products, inputs=None)
        await worker.start([one])
        await worker.end([one])
    assert await befores(http) == {
        "a": "b1.j1 after first",
        "b": "b1.j2 after s3://a",
        "c": "b1.j3 after empty",
    }


async def test_outputs_of_the_one_before_are_inputs(
    api: LiveApi, http: AsyncClient, database: Dsns, worker: LiveWorker
) -> None:
    """The first has nothing before it, and gets no such input."""
    given = """
inputs = [
    { from = "weft://${series.previous.job}/${series.previous.out}.txt", to = "before" },
    { from = "file:///data/${item.day}", to = "now" },
]
"""
    await apply(http, SERIES.replace("max_attempts = 1\n", given))
    await find(database, a="2027-04-01", b="2027-04-02")
    await run(api, database, worker, rounds=4)
    inputs = [
        [
            one["from"]
            for one in (await http.get(f"/v1/batches/1/jobs/{n}")).json()["spec"]["inputs"]
        ]
        for n in (1, 2)
    ]
    assert inputs == [
        ["file:///data/2027-04-01"],
        ["weft://b1.j1/L2A/a.txt", "file:///data/2027-04-02"],
    ]
    await audit(database)


async def test_wrong_inputs_of_a_series_are_refused(http: AsyncClient) -> None:
    given = 'inputs = [{ from = "weft://${series.previous.job}/a" }]\n'
    text = SERIES.replace("max_attempts = 1\n", given)
    for old, new, what in [
        ("${series.previous.job}/a", "${series.previous.out}/a", "what comes after the address"),
        ("${series.previous.job}/a", "${series.key}/a", "it may have ${series.previous.NAME}"),
        ("series = {", "let = {} #", "there is no series in"),
    ]:
        assert old in text
        answer = await http.put(
            "/v1/setups/snow",
            content=text.replace(old, new),
            headers={"content-type": "application/toml"},
        )
        assert answer.status_code == 400
        assert what in answer.text


async def remove_days(http: AsyncClient, database: Dsns, batch: int) -> None:
    """Delete a batch, and let a driver remove what is left of it."""
    operation = (await http.delete(f"/v1/batches/{batch}")).json()["id"]
    async with leading(database["weft_driver"]) as (store, epoch):
        for _ in range(100):
            answer = (await http.get(f"/v1/operations/{operation}")).json()
            if answer["state"] != "running":
                return
            await store.fold_deltas(epoch)
            await store.sweep("sweep_cancelled", epoch, limit_jobs=1000)
            await store.step("remove_batch", epoch, operation, limit=1000)
    raise AssertionError(operation)


async def test_deleted_days_leave_what_comes_after_them_its_attributes(
    api: LiveApi, http: AsyncClient, database: Dsns, worker: LiveWorker
) -> None:
    await apply(http, SERIES)
    await find(database, a="2027-04-01", b="2027-04-02")
    await look(api, database)
    for exit_code in (0, 1):  # b fails, and leaves nothing
        claimed = await worker.claim_and_start()
        await worker.end(claimed, exit_code=exit_code)
        await look(api, database)
    await as_admin(database, "UPDATE weft.job_label SET name = 'by hand' WHERE batch_id = 1")
    await as_admin(database, "UPDATE weft.batch SET attributes = '{}' WHERE batch_id = 1")
    await remove_days(http, database, 1)

    await find(database, c="2027-04-03")
    await look(api, database)
    job = (await http.get("/v1/batches/2/jobs/1")).json()
    assert job["spec"]["env"]["BEFORE"] == "L2A/a"
    assert await in_order(database) == []


async def test_item_and_its_job_have_one_history(
    api: LiveApi, http: AsyncClient, browser: AsyncClient, database: Dsns, worker: LiveWorker
) -> None:
    """One that waits or is cancelled has dated statuses, too; what both had is told once."""
    line = SERIES.replace('job = "snow"', 'job = "snow"\nlifecycle = "hrsi"', 1)
    await apply(http, line + HRSI)
    await find(database, a="2027-01-01", b="2027-01-02", cx="2027-01-03")
    await look(api, database)
    path = "/v1/sources/scenes/history"

    async def history(key: str) -> list[tuple[str, str | None, str | None]]:
        answer = await http.get(path, params={"key": key})
        assert answer.status_code == 200, answer.text
        rows = answer.json()["items"]
        assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
        return [(row["state"], row["status"], row["job"]) for row in rows]

    waiting = [("new", "initialized", None), ("waiting", "configured", None)]
    assert await history("b") == waiting
    assert await history("cx") == [waiting[0], ("cancelled", "cancelled", None)]
    assert await history("nobody") == []
    await run(api, database, worker)
    (begun, configured, job, *rest) = await history("b")
    ref = "b1.j2"
    assert (begun, configured) == tuple((*row[:2], ref) for row in waiting)
    assert (job, rest[0], rest[-1][:2]) == (
        ("job", None, ref),
        ("ready", "ready", ref),
        ("success", "done"),
    )
    answer = await http.get("/v1/batches/1/jobs/2/history")
    told = [row for row in answer.json()["items"] if "status" in row]
    assert [row["status"] for row in told][:3] == ["initialized", "configured", "ready"]
    assert (told[1]["actor"], "waits for" in told[1]["message"]) == ("source scenes", True)
    page = (await browser.get("/ui/lines/scenes?key=b")).text
    assert ("configured" in page, "/ui/batches/1/jobs/2" in page) == (True, True)


@pytest.mark.heavy
async def test_history_of_an_item_is_bounded(http: AsyncClient, database: Dsns) -> None:
    """However often it runs again."""
    await apply(http, SERIES)
    await find(database, a="2027-01-01")
    again = "UPDATE weft.source_item SET state = '{}', due_at = {}, reason = 'r'"
    for _ in range(60):
        await as_admin(database, again.format("cancelled", "NULL"))
        await as_admin(database, again.format("new", "now()"))
    rows = (await http.get("/v1/sources/scenes/history?key=a")).json()["items"]
    assert (len(rows), rows[-1]["state"]) == (100, "new")

"""Sinks on the database: which jobs have messages, what is due, and the statuses of their jobs."""

import asyncio
from typing import Any

import msgspec
import pytest

from builders import job_rows
from store.batch_steps import delete, remove
from store.retries import fail
from store.test_lifecycle_exits import BEGUN, STARTED, end
from store.test_lifecycles import HRSI, both, put, statuses
from store.test_resubmissions import ask
from store.world import Worker, World
from weft.core.errors import MessageDelivered, MessageNotFound, SinkNotFound, SinkTaken
from weft.core.states import AttemptKey
from weft.ports.store import DeliveryReport, KeptFile
from weft_lines.rules.setup import parse_setup

SINK = """
[sink.wekeo]
kind = "http"
url = "https://endpoint.example/products"
message = '{"product": "{{ job.name }}"}'
retry = {tries = 3, path = ["external_error", "error_checked", "processed"]}
given_up = {path = ["internal_error"]}
"""
PUBLISHING, LINEAGE_PATH = "start_publication", ["external_error", "error_checked", "done"]
RAN = [*STARTED, "post_processing", "processed"]
BLOCKED = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid)))"


async def apply(world: World, sink: str = SINK) -> None:
    text = HRSI + sink
    await world.api.save_setup(world.caller, "hrsi", text, parse_setup(text))


async def scene(world: World, n_jobs: int = 1, **rows: Any) -> int:  # noqa: ANN401 (as job_rows)
    return await world.submit(job_rows(n_jobs, **rows), lifecycle="hrsi", sink="wekeo")


async def due(world: World, at_s: float = 0) -> list[Any]:
    """Return what is to be sent, at most one at a time to a host."""
    await world.age("callback_delivery", "next_at", by_s=at_s, tenant_id=world.caller.tenant_id)
    rows = await world.driver.due_callbacks(
        await world.lead(), [], limit_all=100, limit_tenant=100, limit_host=100
    )
    return [one for one in rows if one.tenant_id == world.caller.tenant_id]


async def report(
    world: World,
    one: Any,  # noqa: ANN401 (of due)
    status: int,
    retry_in_s: float | None = None,
    *,
    rejected: bool = False,
) -> None:
    await world.driver.record_deliveries(
        await world.lead(),
        [
            DeliveryReport(
                delivery_id=one.delivery_id,
                delivered=status == 200,
                status=status,
                error=None,
                retry_in_s=retry_in_s,
                rejected=rejected,
            )
        ],
    )


async def test_message_is_due_with_the_end_and_leads_the_status_on(world: World) -> None:
    """From processed through publication to done; the core is a success at once."""
    await apply(world)
    batch = await scene(world)
    await end(await world.worker(), 0)
    assert await both(world, batch) == ("processed", "success")
    (one,) = await due(world)
    assert one.sink["message"] == '{"product": "{{ job.name }}"}'
    facts = msgspec.json.decode(one.body)
    assert (facts["id"], facts["exit_code"]) == (f"b{batch}.j1", None)
    assert [again.name for again in await due(world)] == [one.name]
    await report(world, one, 200)
    assert await due(world) == []
    assert await statuses(world, batch) == [
        *BEGUN,
        *RAN,
        "start_publication",
        "published",
        "done",
    ]
    (shown,) = await world.api.list_messages(world.caller, "wekeo", after=0, limit=9)
    assert (shown["state"], shown["n_attempts"]) == ("delivered", 1)
    with pytest.raises(MessageDelivered):
        await world.api.redeliver_message(world.caller, "wekeo", one.delivery_id)


LINEAGE = """
[sink.lineage]
kind = "http"
url = "https://lineage.example/runs"
message = "1"
events = true
rejected = {path = ["external_error", "error_checked", "done"]}
"""


async def test_each_sink_has_its_messages_and_the_last_one_leads_on(world: World) -> None:
    """One wants the job, one its start and end: it is published when all are through. What one
    rejects walks the path of that one; a batch that is made of this one has both.
    """
    await apply(world, SINK + LINEAGE)
    sinks = ["wekeo", "lineage"]
    worker = await world.worker()
    for last, after in ((200, ["published", "done"]), (422, LINEAGE_PATH)):
        batch = await world.submit(job_rows(1), lifecycle="hrsi", sink=sinks)
        await end(worker, 0)
        assert await world.findings() == {}
        ways = []
        for status in (200, 200, last):
            one = max(await due(world), key=lambda one: str(one.sink["message"]))
            await report(world, one, status, rejected=status == 422)
            ways.append((await statuses(world, batch))[len(BEGUN + RAN) :])
        assert ways == [[PUBLISHING], [PUBLISHING], [PUBLISHING, *after]]
        assert await due(world) == []
        await ask(world, batch)
    sent = [await world.api.list_messages(world.caller, name, after=0, limit=9) for name in sinks]
    assert [*map(len, sent)] == [2, 4]
    assert sum(one["state"] == "given_up" for rows in sent for one in rows) == 1
    again = await world.admin.fetch(
        "SELECT DISTINCT sink_id, more_sinks FROM weft.batch WHERE tenant_id = $1",
        world.caller.tenant_id,
    )
    assert len(again) == 1


async def test_failed_tries_walk_the_path_and_the_last_one_gives_up(world: World) -> None:
    """The core stays a success; a person lets it be sent again."""
    await apply(world)
    batch = await scene(world)
    await end(await world.worker(), 0)
    (one,) = await due(world)
    assert await open_messages(world, batch) == [("pending", 0)]
    await report(world, one, 503, retry_in_s=60)
    assert await due(world) == []
    assert await open_messages(world, batch) == [("pending", 1)]
    assert (await statuses(world, batch))[len(BEGUN + RAN) :] == [
        "start_publication",
        "external_error",
        "error_checked",
        "processed",
    ]
    (again,) = await due(world, at_s=61)
    assert (again.name, again.n_attempts) == (one.name, 1)
    await report(world, again, 503)
    assert await both(world, batch) == ("internal_error", "success")
    assert await due(world) == []
    assert await open_messages(world, batch) == [("given_up", 2)]
    rows = await world.api.job_history(world.caller, batch, 1)
    said = [(row["subtype"], row["message"]) for row in rows if row["message"]]
    assert said == [
        ("not sent", "sink wekeo: it answered 503"),
        ("given up", "sink wekeo: it answered 503"),
    ]
    await put(world, batch, "error_checked")
    await world.api.remove_setup(world.caller, "hrsi")
    (kept,) = await world.api.list_messages(world.caller, "wekeo", after=0, limit=9)
    assert kept["state"] == "given_up"  # what was given up outlives its sink
    await world.api.redeliver_message(world.caller, "wekeo", one.delivery_id)
    (last,) = await due(world)
    await report(world, last, 200)
    assert await both(world, batch) == ("done", "success")
    assert await open_messages(world, batch) == []


async def open_messages(world: World, batch: int) -> list[tuple[str, int]]:
    messages = (await world.api.why_job(world.caller, batch, 1)).messages
    return [(one.state, one.n_attempts) for one in messages]


@pytest.mark.parametrize(
    ("tries", "first", "path"),
    [
        ("", None, ["start_publication", "external_error", "error_checked", "done"]),
        ("tries = 2", 60, ["start_publication", "external_error", "error_checked", "done"]),
        ("tries = 2", None, ["start_publication", "internal_error"]),
    ],
)
async def test_rejection_walks_its_own_path(
    world: World, tries: str, first: float | None, path: list[str]
) -> None:
    """Where it may be sent again, the last rejection gives up."""
    said = "path = ['external_error', 'error_checked', 'done']"
    await apply(world, SINK + f"rejected = {{{', '.join(filter(None, [tries, said]))}}}\n")
    batch = await scene(world)
    await end(await world.worker(), 0)
    (one,) = await due(world)
    await report(world, one, 422, first, rejected=True)
    assert (await statuses(world, batch))[len(BEGUN + RAN) :] == path
    rows = await world.api.job_history(world.caller, batch, 1)
    assert [row["message"] for row in rows if row["subtype"] == "rejected"] == [
        "sink wekeo: it answered 422"
    ]


async def test_each_product_is_sent(world: World, worker: Worker) -> None:
    """A job without products is done, as one without files is."""
    await apply(world, SINK + "products = true\n")
    batch = await scene(world, 2)
    for one in await worker.claim():
        await worker.start(one)
        if one.job_id == 1:
            key = AttemptKey(one.batch_id, one.job_id, one.attempt)
            products = [{"title": "a"}, {"title": "b"}]
            assert await worker.store.record_products(worker.id, key, products, inputs=None)
        await worker.end(one)
    assert await both(world, batch, 2) == ("done", "success")
    first, second = await due(world)
    facts = msgspec.json.decode(first.body)
    assert (facts["file"], facts["product"]) == ("product 1", '{"title": "a"}')
    await report(world, first, 200)
    await report(world, second, 200)
    assert await both(world, batch) == ("done", "success")


async def test_each_file_that_is_a_message_is_sent(world: World, worker: Worker) -> None:
    """The job is done when all of them are; one that left none has nothing to send."""
    await apply(world, SINK + "each = 'products/*.json'\n")
    batch = await scene(world, 2)
    for one in await worker.claim():
        await worker.start(one)
        if one.job_id == 1:
            key = AttemptKey(one.batch_id, one.job_id, one.attempt)
            files = [
                KeptFile("products/b.json", 2, bytes(32), message="{}"),
                KeptFile("products/a.json", 2, bytes(32), message='{"title": "\\u0000"}'),
                KeptFile("a.tif", 2, bytes(32)),
            ]
            assert await worker.store.record_files(
                worker.id, key, files, staging_ms=0, storing_ms=0
            )
        await worker.end(one)
    assert await both(world, batch, 2) == ("done", "success")
    assert await both(world, batch) == ("processed", "success")
    first, second = await due(world)
    facts = msgspec.json.decode(first.body)
    assert (facts["file"], facts["product"]) == ("products/a.json", '{"title": "\\u0000"}')
    await report(world, first, 200)
    assert await both(world, batch) == ("start_publication", "success")
    await report(world, second, 200)
    assert await both(world, batch) == ("done", "success")
    shown = await world.api.list_messages(world.caller, "wekeo", after=0, limit=9)
    assert [one["file"] for one in shown] == ["products/a.json", "products/b.json"]


async def test_only_jobs_with_products_have_messages(world: World, worker: Worker) -> None:
    await apply(world)
    batch = await scene(world, 2)
    await end_each(worker, (203, 250))
    assert await due(world) == []
    assert await both(world, batch) == ("done", "success")
    assert await both(world, batch, 2) == ("internal_error", "failed")


async def end_each(worker: Worker, codes: tuple[int, ...]) -> None:
    for one, code in zip(await worker.claim(), codes, strict=True):
        await worker.start(one)
        await fail(worker, one, code=code)


async def sent_in_order(world: World, *tiles: str) -> list[int]:
    """Let the jobs of these batches end, whose messages wait for those of the same tile."""
    await apply(world, SINK + 'order = "tile"\n')
    batches = [await scene(world, len(one)) for one in tiles]
    await world.admin.executemany(
        "INSERT INTO weft.job_label (batch_id, job_id, tenant_id, attributes)"
        " SELECT $1, n, $2, jsonb_build_object('tile', substr($3, n, 1))"
        " FROM generate_series(1, length($3)) n",
        [(batch, world.caller.tenant_id, one) for batch, one in zip(batches, tiles, strict=True)],
    )
    await (await world.worker()).run()
    return batches


async def test_messages_of_one_order_wait_for_each_other(world: World) -> None:
    """Others do not: one tile that cannot be sent holds up itself alone."""
    await sent_in_order(world, "AAB")
    first, other = await due(world)
    assert (first.job_id, other.job_id) == (1, 3)
    await report(world, first, 503, retry_in_s=60)
    await report(world, other, 200)
    assert await due(world) == []
    (first,) = await due(world, at_s=61)
    await report(world, first, 200)
    assert [one.job_id for one in await due(world)] == [2]


async def test_next_message_of_an_order_is_removed_while_the_first_ends(world: World) -> None:
    """The removal does not see that end yet, so the end brings back the one after it."""
    _, second, third = await sent_in_order(world, "A", "A", "A")
    (first,) = await due(world)
    operation = await delete(world, second)
    async with world.transaction() as other:
        process = await other.fetchval(
            "DELETE FROM weft.callback_delivery WHERE batch_id = $1 RETURNING pg_backend_pid()",
            second,
        )
        ending = asyncio.create_task(report(world, first, 200))
        async with asyncio.timeout(60):
            while not await world.admin.fetchval(BLOCKED, process):
                assert not ending.done()
    await ending
    assert [one.batch_id for one in await due(world)] == [third]
    await remove(world, operation)


async def test_new_address_is_tried_at_once_for_what_is_still_to_be_sent(world: World) -> None:
    """An address is shown without its login."""
    await apply(world, SINK.replace("//endpoint", "//ann:${secret.K}@endpoint"))
    await scene(world)
    await end(await world.worker(), 0)
    (shown,) = await world.api.list_messages(world.caller, "wekeo", after=0, limit=9)
    assert shown["url"] == "https://endpoint.example/products"
    await report(world, (await due(world))[0], 503, retry_in_s=3600)
    assert await due(world) == []
    await apply(world, SINK.replace("endpoint.example", "other.example"))
    (one,) = await due(world)
    assert one.url == "https://other.example/products"
    await world.api.remove_setup(world.caller, "hrsi")
    assert [again.name for again in await due(world)] == [one.name]


async def test_sinks_that_are_not_there_are_refused(world: World) -> None:
    await apply(world)
    with pytest.raises(SinkNotFound):
        await world.submit(job_rows(1), sink="gone")
    with pytest.raises(SinkNotFound):
        await world.api.list_messages(world.caller, "gone", after=0, limit=9)
    with pytest.raises(MessageNotFound):
        await world.api.redeliver_message(world.caller, "wekeo", 1)
    with pytest.raises(SinkTaken):
        await world.api.save_setup(world.caller, "other", SINK, parse_setup(SINK))


async def test_sink_without_a_lifecycle_is_told(world: World) -> None:
    await apply(world)
    await world.submit(job_rows(1), sink="wekeo")
    await end(await world.worker(), 0)
    (one,) = await due(world)
    await report(world, one, 200)
    assert await due(world) == []


EVENTS = """
[sink.wekeo]
kind = "http"
url = "https://endpoint.example/lineage"
events = true
message = '{"run": "{{ job.run_id }}"}'
"""


async def test_start_and_end_of_each_run_are_told_also_of_bad_ones(world: World) -> None:
    await apply(world, EVENTS)
    batch = await scene(world, 2)
    worker, (good, bad) = await world.claim_and_start()
    key = AttemptKey(good.batch_id, good.job_id, good.attempt)
    named, inputs = [{"url": "s3://snow/1.tif"}], [{"from": "store://l1c/1"}]
    assert await worker.store.record_products(worker.id, key, named, inputs=inputs)
    await worker.end(good)
    await fail(worker, bad, code=250)
    sent = await world.api.list_messages(world.caller, "wekeo", after=0, limit=10)
    assert [(one["job_id"], one["file"]) for one in sent] == [
        (1, "event complete 1"),
        (1, "event start 1"),
        (2, "event fail 1"),
        (2, "event start 1"),
    ]

    after = (await statuses(world, batch, 2))[-1]
    told = {}
    while one := next(iter(await due(world, 3600)), None):
        facts = msgspec.json.decode(one.body)
        told[facts["job_id"], facts["event"]] = facts
        await report(world, one, 200)
    assert told[1, "start"]["products"] == told[1, "complete"]["products"] == named
    assert told[1, "complete"]["inputs"] == [{"from": "store://l1c/1"}]
    assert told[2, "fail"]["products"] == []
    assert told[1, "start"]["event_at"] <= told[1, "complete"]["event_at"]
    runs = {key: facts["run_id"] for key, facts in told.items()}
    assert runs[1, "start"] == runs[1, "complete"] != runs[2, "start"] == runs[2, "fail"]
    assert (await statuses(world, batch, 1))[-1] == "done"
    assert (await statuses(world, batch, 2))[-1] == after

"""Subscriptions to events of jobs, and the notices that follow."""

from typing import Any, Final

from store.site import Site
from weft.ports.store import UNKEYED, DeliveryReport, DueCallback

URL: Final = "https://receiver.example/told"

LIMITS: Final = {"limit_all": 9, "limit_tenant": 9, "limit_host": 9}


def subscription(name: str, *, persistent: bool = True) -> dict[str, Any]:
    """Return one to an event of the door `d`."""
    return {"name": name, "url": URL, "event": "A", "persistent": persistent, "policy": {}}


async def notified(site: Site, *batches: int) -> list[dict[str, Any]]:
    """Look at all events until now; return the subscriptions of jobs that they are about."""
    driver, epoch, found = site.driver, await site.lead(), []
    while (page := await driver.list_notified(epoch, after_batch=None, limit=50)) is not None:
        for job in page.jobs:
            if job["told"]["batch_id"] in batches:
                found += job["subscriptions"]
        await driver.record_notices(epoch, [], page.xid, page.event_id)
        if not page.behind:
            break
    return found


async def record(site: Site, *notices: tuple[int, str]) -> list[DueCallback]:
    """Record notices, those of a subscription in order; return what is due of them."""
    epoch = await site.lead()
    rows = [
        {"subscription_id": of, "event_key": key, "url": URL, "body": "{}"} for of, key in notices
    ]
    await site.driver.record_notices(epoch, rows, 0, 0)
    return await due_notices(site)


async def due_notices(site: Site) -> list[DueCallback]:
    """Return the notices that are due."""
    found = await site.driver.due_callbacks(await site.lead(), [], **LIMITS)
    return [one for one in found if one.url == URL]


async def record_attempt(site: Site, one: DueCallback, *, delivered: bool) -> None:
    """Record an attempt; one that failed is tried again in an hour."""
    report = DeliveryReport(
        delivery_id=one.delivery_id, delivered=delivered, status=200 if delivered else 500,
        error=None, retry_in_s=None if delivered else 3600,
    )  # fmt: skip
    await site.driver.record_deliveries(await site.lead(), [report])


async def remove_batches(site: Site, *batches: int) -> None:
    """Delete batches: persistent subscriptions stay open and work of the driver until then."""
    for batch in batches:
        operation = await site.api.delete_batch(site.caller, batch, UNKEYED)
        await site.ended(operation)


async def test_events_lead_to_jobs_with_open_subscriptions(site: Site) -> None:
    """Each event once; jobs without subscriptions never."""
    kept: dict[str, Any] = {"foreign_document": {"name": "n"}, "door": "d"}
    batch = await site.submit(1, foreign_id="a", subscriptions=[subscription("s")], **kept)
    other = await site.submit(1, foreign_id="b", **kept)
    (found,) = await notified(site, batch, other)
    assert (found["url"], found["event"], found["keys"]) == (URL, "A", [])
    assert await notified(site, batch, other) == []
    await site.run()
    assert [one["id"] for one in await notified(site, batch, other)][:1] == [found["id"]]
    await remove_batches(site, batch, other)


async def test_notices_are_recorded_once_and_sent_in_order(site: Site) -> None:
    """One that failed does not hold up those after it; a subscription that is told once ends
    with a delivery, and not before.
    """
    both = [subscription("always"), subscription("once", persistent=False)]
    kept: dict[str, Any] = {"foreign_document": {"name": "n"}, "door": "d"}
    batch = await site.submit(1, foreign_id="c", subscriptions=both, **kept)
    always, once = [one["id"] for one in await notified(site, batch)][:2]
    events = [(of, key) for of in (always, once) for key in ("A.1", "B.1")]
    assert len(await record(site, *events)) == len(both)
    first = {one.subscription["name"]: one for one in await record(site, *events)
             if one.subscription}  # fmt: skip
    assert set(first) == {"always", "once"}
    for one in first.values():
        await record_attempt(site, one, delivered=False)
    (later,) = await record(site, *events)
    assert later.subscription is not None
    assert later.subscription["name"] == "always"
    await record_attempt(site, first["once"], delivered=True)
    await record_attempt(site, later, delivered=True)
    assert await record(site, (once, "C.1")) == []
    rows = await site.api.list_callbacks(site.caller, batch, after=0, limit=9)
    assert [(one["event"], one["state"]) for one in rows] == [
        ("A.1", "pending"), ("B.1", "delivered"), ("A.1", "delivered"),
    ]  # fmt: skip
    await remove_batches(site, batch)

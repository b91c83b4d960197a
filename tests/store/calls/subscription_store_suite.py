"""What every adapter of the port `SubscriptionStore` must do: a part of the driver's suite."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

from store.calls.store_site import UNKEYED, StoreTests
from weft.ports.store import (
    DeliveryReport,
    DueCallback,
)
from weft.store import DriverStore

URL: Final = "https://receiver.example/told"
LIMITS: Final = {"limit_all": 9, "limit_tenant": 9, "limit_host": 9}


def subscription_calls(
    driver: DriverStore, epoch: int
) -> Sequence[Callable[[], Awaitable[object]]]:
    """Return the calls about subscriptions that carry the epoch."""
    return [
        partial(driver.list_notified, epoch, after_batch=None, limit=1),
        partial(driver.record_notices, epoch, [], 0, 0),
    ]


def subscription(name: str, *, persistent: bool = True) -> dict[str, Any]:
    """Return one to an event of the door `d`."""
    return {"name": name, "url": URL, "event": "A", "persistent": persistent, "policy": {}}


class SubscriptionStoreSuite(StoreTests):
    """Tests of the port `SubscriptionStore`."""

    async def told(self, *batches: int) -> list[dict[str, Any]]:
        """Look at all events until now; return the subscriptions of jobs that they are about."""
        driver, epoch, found = self.site.driver, await self.site.lead(), []
        while (page := await driver.list_notified(epoch, after_batch=None, limit=50)) is not None:
            for job in page.jobs:
                if job["told"]["batch_id"] in batches:
                    found += job["subscriptions"]
            await driver.record_notices(epoch, [], page.xid, page.event_id)
            if not page.behind:
                break
        return found

    async def record(self, *notices: tuple[int, str]) -> list[DueCallback]:
        """Record notices, those of a subscription in order; return what is due of them."""
        epoch = await self.site.lead()
        rows = [
            {"subscription_id": of, "event_key": key, "url": URL, "body": "{}"}
            for of, key in notices
        ]
        await self.site.driver.record_notices(epoch, rows, 0, 0)
        return await self.due_notices()

    async def due_notices(self) -> list[DueCallback]:
        """Return the notices that are due."""
        found = await self.site.driver.due_callbacks(await self.site.lead(), [], **LIMITS)
        return [one for one in found if one.url == URL]

    async def tried(self, one: DueCallback, *, delivered: bool) -> None:
        """Record an attempt; one that failed is tried again in an hour."""
        report = DeliveryReport(
            delivery_id=one.delivery_id, delivered=delivered, status=200 if delivered else 500,
            error=None, retry_in_s=None if delivered else 3600,
        )  # fmt: skip
        await self.site.driver.record_deliveries(await self.site.lead(), [report])

    async def remove(self, *batches: int) -> None:
        """Delete batches: persistent subscriptions stay open and work of the driver until then."""
        for batch in batches:
            operation = await self.site.api.delete_batch(self.site.caller, batch, **UNKEYED)
            await self.site.ended(operation)

    async def test_events_lead_to_jobs_with_open_subscriptions(self) -> None:
        """Each event once; jobs without subscriptions never."""
        kept: dict[str, Any] = {"foreign_document": {"name": "n"}, "door": "d"}
        batch = await self.site.submit(
            1, foreign_id="a", subscriptions=[subscription("s")], **kept
        )
        other = await self.site.submit(1, foreign_id="b", **kept)
        (found,) = await self.told(batch, other)
        assert (found["url"], found["event"], found["keys"]) == (URL, "A", [])
        assert await self.told(batch, other) == []
        await self.site.run()
        assert [one["id"] for one in await self.told(batch, other)][:1] == [found["id"]]
        await self.remove(batch, other)

    async def test_notices_are_recorded_once_and_sent_in_order(self) -> None:
        """One that failed does not hold up those after it; a subscription that is told once ends
        with a delivery, and not before.
        """
        both = [subscription("always"), subscription("once", persistent=False)]
        kept: dict[str, Any] = {"foreign_document": {"name": "n"}, "door": "d"}
        batch = await self.site.submit(1, foreign_id="c", subscriptions=both, **kept)
        always, once = [one["id"] for one in await self.told(batch)][:2]
        events = [(of, key) for of in (always, once) for key in ("A.1", "B.1")]
        assert len(await self.record(*events)) == len(both)
        first = {one.subscription["name"]: one for one in await self.record(*events)
                 if one.subscription}  # fmt: skip
        assert set(first) == {"always", "once"}
        for one in first.values():
            await self.tried(one, delivered=False)
        (later,) = await self.record(*events)
        assert later.subscription is not None
        assert later.subscription["name"] == "always"
        await self.tried(first["once"], delivered=True)
        await self.tried(later, delivered=True)
        assert await self.record((once, "C.1")) == []
        rows = await self.site.api.list_callbacks(self.site.caller, batch, after=0, limit=9)
        assert [(one["event"], one["state"]) for one in rows] == [
            ("A.1", "pending"), ("B.1", "delivered"), ("A.1", "delivered"),
        ]  # fmt: skip
        await self.remove(batch)

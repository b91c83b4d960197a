"""What every adapter must do for callbacks that are listed and sent again."""

from typing import Any, Final
from uuid import UUID, uuid4

from store.calls.store_site import StoreTests, refused
from weft.core.errors import CallbackDelivered, CallbackNotFound
from weft.ports.store import DeliveryReport, NewGroup
from weft.testing.builders import job_rows

HOOK: Final = "https://receiver.example/hook"


class CallbackStoreSuite(StoreTests):
    """Deliveries of callbacks."""

    async def given_up(self, **told: Any) -> tuple[int, Any]:  # noqa: ANN401 (a document)
        """Return a batch, and its delivery, which has failed for good unless `told` says more."""
        batch = await self.site.submit(1, callback=HOOK)
        await self.site.run()
        await self.site.drive()
        (row,) = await self.site.api.list_callbacks(self.site.caller, batch, after=0, limit=9)
        report = {"delivered": False, "status": 500, "error": None, "retry_in_s": None, **told}
        await self.site.driver.record_deliveries(
            await self.site.lead(), [DeliveryReport(delivery_id=row["delivery_id"], **report)]
        )
        return batch, row

    async def test_deliveries_are_listed_in_order_page_by_page(self) -> None:
        """Of a batch and its groups."""
        api, caller = self.site.api, self.site.caller
        groups = [NewGroup(group_id=1, name="a", callback=HOOK)]
        batch = await self.site.submit(job_rows(1, group=1), groups=groups, callback=HOOK)
        await self.site.run()
        await self.site.drive()
        first, second = await api.list_callbacks(caller, batch, after=0, limit=9)
        assert first["delivery_id"] < second["delivery_id"]
        assert {row["group_id"] for row in (first, second)} == {0, 1}
        assert (first["state"], first["url"]) == ("pending", HOOK)
        page = await api.list_callbacks(caller, batch, after=first["delivery_id"], limit=9)
        assert page == [second]

    async def test_undelivered_callback_is_due_when_somebody_asks(self) -> None:
        """By number or by name; a repeat changes nothing."""
        api, caller = self.site.api, self.site.caller
        for name in ("delivery_id", "delivery"):
            batch, row = await self.given_up()
            asked = row[name] if isinstance(row[name], int) else UUID(row[name])
            document = await api.redeliver_callback(caller, batch, asked)
            assert (document["state"], document["n_attempts"]) == ("pending", 1)
            assert await api.redeliver_callback(caller, batch, asked) == document
            for unknown in (row["delivery_id"] + 1000, uuid4()):
                with refused(CallbackNotFound):
                    await api.redeliver_callback(caller, batch, unknown)

    async def test_delivered_callback_stays_delivered(self) -> None:
        """Whoever asks."""
        batch, row = await self.given_up(delivered=True, status=200)
        with refused(CallbackDelivered):
            await self.site.api.redeliver_callback(self.site.caller, batch, row["delivery_id"])

"""What every adapter of the port `TransportStore` must do: a part of the api's suite."""

from uuid import uuid4

from store.calls.store_site import StoreTests


class TransportStoreSuite(StoreTests):
    """Tests of the port `TransportStore`."""

    async def test_a_transport_that_no_driver_has_seen_is_listed_without_a_date(self) -> None:
        """It has no queues."""
        names = sorted(f"t{uuid4().hex}" for _ in range(2))
        found = await self.site.api.list_transports(self.site.caller, names[::-1])
        assert [one["transport"] for one in found] == names
        assert found[0]["looked_at"] is found[0]["away_since"] is None
        assert found[0]["queues"] == []

    async def test_a_dead_message_that_there_is_not_is_none(self) -> None:
        """None is listed before the first number."""
        api, caller = self.site.api, self.site.caller
        for acknowledged in (False, True):
            found = await api.list_dead_messages(
                caller, before=0, acknowledged=acknowledged, limit=9
            )
            assert list(found) == []
        assert await api.acknowledge_dead_message(caller, 0, "seen") is None
        assert await api.get_dead_message(caller, 0) is None
        assert await api.resend_dead_message(caller, 0) is None
        assert not await api.remove_dead_message(caller, 0)

"""The PostgreSQL adapter passes the suite of the port `ApiStore`."""

import pytest

from store.calls.api_store_suite import ApiStoreSuite, calls_on_batch
from store.postgres_site import PostgresSite
from weft.ports.store import (
    Caller,
)
from weft.store import ApiStore


class TestPostgresApiStore(ApiStoreSuite):
    @pytest.fixture(autouse=True)
    def _at(self, site: PostgresSite) -> None:
        self.site = site


def test_every_call_on_a_batch_is_tried_by_a_stranger() -> None:
    store = ApiStore.__new__(ApiStore)  # asked for its methods only
    tried = {call.func.__name__ for call in calls_on_batch(store, Caller(1, 1, ""), 1)}
    methods = {
        name
        for part in ApiStore.__mro__
        for name, method in vars(part).items()
        if name[0] != "_"
        and "batch_id" in getattr(method, "__annotations__", {})
        and "caller" in method.__annotations__
    }

    assert methods - tried == {"end_schedule_run", "list_events", "list_operations"}

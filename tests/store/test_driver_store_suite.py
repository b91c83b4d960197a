"""The PostgreSQL adapter passes the suite of the port `DriverStore`."""

import pytest

from store.calls.driver_store_suite import DriverStoreSuite
from store.postgres_site import PostgresSite


class TestPostgresDriverStore(DriverStoreSuite):
    @pytest.fixture(autouse=True)
    def _at(self, site: PostgresSite) -> None:
        self.site = site

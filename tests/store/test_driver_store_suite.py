"""The PostgreSQL adapter passes the suite of the port `DriverStore`."""

import pytest

from store.postgres_site import PostgresSite
from weft.testing.store.driver_store_suite import DriverStoreSuite


class TestPostgresDriverStore(DriverStoreSuite):
    @pytest.fixture(autouse=True)
    def _at(self, site: PostgresSite) -> None:
        self.site = site

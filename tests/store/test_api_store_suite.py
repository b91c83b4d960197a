"""The PostgreSQL adapter passes the suite of the port `ApiStore`."""

import pytest

from store.postgres_site import PostgresSite
from weft.testing.api_store_suite import ApiStoreSuite


class TestPostgresApiStore(ApiStoreSuite):
    @pytest.fixture(autouse=True)
    def _at(self, site: PostgresSite) -> None:
        self.site = site

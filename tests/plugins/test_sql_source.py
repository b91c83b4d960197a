"""The source `sql` passes the suite of its port."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from plugins.test_sql_ends import TABLES, Reader, relay
from weft_lines.sources.sql import SqlSource
from weft_testing.source_suite import SourceReader, SourceSuite

ROWS = "INSERT INTO scene SELECT n, 'T', n FROM generate_series(1, 5) n"


class TestRows(SourceSuite):
    @pytest.fixture(autouse=True)
    async def _rows(self, empty_database: dict[str, str]) -> AsyncIterator[None]:
        async with relay(empty_database["admin"]) as self.archive:
            await self.archive.execute(f"{TABLES}; {ROWS}")
            yield

    def reader(self) -> SourceReader:
        query, cursor = "SELECT id AS key, cloud FROM scene", {"field": "cloud"}
        asked = Reader(self.archive, query, 2, cursor=cursor)
        return SourceReader(SqlSource(), asked.options, asked.site)

    def wrong_options(self) -> Mapping[str, Mapping[str, Any]]:
        return {
            'relation "gone"': {"query": "SELECT id AS key FROM gone"},
            "source_private_hosts": {"url": "postgresql://ann:x@10.0.0.1/x"},
        }

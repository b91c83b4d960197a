"""What every adapter of the port `QueryStore` must do: a part of the api's suite."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from store.calls.store_site import TREE, StoreTests, refused
from weft.core.batch_order import BatchOrder, BatchSort
from weft.core.errors import BatchNotFound, GroupNotFound, QueryTooWide
from weft.core.query import Subject, parse_query
from weft.core.states import Reason
from weft.ports.store import BatchQuery, JobQuery, QueryLimits
from weft.testing.builders import job_rows, start_report

LIMITS: Final = QueryLimits(timeout_s=30, scan_jobs_max=1000)
DIFFERENCE_MAX: Final = 1e-11
"""Of the sum of rounded costs from the rounded sum."""
NARROW: Final = QueryLimits(timeout_s=30, scan_jobs_max=1)


def jobs_of(
    query: str = "", *, limit: int = 9, limits: QueryLimits = LIMITS,
    **more: Any,  # noqa: ANN401 (fields of JobQuery)
) -> JobQuery:  # fmt: skip
    """Return a query for jobs."""
    return JobQuery(query=parse_query(query, Subject.JOBS), limit=limit, limits=limits, **more)


def batches_of(query: str = "", *, limit: int = 9, **more: Any) -> BatchQuery:  # noqa: ANN401 (fields)
    """Return a query for batches."""
    return BatchQuery(
        query=parse_query(query, Subject.BATCHES), limit=limit, limits=LIMITS, **more
    )


class QueryStoreSuite(StoreTests):
    """Tests of the port `QueryStore`. That a slow query is stopped needs more jobs than these."""

    async def found(self, batch: int, wanted: JobQuery) -> list[int]:
        """Return the jobs that a query finds."""
        rows = await self.site.api.query_jobs(self.site.caller, batch, wanted)
        return [row["job_id"] for row in rows]

    async def test_query_finds_jobs_page_by_page(self) -> None:
        """In order of their numbers, as the documents of a list."""
        batch = await self.site.submit(job_rows(6, names=dict.fromkeys([2, 3, 5], "pca")))
        assert await self.site.run(3) == [1, 2, 3]
        assert await self.found(batch, jobs_of("name = pca")) == [2, 3, 5]
        assert await self.found(batch, jobs_of("state = success and name = pca")) == [2, 3]
        assert await self.found(batch, jobs_of(limit=2)) == [1, 2]
        assert await self.found(batch, jobs_of(limit=2, after=5)) == [6]
        page = await self.site.api.query_jobs(self.site.caller, batch, jobs_of(limit=1))
        listed = await self.site.api.list_jobs(self.site.caller, batch, after=0, limit=1)
        assert page == listed

    async def test_entries_of_jobs_agree_with_their_documents(self) -> None:
        """Whether no attempt of a job has run, one, or several."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(job_rows(4, names={1: "one"}))
        for reason in (Reason.LOST, None, Reason.EXIT):
            await self.site.run(1, reason=reason)
        (claimed,) = await self.site.claim(1)
        store, incarnation_id = await self.site.worker()
        await store.start_attempts(incarnation_id, [start_report(claimed)])
        documents = await api.list_jobs(caller, batch, after=0, limit=9)
        entries = await api.list_job_entries(caller, batch, after=0, limit=9)
        assert [one.state for one in entries] == ["success", "failed", "running", "ready"]
        names = ("job_id", "group_id", "state", "reason", "exit_code", "signal", "always_run")
        resources = ("cpu", "memory", "storage", "gpu")
        for entry, document in zip(entries, documents, strict=True):
            assert [getattr(entry, name) for name in names] == [document[name] for name in names]
            attempts = await api.list_attempts(caller, batch, entry.job_id)
            costs = [one for attempt in attempts for one in attempt["cost_by_resource"]]
            used = {one["resource"] for one in costs if one["usage"]}
            listed = dict(zip(resources, entry.costs, strict=True))
            assert {name for name, cost in listed.items() if cost is not None} >= used
            if entry.state != "running":
                assert (entry.cost or 0) == document["cost"]
                used_cpu = sum(one["usage"] for one in costs if one["resource"] == "cpu")
                assert (entry.cpu_usage or 0) == used_cpu
                assert entry.duration_ms == document["duration_ms"]
                sums = dict.fromkeys(used, 0.0)
                for one in costs:
                    sums[one["resource"]] += one["cost"]
                assert all(
                    abs((listed[name] or 0) - sums[name]) <= DIFFERENCE_MAX for name in used
                )
            if entry.ended_ms is not None:
                ended_at = datetime.fromisoformat(document["ended_at"])
                passed = ended_at - datetime.fromtimestamp(0, UTC)
                assert entry.ended_ms == passed // timedelta(milliseconds=1)
        assert await api.list_job_entries(caller, batch, after=3, limit=1) == entries[3:]
        found = await api.query_job_entries(caller, batch, jobs_of("state != running", limit=2))
        assert found == entries[:2]

    async def test_query_finds_within_a_group(self) -> None:
        """By number or path."""
        batch = await self.site.submit(job_rows(3, group=[0, 1, 2]), groups=TREE)
        for group in (1, "/a"):
            assert await self.found(batch, jobs_of(group=group)) == [2, 3]
        with refused(GroupNotFound):
            await self.found(batch, jobs_of(group="/z"))
        with refused(BatchNotFound):
            await self.found(batch + 1000, jobs_of())

    async def test_query_that_must_read_too_many_jobs_is_refused(self) -> None:
        """Unless a range makes it narrow."""
        batch = await self.site.submit(5)
        with refused(QueryTooWide):
            await self.found(batch, jobs_of("cost > 0", limits=NARROW))
        assert await self.found(batch, jobs_of("cost >= 0 and job_id < 2", limits=NARROW)) == [1]

    async def test_query_finds_batches_page_by_page(self) -> None:
        """Newest first, as the documents of a list."""
        api, caller = self.site.api, self.site.caller
        ids = [await self.site.submit(1, name=name) for name in "xyx"]
        rows = await api.query_batches(caller, batches_of("name = x"))
        assert [row["id"] for row in rows] == [ids[2], ids[0]]
        (row,) = await api.query_batches(caller, batches_of(limit=1, before=ids[2]))
        assert row["id"] == ids[1]
        (row,) = await api.query_batches(caller, batches_of("name = y"))
        (listed,) = await api.list_batches(caller, before=None, limit=9, name="y")
        assert row.keys() == listed.keys()

    async def test_batches_are_sorted_page_by_page(self) -> None:
        """By number, name, creation and completion; each also the other way round."""
        api, caller = self.site.api, self.site.caller
        ids = [await self.site.submit(1, name=name) for name in ("b", None, "c", "a", "b")]
        await self.site.run(5)
        empty = await self.site.submit(0, name="d")
        await self.site.drive()

        async def listed(sort: BatchSort, query: str, *, reverse: bool) -> list[int]:
            seen, after = list[int](), None
            while True:
                wanted = batches_of(query, limit=2, order=BatchOrder(sort, reverse), after=after)
                rows, after = await api.sort_batches(caller, wanted)
                seen += [row["id"] for row in rows]
                if after is None:
                    return seen

        by_name = [ids[3], ids[0], ids[4], ids[2], empty]
        expected = {
            BatchSort.NUMBER: [empty, *ids[::-1]], BatchSort.CREATED: [empty, *ids[::-1]],
            BatchSort.NAME: by_name, BatchSort.COMPLETED: ids[::-1],
        }  # fmt: skip
        for sort, numbers in expected.items():
            assert await listed(sort, "", reverse=False) == numbers, sort
            assert await listed(sort, "", reverse=True) == numbers[::-1], sort
        assert await listed(BatchSort.NAME, "name = b", reverse=False) == [ids[0], ids[4]]

    async def test_queries_are_explained_and_not_run(self) -> None:
        """A statement, and the lines of a plan."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(1)
        for explained in (
            await api.explain_jobs(caller, batch, jobs_of("name = pca")),
            await api.explain_batches(caller, batches_of("name = pca")),
        ):
            assert explained.keys() == {"sql", "plan"}
            assert explained["sql"]
            assert all(isinstance(line, str) for line in explained["plan"])
        with refused(GroupNotFound):
            await api.explain_jobs(caller, batch, jobs_of(group=99))

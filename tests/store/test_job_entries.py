"""Short entries of jobs, as lists of a door have them."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from builders import job_rows, start_report
from store.site import Site
from weft.core.query import Subject, parse_query
from weft.core.states import Reason
from weft.ports.store import JobQuery, QueryLimits

LIMITS: Final = QueryLimits(timeout_s=30, scan_jobs_max=1000)

DIFFERENCE_MAX: Final = 1e-11


def jobs_of(
    query: str = "", *, limit: int = 9, limits: QueryLimits = LIMITS,
    **more: Any,  # noqa: ANN401 (fields of JobQuery)
) -> JobQuery:  # fmt: skip
    """Return a query for jobs."""
    return JobQuery(query=parse_query(query, Subject.JOBS), limit=limit, limits=limits, **more)


async def test_entries_of_jobs_agree_with_their_documents(site: Site) -> None:
    """Whether no attempt of a job has run, one, or several."""
    api, caller = site.api, site.caller
    batch = await site.submit(job_rows(4, names={1: "one"}))
    for reason in (Reason.LOST, None, Reason.EXIT):
        await site.run(1, reason=reason)
    (claimed,) = await site.claim(1)
    store, incarnation_id = await site.worker()
    await store.start_attempts(incarnation_id, [start_report(claimed)])
    documents = await api.list_jobs(caller, batch, after=0, limit=9)
    entries = await api.list_job_entries(caller, batch, after=0, limit=9)
    assert [one.state for one in entries] == ["success", "failed", "running", "ready"]
    names = ("job_id", "group_id", "name", "state", "reason", "exit_code", "signal", "always_run")
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
            assert all(abs((listed[name] or 0) - sums[name]) <= DIFFERENCE_MAX for name in used)
        if entry.ended_ms is not None:
            ended_at = datetime.fromisoformat(document["ended_at"])
            passed = ended_at - datetime.fromtimestamp(0, UTC)
            assert entry.ended_ms == passed // timedelta(milliseconds=1)
    assert await api.list_job_entries(caller, batch, after=3, limit=1) == entries[3:]
    found = await api.query_job_entries(caller, batch, jobs_of("state != running", limit=2))
    assert found == entries[:2]

"""Jobs that came through a door: entries, lists, searches, and who sees them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import pytest

from builders import end_report, job_rows, start_report
from store.site import Site
from weft.core.access.rights import Permission, UserRole
from weft.core.query import Subject, parse_query
from weft.core.query.tree import EVERYTHING, DoorTerm, all_of
from weft.core.states import JobState, Phase, Reason
from weft.ports.store import (
    UNKEYED,
    Caller,
    ForeignJobs,
    ForeignOrder,
    JobQuery,
    NewBatch,
    PhaseReport,
    QueryLimits,
    Row,
)
from weft.ports.store.offers import DoorJobQuery, Span
from weft_aloe.documents import job_document
from weft_aloe.searching import sort_key, terms_of
from weft_aloe.sql_terms import archived_below, have_all, order_in_sql, sieve_of
from weft_aloe.words import NAME


async def test_jobs_of_a_door_are_searched_and_sorted(site: Site) -> None:
    """By conditions of the door; granted ones among own ones, and in pages."""
    api, caller, token = site.api, site.caller, uuid4().hex
    await api.add_user(caller, "ann", UserRole.USER, token)
    ann = await api.authenticate(token)
    assert ann is not None
    for n, name in enumerate(("b", "a", "c", "b")):
        batch = await site.submit(1, door="e", foreign_id=str(n), foreign_document={"name": name})
        if name != "c":
            await api.share_batch(caller, batch, "ann", Permission.READ)
    key = "(b.foreign_document ->> 'name')"
    wanted = DoorJobQuery(door="e", limit=9, limits=QueryLimits(10, 1000))
    named = replace(wanted, query=DoorTerm(f"{key} = {{0}}", ("b",)))

    async def found(caller: Caller, wanted: DoorJobQuery) -> list[str]:
        return [one["foreign_id"] for one in await api.list_door_jobs(caller, wanted)]

    for user, everything in ((caller, "3210"), (replace(ann, needs=Permission.READ), "310")):
        assert await found(user, wanted) == list(everything)
        assert await found(user, named) == ["3", "0"]
        by_name = replace(wanted, sort_key=key, is_descending=False)
        assert await found(user, by_name) == ["1", "3", "0", *everything[1:2]][: len(everything)]
        assert await found(user, replace(by_name, offset=1, limit=2)) == ["3", "0"]


async def test_jobs_of_a_door_are_found_by_their_kind_and_their_end(site: Site) -> None:
    """Which is noted by the driver: those whose end it has not seen are looked at, too."""
    api, caller = site.api, site.caller
    for n, kind in enumerate(("x", "y", "x")):
        await site.submit(
            1, door="e", foreign_id=str(n), foreign_document={"n": n}, foreign_kind=kind
        )
    wanted = DoorJobQuery(door="e", limit=9, limits=QueryLimits(10, 1000))

    async def found(**more: Any) -> list[str]:  # noqa: ANN401 (fields of a query)
        rows = await api.list_door_jobs(caller, replace(wanted, **more))
        return [one["foreign_id"] for one in rows]

    assert await found(kind="x") == ["2", "0"]
    assert await found(kind="z") == []
    await site.run(2)
    now = datetime.now(UTC)
    for _ in range(2):
        ended = await found(query=DoorTerm("j.state = {0}", (int(JobState.SUCCESS),)))
        for span, ids in (
            (Span(now - timedelta(days=1), None), ended),
            (Span(now - timedelta(days=1), now + timedelta(days=1)), ended),
        ):
            assert set(await found(ended=span)) >= set(ids)
        await site.drive()
    assert await found(ended=Span(None, now - timedelta(days=1))) == []
    assert await found(ended=Span(now + timedelta(days=1), None)) == []


async def test_job_of_a_door_says_when_its_outputs_began_to_be_copied(site: Site) -> None:
    """While they are, and afterwards."""
    api, caller, said = site.api, site.caller, {"name": "n", "inputs": {}}
    await site.submit(1, door="d", foreign_id="c", foreign_document=said)
    (one,) = await site.claim(1)
    worker, incarnation = await site.worker()
    report = PhaseReport(
        batch_id=one.batch_id,
        job_id=one.job_id,
        attempt=one.attempt,
        phase=Phase.COLLECTING,
        message="to somewhere",
    )
    assert await worker.record_phases(incarnation, [report]) == ["ok"]
    live = await api.find_door_job(caller, "d", "c", hidden=False)
    assert live is not None
    assert live["attempts"][0]["archiving_at"] is not None
    await worker.complete_attempts(incarnation, [end_report(one)])
    ended = await api.find_door_job(caller, "d", "c", hidden=False)
    assert ended is not None
    dates = [job["attempts"][0]["archiving_at"] for job in (live, ended)]
    assert dates[0] == dates[1]


async def test_jobs_of_a_door_are_found_by_the_ids_of_the_door(site: Site) -> None:
    """And counted, the newest first; strangers see none."""
    api, caller, stranger = site.api, site.caller, site.stranger
    for name in ("a", "b"):
        await site.submit(1, door="d", foreign_id=name, foreign_trace="t")
    whole = ForeignJobs(door="d", limit=1)
    found = await api.list_foreign_jobs(caller, whole)
    assert (found["total"], [one["foreign_id"] for one in found["jobs"]]) == (2, ["b"])
    one = ForeignJobs(door="d", foreign_id="a", states=[JobState.READY], limit=9)
    (job,) = (await api.list_foreign_jobs(caller, one))["jobs"]
    assert (job["foreign_trace"], job["state"], job["n_failed"]) == ("t", "ready", 0)
    for order, first in ((ForeignOrder.CHANGED_LAST, "b"), (ForeignOrder.CHANGED_FIRST, "a")):
        page = await api.list_foreign_jobs(caller, replace(whole, order=order))
        assert [job["foreign_id"] for job in page["jobs"]] == [first]
    changed = await api.list_foreign_jobs(caller, replace(whole, order=order, first_row=2))
    assert changed == {"total": 2, "jobs": []}
    assert await api.list_foreign_jobs(stranger, whole) == {"total": 0, "jobs": []}


async def test_jobs_that_are_hidden_or_deleted_do_not_count(site: Site) -> None:
    """Until they are shown again."""
    api, caller = site.api, site.caller
    batches = [await site.submit(1, door="d", foreign_id=name) for name in "abc"]
    whole = ForeignJobs(door="d", limit=9)
    await api.hide_batch(caller, batches[0], hidden=True)
    await api.delete_batch(caller, batches[1], UNKEYED)
    left = await api.list_foreign_jobs(caller, whole)
    assert (left["total"], [job["foreign_id"] for job in left["jobs"]]) == (1, ["c"])
    await api.hide_batch(caller, batches[0], hidden=False)
    for order in ForeignOrder:
        shown = await api.list_foreign_jobs(caller, replace(whole, order=order))
        names = {job["foreign_id"] for job in shown["jobs"]}
        assert (shown["total"], names) == (2, {"a", "c"})


async def test_jobs_in_some_states_are_counted_however_they_came_there(site: Site) -> None:
    """Before the driver has noted their ends and afterwards, and when they run once more;
    hidden ones are left out.
    """
    api, caller = site.api, site.caller
    for name in "abcd":
        await site.submit(1, door="d", foreign_id=name)
    claimed = sorted(await site.claim(3), key=lambda one: one.batch_id)
    await site.end(claimed[0])
    await site.end(*claimed[1:], reason=Reason.EXIT)

    async def shown(*states: JobState) -> str:
        pages = [
            await api.list_foreign_jobs(
                caller, ForeignJobs(door="d", states=states, order=order, limit=9)
            )
            for order in (ForeignOrder.CHANGED_FIRST, ForeignOrder.CHANGED_LAST)
        ]
        first, last = ([job["foreign_id"] for job in page["jobs"]] for page in pages)
        assert sorted(first) == sorted(last)
        assert [page["total"] for page in pages] == [len(first)] * 2
        return "".join(sorted(first))

    for _ in range(2):
        assert await shown(JobState.SUCCESS) == "a"
        assert await shown(JobState.FAILED, JobState.CANCELLED) == "bc"
        assert await shown(JobState.READY) == "d"
        await site.drive()
    again = await api.retry_jobs(caller, claimed[1].batch_id, UNKEYED, job_ids=[1])
    await site.ended(again)
    assert await shown(JobState.FAILED) == "c"
    assert await shown(JobState.READY) == "bd"
    await site.run(1)
    for _ in range(2):
        assert await shown(JobState.SUCCESS, JobState.FAILED) in {"abc", "acd"}
        await site.drive()
    await api.hide_batch(caller, claimed[0].batch_id, hidden=True)
    await api.hide_batch(caller, claimed[2].batch_id, hidden=True)
    assert await shown(JobState.FAILED) == ""
    assert await shown(JobState.SUCCESS) in {"b", "d"}


LIMITS: Final = QueryLimits(timeout_s=30, scan_jobs_max=1000)

DIFFERENCE_MAX: Final = 1e-11


def jobs_of(
    query: str = "",
    *,
    limit: int = 9,
    limits: QueryLimits = LIMITS,
    **more: Any,  # noqa: ANN401 (fields of JobQuery)
) -> JobQuery:
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


JOBS = DoorJobQuery(door=NAME, limit=100, hidden=True, limits=QueryLimits(30, 1000))
KEPT: Final[dict[str, Any]] = {
    "appId": "a-1",
    "systemId": "local",
    "batchQueue": "default",
    "nodeCount": 1,
    "processorsPerNode": 2,
    "memoryPerNode": 0.5,
    "maxRunTime": "01:30:00",
    "inputs": {},
    "parameters": {},
    "archive": True,
    "archiveOnAppError": False,
    "archivePath": "ann/x",
    "archiveSystem": None,
    "asked": {},
}
OTHERS: Final[tuple[dict[str, Any], ...]] = (
    {"name": "alpha", "archive": False, "memoryPerNode": 2},
    {"name": "beta_%", "appId": "b-2", "processorsPerNode": 4, "maxRunTime": "1200:00:00"},
    {"name": "Beta", "systemId": "lake", "archiveSystem": "store"},
    {"name": "alpha two", "batchQueue": "calm", "archivePath": "ann/y/z"},
    {"name": "alpha", "nodeCount": 3},
    {"name": "be\\ta*"},
)
TEXTS = (
    "name=alpha",
    "name.neq=alpha",
    "name.like=alpha*",
    "name.like=*t*",
    "name.nlike=*a",
    "name.like=beta_%",
    "name.like=b*\\ta*",
    "name.in=alpha,Beta",
    "name.nin=alpha,Beta",
    "id.like=i-1*",
    "owner.like=*",
    "owner=nobody",
    "appId=b-2",
    "systemId=lake",
    "executionSystem.neq=lake",
    "batchQueue=calm",
    "remoteQueue=calm",
    "archivePath.like=ann/*",
    "archiveSystem=weft",
    "archiveSystem.neq=weft",
    "nodeCount.gt=1",
    "processorsPerNode.lte=2",
    "memoryPerNode.gte=512MB",
    "memoryPerNode=0.5",
    "memoryPerNode.in=2,0.5",
    "maxRunTime.gt=02:00:00",
    "maxRunTime=5400",
    "archive=true",
    "archive.neq=true",
    "visible=false",
    "visible=true",
    "status=FINISHED",
    "status=failed",
    "status.neq=FINISHED",
    "status.in=FINISHED,FAILED",
    "status.nin=STOPPED,PENDING",
    "status=PENDING",
    "status=RUNNING",
    "status.in=RUNNING,STOPPED",
    "status=BLOCKED",
    "status=KILLED",
    "status.like=F*",
    "endTime.gt=2020",
    "endTime.lt=2025-01-01",
    "endTime=2024-05-01T12:00:00",
    "endTime.on=2024-05-01",
    "endTime.on=9999-12-31",
    "endTime.neq=2024-05-01T12:00:00",
    "endTime.gt=tomorrow",
    "ended.between=2024-05-01,2024-05-02",
    "endTime.in=2020-01-01,2024-05-01T12:00:00",
    "startTime.gt=2020-01-01",
    "submitTime.gt=2020-01-01",
    "submitTime.neq=2020-01-01",
    "created.on=2024-05-01",
    "created=2024-05-01T10:00:00",
    "created.between=2024-01-01,2024-12-31",
    "ended.gte=yesterday",
    "started.before=now",
    "runtime.gte=0",
    "runtime.gt=1000",
    "walltime=7200",
    "walltime.neq=7200",
    "lastUpdated.gt=2025-01-01",
    "parameters.like=*",
    "localId.neq=b1.j1",
    "retries=0",
)
FIELDS = (
    "name",
    "created",
    "submitTime",
    "startTime",
    "endTime",
    "archive",
    "memoryPerNode",
    "status",
    "executionSystem",
    "appId",
    "maxRunTime",
    "runtime",
    "walltime",
    "id",
    "lastUpdated",
)


async def jobs_in_all_states(site: Site) -> list[Row]:
    """Make jobs that wait, run, have ended in each way, and one that was imported."""
    batches = []
    for n, other in enumerate(OTHERS * 2):
        said = {**KEPT, **other}
        named = {"name": other["name"], "foreign_id": f"i-{n}", "foreign_kind": said["appId"]}
        batches.append(await site.submit(1, door=NAME, foreign_document=said, **named))
    claimed = {one.batch_id: one for one in await site.claim(8)}
    for batch_id, reason in zip(
        batches, (None, Reason.EXIT, Reason.TIMEOUT, None, Reason.LOST), strict=False
    ):
        await site.end(claimed[batch_id], reason=reason)
    await site.api.cancel_group(site.caller, batches[8], 0, force=True)
    await site.api.hide_batch(site.caller, batches[3], hidden=True)
    at = datetime(2024, 5, 1, 10, tzinfo=UTC)
    history = [
        (word, (at + timedelta(hours=n)).isoformat(), "ann", "")
        for n, word in enumerate(("PENDING", "RUNNING", "FAILED"))
    ]
    old = NewBatch(
        name="old",
        door=NAME,
        foreign_id="old-007",
        created_at=at,
        ended_at=at + timedelta(hours=2),
        foreign_kind=KEPT["appId"],
        foreign_document={**KEPT, "name": "old", "history": history},
    )
    await site.api.create_batch(site.caller, old, UNKEYED)
    return list(await site.api.list_door_jobs(site.caller, JOBS))


@pytest.mark.heavy
async def test_database_finds_what_the_documents_say(site: Site) -> None:
    """For each field and operator; in each order, in pages."""
    rows = await jobs_in_all_states(site)
    documents = [job_document(one, "", ()) for one in rows]
    assert len({one["status"] for one in documents}) >= 5
    wholes = 0
    for text in TEXTS:
        name, _, value = text.partition("=")
        terms = terms_of([(name, value)])
        sieve = sieve_of(terms)
        query = all_of(sieve.nodes) if sieve.nodes else EVERYTHING
        wanted = replace(JOBS, query=query, ended=sieve.ended, **sieve.exact)
        found = await site.api.list_door_jobs(site.caller, wanted)
        ids = {one["foreign_id"] for one in found}
        expected = {one["id"] for one in documents if terms[0].holds(one)}
        assert ids >= expected, text
        if not sieve.rest:
            wholes += 1
            assert ids == expected, text
    assert wholes > len(TEXTS) - 14
    for field in FIELDS:
        key = order_in_sql(field.lower())
        for is_descending in (True, False):
            if key is None:
                continue
            has_all = have_all(field.lower())
            wanted = replace(JOBS, sort_key=key, is_descending=is_descending, has_all=has_all)
            wanted = replace(wanted, limit=3)
            paged: list[str] = []
            while part := await site.api.list_door_jobs(
                site.caller, replace(wanted, offset=len(paged))
            ):
                paged += [one["foreign_id"] for one in part]
            ordered = sorted(documents, key=sort_key(field.lower()), reverse=is_descending)
            assert paged == [one["id"] for one in ordered], field


async def test_archives_are_found_by_their_paths(site: Site) -> None:
    for n, path in enumerate(("ann/x", "ann/x/y")):
        kept = {**KEPT, "name": "n", "archivePath": path}
        await site.submit(1, door=NAME, foreign_id=f"{n}", foreign_document=kept)
    for path, expected in (("ann/x/1", "0"), ("ann/x/y/1", "1"), ("ann/x", None), ("n/x/1", None)):
        wanted = replace(JOBS, query=archived_below(path), limit=1)
        found = await site.api.list_door_jobs(site.caller, wanted)
        assert [one["foreign_id"] for one in found] == ([] if expected is None else [expected])

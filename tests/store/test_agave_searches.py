"""Searches of the door for Agave: what the database finds is what the documents say."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from builders import job_rows
from store.site import Site
from weft.core.query.tree import EVERYTHING, all_of
from weft.core.states import Reason
from weft.extensions.doors.aloe.documents import job_document
from weft.extensions.doors.aloe.searching import sort_key, terms_of
from weft.extensions.doors.aloe.sql_terms import archived_below, have_all, order_in_sql, sieve_of
from weft.extensions.doors.aloe.words import NAME
from weft.ports.store import UNKEYED, NewBatch, QueryLimits, Row
from weft.ports.store.offers import DoorJobQuery

JOBS = DoorJobQuery(door=NAME, limit=100, hidden=True, limits=QueryLimits(30, 1000))
KEPT: Final[dict[str, Any]] = {
    "appId": "a-1", "systemId": "local", "batchQueue": "default", "nodeCount": 1,
    "processorsPerNode": 2, "memoryPerNode": 0.5, "maxRunTime": "01:30:00", "inputs": {},
    "parameters": {}, "archive": True, "archiveOnAppError": False, "archivePath": "ann/x",
    "archiveSystem": None, "asked": {},
}  # fmt: skip
OTHERS: Final[tuple[dict[str, Any], ...]] = (
    {"name": "alpha", "archive": False, "memoryPerNode": 2},
    {"name": "beta_%", "appId": "b-2", "processorsPerNode": 4, "maxRunTime": "1200:00:00"},
    {"name": "Beta", "systemId": "lake", "archiveSystem": "store"},
    {"name": "alpha two", "batchQueue": "calm", "archivePath": "ann/y/z"},
    {"name": "alpha", "nodeCount": 3},
    {"name": "be\\ta*"},
)
TEXTS = (
    "name=alpha", "name.neq=alpha", "name.like=alpha*", "name.like=*t*", "name.nlike=*a",
    "name.like=beta_%", "name.like=b*\\ta*", "name.in=alpha,Beta", "name.nin=alpha,Beta",
    "id.like=i-1*", "owner.like=*", "owner=nobody", "appId=b-2", "systemId=lake",
    "executionSystem.neq=lake", "batchQueue=calm", "remoteQueue=calm", "archivePath.like=ann/*",
    "archiveSystem=weft", "archiveSystem.neq=weft", "nodeCount.gt=1", "processorsPerNode.lte=2",
    "memoryPerNode.gte=512MB", "memoryPerNode=0.5", "memoryPerNode.in=2,0.5",
    "maxRunTime.gt=02:00:00", "maxRunTime=5400", "archive=true", "archive.neq=true",
    "visible=false", "visible=true", "status=FINISHED", "status=failed", "status.neq=FINISHED",
    "status.in=FINISHED,FAILED", "status.nin=STOPPED,PENDING", "status=PENDING",
    "status=RUNNING", "status.in=RUNNING,STOPPED", "status=BLOCKED", "status=KILLED",
    "status.like=F*", "endTime.gt=2020", "endTime.lt=2025-01-01", "endTime=2024-05-01T12:00:00",
    "endTime.on=2024-05-01", "endTime.on=9999-12-31",
    "endTime.neq=2024-05-01T12:00:00", "endTime.gt=tomorrow",
    "ended.between=2024-05-01,2024-05-02", "endTime.in=2020-01-01,2024-05-01T12:00:00",
    "startTime.gt=2020-01-01",
    "submitTime.gt=2020-01-01", "submitTime.neq=2020-01-01", "created.on=2024-05-01",
    "created=2024-05-01T10:00:00", "created.between=2024-01-01,2024-12-31", "ended.gte=yesterday",
    "started.before=now", "runtime.gte=0", "runtime.gt=1000", "walltime=7200", "walltime.neq=7200",
    "lastUpdated.gt=2025-01-01", "parameters.like=*", "localId.neq=b1.j1", "retries=0",
)  # fmt: skip
FIELDS = (
    "name", "created", "submitTime", "startTime", "endTime", "archive", "memoryPerNode", "status",
    "executionSystem", "appId", "maxRunTime", "runtime", "walltime", "id", "lastUpdated",
)  # fmt: skip


async def jobs_in_all_states(site: Site) -> list[Row]:
    """Make jobs that wait, run, have ended in each way, and one that was imported."""
    batches = []
    for n, other in enumerate(OTHERS * 2):
        rows = job_rows(1)
        batches.append(
            await site.submit(
                rows,
                name=other["name"],
                door=NAME,
                foreign_id=f"i-{n}",
                foreign_document={**KEPT, **other},
                foreign_kind={**KEPT, **other}["appId"],
            )
        )
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
        name="old", door=NAME, foreign_id="old-007", created_at=at,
        ended_at=at + timedelta(hours=2), foreign_kind=KEPT["appId"],
        foreign_document={**KEPT, "name": "old", "history": history},
    )  # fmt: skip
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
        wanted = replace(JOBS, query=query, name=sieve.name, kind=sieve.app, ended=sieve.ended)
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

"""Jobs that came through a door: lists of them, searches, and who sees them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from builders import end_report
from store.site import Site
from weft.core.access.rights import Permission, UserRole
from weft.core.query.tree import DoorTerm
from weft.core.states import JobState, Phase, Reason
from weft.ports.store import UNKEYED, Caller, ForeignJobs, ForeignOrder, PhaseReport, QueryLimits
from weft.ports.store.offers import DoorJobQuery, Span


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
        batch_id=one.batch_id, job_id=one.job_id, attempt=one.attempt,
        phase=Phase.COLLECTING, message="to somewhere",
    )  # fmt: skip
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

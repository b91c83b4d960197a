"""What every adapter of the port `DoorJobStore` must do: a part of the api's suite."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from store.calls.store_site import StoreTests, refused
from weft.core.access.permissions import Permission
from weft.core.access.rights import UserRole
from weft.core.errors import PermissionMissing
from weft.core.query.tree import DoorTerm
from weft.core.states import JobState, Phase
from weft.ports.store import Caller, PhaseReport, QueryLimits
from weft.ports.store.door_jobs import DoorJobQuery, Span
from weft.testing.builders import end_report


class DoorJobStoreSuite(StoreTests):
    """Tests of the port `DoorJobStore`."""

    async def test_job_of_a_door_is_its_owners_until_it_is_granted(self) -> None:
        """Members of its billing project do not see it, nor does anybody once it is hidden."""
        api, caller, token = self.site.api, self.site.caller, uuid4().hex
        await api.add_user(caller, "eve", UserRole.USER, token)
        found = await api.authenticate(token)
        assert found is not None
        eve = replace(found, needs=Permission.READ)
        wanted = DoorJobQuery(door="d", limit=9, limits=QueryLimits(10, 1000))
        said = {"name": "n", "inputs": {}}
        batch = await self.site.submit(1, door="d", foreign_id="a", foreign_document=said)
        await self.site.submit(1, door="d", foreign_id="b")
        job = await api.find_door_job(caller, "d", "a", hidden=False)
        assert job is not None
        assert (job["batch_id"], job["document"], job["state"]) == (batch, said, "ready")
        assert (job["attempts"], job["changes"], job["cancel"]) == ([], [], None)
        own = await api.list_door_jobs(caller, wanted)
        assert [one["foreign_id"] for one in own] == ["a"]
        assert await api.list_door_jobs(caller, replace(wanted, before=batch)) == []
        assert await api.find_door_job(eve, "d", "a", hidden=True) is None
        assert await api.list_door_jobs(eve, wanted) == []
        await api.share_batch(caller, batch, "eve", Permission.READ)
        assert await api.find_door_job(eve, "d", "a", hidden=False) is not None
        assert len(await api.list_door_jobs(eve, wanted)) == 1
        with refused(PermissionMissing):
            await api.find_door_job(replace(eve, needs=Permission.WRITE), "d", "a", hidden=False)
        await api.hide_batch(caller, batch, hidden=True)
        assert await api.find_door_job(caller, "d", "a", hidden=False) is None
        assert await api.list_door_jobs(caller, wanted) == []
        all_ = await api.list_door_jobs(caller, replace(wanted, hidden=True))
        assert [one["hidden"] for one in all_] == [True]
        hidden = await api.find_door_job(caller, "d", "a", hidden=True)
        assert hidden is not None
        assert [one["kind"] for one in hidden["changes"]] == ["shared", "hidden"]

    async def test_jobs_of_a_door_are_searched_and_sorted(self) -> None:
        """By conditions of the door; granted ones among own ones, and in pages."""
        api, caller, token = self.site.api, self.site.caller, uuid4().hex
        await api.add_user(caller, "ann", UserRole.USER, token)
        ann = await api.authenticate(token)
        assert ann is not None
        for n, name in enumerate(("b", "a", "c", "b")):
            batch = await self.site.submit(
                1, door="e", foreign_id=str(n), foreign_document={"name": name}
            )
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
            assert (
                await found(user, by_name) == ["1", "3", "0", *everything[1:2]][: len(everything)]
            )
            assert await found(user, replace(by_name, offset=1, limit=2)) == ["3", "0"]

    async def test_jobs_of_a_door_are_found_by_their_kind_and_their_end(self) -> None:
        """Which is noted by the driver: those whose end it has not seen are looked at, too."""
        api, caller = self.site.api, self.site.caller
        for n, kind in enumerate(("x", "y", "x")):
            await self.site.submit(
                1, door="e", foreign_id=str(n), foreign_document={"n": n}, foreign_kind=kind
            )
        wanted = DoorJobQuery(door="e", limit=9, limits=QueryLimits(10, 1000))

        async def found(**more: Any) -> list[str]:  # noqa: ANN401 (fields of a query)
            rows = await api.list_door_jobs(caller, replace(wanted, **more))
            return [one["foreign_id"] for one in rows]

        assert await found(kind="x") == ["2", "0"]
        assert await found(kind="z") == []
        await self.site.run(2)
        now = datetime.now(UTC)
        for _ in range(2):
            ended = await found(query=DoorTerm("j.state = {0}", (int(JobState.SUCCESS),)))
            for span, ids in (
                (Span(now - timedelta(days=1), None), ended),
                (Span(now - timedelta(days=1), now + timedelta(days=1)), ended),
            ):
                assert set(await found(ended=span)) >= set(ids)
            await self.site.drive()
        assert await found(ended=Span(None, now - timedelta(days=1))) == []
        assert await found(ended=Span(now + timedelta(days=1), None)) == []

    async def test_job_of_a_door_says_when_its_outputs_began_to_be_copied(self) -> None:
        """While they are, and afterwards."""
        api, caller, said = self.site.api, self.site.caller, {"name": "n", "inputs": {}}
        await self.site.submit(1, door="d", foreign_id="c", foreign_document=said)
        (one,) = await self.site.claim(1)
        worker, incarnation = await self.site.worker()
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

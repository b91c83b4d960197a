"""What every adapter of the port `DoorJobStore` must do: a part of the api's suite."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

from weft.core.access.permissions import Permission
from weft.core.access.rights import UserRole
from weft.core.errors import PermissionMissing
from weft.core.states import JobState, Phase
from weft.ports.store import PhaseReport
from weft.testing.builders import end_report
from weft.testing.store_site import StoreTests, refused

NEWEST = 2**62


class DoorJobStoreSuite(StoreTests):
    """Tests of the port `DoorJobStore`."""

    async def test_job_of_a_door_is_its_owners_until_it_is_granted(self) -> None:
        """Members of its billing project do not see it, nor does anybody once it is hidden."""
        api, caller, token = self.site.api, self.site.caller, uuid4().hex
        await api.add_user(caller, "eve", UserRole.USER, token)
        found = await api.authenticate(token)
        assert found is not None
        eve = replace(found, needs=Permission.READ)
        reading: dict[str, Any] = {"before": NEWEST, "hidden": False, "limit": 9}
        said = {"name": "n", "inputs": {}}
        batch = await self.site.submit(1, door="d", foreign_id="a", foreign_document=said)
        await self.site.submit(1, door="d", foreign_id="b")
        job = await api.find_door_job(caller, "d", "a", hidden=False)
        assert job is not None
        assert (job["batch_id"], job["document"], job["state"]) == (batch, said, "ready")
        assert (job["attempts"], job["changes"], job["cancel"]) == ([], [], None)
        own = await api.list_door_jobs(caller, "d", states=None, **reading)
        assert [one["foreign_id"] for one in own] == ["a"]
        running = [JobState.RUNNING]
        assert await api.list_door_jobs(caller, "d", states=running, **reading) == []
        assert await api.find_door_job(eve, "d", "a", hidden=True) is None
        assert await api.list_door_jobs(eve, "d", states=None, **reading) == []
        await api.share_batch(caller, batch, "eve", Permission.READ)
        assert await api.find_door_job(eve, "d", "a", hidden=False) is not None
        assert len(await api.list_door_jobs(eve, "d", states=None, **reading)) == 1
        with refused(PermissionMissing):
            await api.find_door_job(replace(eve, needs=Permission.WRITE), "d", "a", hidden=False)
        await api.hide_batch(caller, batch, hidden=True)
        assert await api.find_door_job(caller, "d", "a", hidden=False) is None
        assert await api.list_door_jobs(caller, "d", states=None, **reading) == []
        all_ = await api.list_door_jobs(caller, "d", states=None, **{**reading, "hidden": True})
        assert [one["hidden"] for one in all_] == [True]
        hidden = await api.find_door_job(caller, "d", "a", hidden=True)
        assert hidden is not None
        assert [one["kind"] for one in hidden["changes"]] == ["shared", "hidden"]

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

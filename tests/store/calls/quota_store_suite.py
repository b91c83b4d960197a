"""What every adapter of the port `QuotaStore` must do: a part of the api's suite."""

from functools import partial
from uuid import uuid4

from store.calls.store_site import TRACE_ID, UNKEYED, StoreTests, refused
from weft.core.access.rights import UserRole
from weft.core.errors import QuotaExceeded, TenantNotFound, UserNotFound
from weft.ports.store import NewBatch
from weft.testing.builders import job_rows


class QuotaStoreSuite(StoreTests):
    """Tests of the port `QuotaStore`."""

    async def test_quota_of_a_user_limits_what_has_not_ended(self) -> None:
        """Its own goes before that of each user; ends make room; None lifts it."""
        api, caller = self.site.api, self.site.caller
        assert (await api.set_quota(caller, None, {"jobs": 1, "batches": 1}))["jobs"] == 1
        own = await api.set_quota(caller, caller.user_name, {"jobs": 2})
        assert (own["kind"], own["jobs"], own["batches"]) == ("user", 2, None)
        await self.site.submit(2)
        with refused(QuotaExceeded):
            await self.site.submit(1)
        found = (await api.list_quotas(caller))[-1]
        assert found == {
            "kind": "user",
            "name": caller.user_name,
            "jobs": 2,
            "batches": 1,
            "cores": None,
            "bytes": None,
            "n_jobs": 2,
            "n_batches": 1,
            "n_cores": 0,
            "n_bytes": found["n_bytes"],
        }
        assert found["n_bytes"] > 0
        await self.site.run()
        batch = await self.site.submit(1)
        await api.set_quota(caller, caller.user_name, {"jobs": None})
        with refused(QuotaExceeded):
            await self.site.submit(1, batch=batch)
        await api.set_quota(caller, None, {"jobs": None, "batches": None})
        await self.site.submit(3, batch=batch)
        with refused(UserNotFound):
            await api.set_quota(caller, "nobody", {"jobs": 1})

    async def test_quota_of_cores_keeps_jobs_waiting(self) -> None:
        """A job that asks for more than all of it is refused."""
        api, caller = self.site.api, self.site.caller
        await api.set_quota(caller, caller.user_name, {"cores": 1.5})
        batch = await self.site.submit(2)
        (row,) = await api.why_jobs(caller, batch, [2])
        assert [(g.kind, g.cost, g.max_places) for g in row.gates] == [("cores_user", 1000, 1500)]
        await self.site.run()
        await self.site.run()
        assert (await api.get_batch(caller, batch))["complete"]
        await api.set_quota(caller, caller.user_name, {"cores": 0.5})
        with refused(QuotaExceeded):
            await self.site.submit(1)

    async def test_what_was_sent_and_batches_without_jobs_count(self) -> None:
        """Specs once, whether they are committed or not; a batch once, with jobs or without."""
        api, caller = self.site.api, self.site.caller
        await api.set_quota(caller, caller.user_name, {"batches": 1})
        create = partial(
            api.create_batch,
            caller,
            NewBatch(trace_id=TRACE_ID),
            idempotency_key=None,
            digest=b"",
        )
        batch, _ = await create()
        with refused(QuotaExceeded):
            await create()
        update, _ = await api.create_update(caller, batch, n_jobs=2, n_groups=0, **UNKEYED)
        await api.add_jobs(caller, batch, update.update_id, job_rows(1))
        sent = (await api.list_quotas(caller))[-1]["n_bytes"]
        await api.set_quota(caller, caller.user_name, {"bytes": sent})
        with refused(QuotaExceeded):
            await api.add_jobs(caller, batch, update.update_id, job_rows(1, first_job=2))
        await api.set_quota(caller, caller.user_name, {"bytes": 2 * sent})
        await api.add_jobs(caller, batch, update.update_id, job_rows(1, first_job=2))
        await api.commit_update(caller, batch, update.update_id)
        found = (await api.list_quotas(caller))[-1]
        assert (found["n_batches"], found["n_bytes"]) == (1, 2 * sent)

    async def test_quota_of_a_tenant_counts_all_its_users(self) -> None:
        """An administrator of the site sets it, by the name of the tenant."""
        api, caller = self.site.api, self.site.caller
        token, name = uuid4().hex, uuid4().hex
        await api.add_user(caller, "root", UserRole.ADMIN, token)
        root = await api.authenticate(token)
        assert root is not None
        await api.create_tenant(root, name, admin="ann", token=uuid4().hex)
        found = await api.set_tenant_quota(root, name.upper(), {"batches": 7})
        assert (found["kind"], found["name"], found["batches"]) == ("tenant", name, 7)
        with refused(TenantNotFound):
            await api.set_tenant_quota(root, uuid4().hex, {"jobs": 1})
        rows = await api.list_quotas(root)
        assert [row["kind"] for row in rows[:2]] == ["tenant", "each_user"]

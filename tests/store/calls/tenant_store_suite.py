"""What every adapter of the port `TenantStore` must do: a part of the api's suite."""

from uuid import uuid4

from store.calls.store_site import TRACE_ID, UNKEYED, StoreTests, refused
from weft.core.access.rights import UserRole
from weft.core.errors import RightMissing, TenantExists, TenantNotFound
from weft.ports.store import Action, Caller, NewBatch, TrailQuery, Visited
from weft.testing.builders import job_rows


class TenantStoreSuite(StoreTests):
    """Tests of the port `TenantStore`."""

    async def admin(self) -> Caller:
        """Return an administrator of the site."""
        token = uuid4().hex
        await self.site.api.add_user(self.site.caller, "root", UserRole.ADMIN, token)
        found = await self.site.api.authenticate(token)
        assert found is not None
        return found

    async def test_tenant_has_a_user_a_project_and_a_queue(self) -> None:
        """So that its first user can submit; it is listed with its users."""
        api, admin, token, name = self.site.api, await self.admin(), uuid4().hex, uuid4().hex
        made = await api.create_tenant(admin, name, admin="ann", token=token)
        ann = await api.authenticate(token)
        assert ann is not None
        assert (ann.tenant_id, ann.user_name, ann.role) == (made, "ann", UserRole.TENANT_ADMIN)
        new = NewBatch(trace_id=TRACE_ID)
        await api.submit(ann, new, (), job_rows(1), **UNKEYED)
        await api.add_user(ann, "ben", UserRole.USER, uuid4().hex)
        (listed,) = await api.list_tenants(after=made - 1, limit=1)
        assert listed == {
            "tenant_id": made, "name": name, "n_users": 2, "on_user_removal": "finish",
            "allowed": {}, "output_keep_s": 0, "output_keep_bytes": 0,
        }  # fmt: skip
        await api.remove_user(ann, "ben", may_give=tuple(UserRole))
        (listed,) = await api.list_tenants(after=made - 1, limit=1)
        assert listed["n_users"] == 1

    async def test_tenant_says_what_becomes_of_batches_of_removed_users(self) -> None:
        """Each tenant for itself; whoever has the number of another finds nothing by its name."""
        api, admin, name = self.site.api, await self.admin(), f"a{uuid4().hex}"
        token = uuid4().hex
        made = await api.create_tenant(admin, name, admin="ann", token=token)
        ann = await api.authenticate(token)
        assert ann is not None
        assert await api.find_tenant(name.upper()) == made
        changed = await api.set_tenant(made, name.upper(), {"on_user_removal": "cancel"})
        assert (changed["name"], changed["on_user_removal"]) == (name, "cancel")
        assert await api.set_tenant(made, name, {}) == await api.get_tenant(made, name) == changed
        assert await api.tenant_allowed(ann) == {}
        lists = {"image": ["docker://a/*"], "partition": []}
        assert (await api.set_tenant(made, name, {"allowed": lists}))["allowed"] == lists
        await api.set_tenant(made, name, {"allowed": {"partition": None, "qos": ["high"]}})
        assert await api.tenant_allowed(ann) == {"image": ["docker://a/*"], "qos": ["high"]}
        assert await api.tenant_allowed(admin) == {}
        none = dict.fromkeys(("image", "qos"))
        assert await api.set_tenant(made, name, {"allowed": none}) == changed
        with refused(TenantNotFound):
            await api.find_tenant(uuid4().hex)
        for other, asked in ((admin.tenant_id, name), (made, uuid4().hex)):
            with refused(TenantNotFound):
                await api.get_tenant(other, asked)
            with refused(TenantNotFound):
                await api.set_tenant(other, asked, {"on_user_removal": "finish"})
        assert await api.get_tenant(made, name) == changed
        for caller, expected in ((ann, "cancel"), (admin, "finish")):
            await api.add_user(caller, "ben", UserRole.USER, uuid4().hex)
            removed = await api.remove_user(caller, "ben", may_give=tuple(UserRole))
            assert removed["on_user_removal"] == expected

    async def test_tenant_is_made_once(self) -> None:
        """Its name is unique without regard to case; a repeat with the key replaces the token, if
        nobody has used it.
        """
        api, admin, name = self.site.api, await self.admin(), f"a{uuid4().hex}"
        first, second = uuid4().hex, uuid4().hex
        made = [
            await api.create_tenant(admin, name, admin="ann", token=token, idempotency_key="k")
            for token in (first, second)
        ]
        assert made[0] == made[1]
        assert await api.authenticate(first) is None
        ann = await api.authenticate(second)
        assert ann is not None
        assert await api.tenant_name(ann) == name
        with refused(TenantExists):
            await api.create_tenant(
                admin, name, admin="ann", token=uuid4().hex, idempotency_key="k"
            )
        assert await api.authenticate(second) == ann
        for given, user, key in (
            (name.upper(), "ann", None), (name, "ann", "other"), (name, "eve", "k")
        ):  # fmt: skip
            with refused(TenantExists):
                await api.create_tenant(
                    admin, given, admin=user, token=uuid4().hex, idempotency_key=key
                )

    async def test_only_administrators_of_the_site_make_tenants(self) -> None:
        """Also when somebody was one a moment ago."""
        with refused(RightMissing):
            await self.site.api.create_tenant(
                self.site.caller, uuid4().hex, admin="ann", token=uuid4().hex
            )

    async def test_visit_of_a_tenant_is_in_its_trail(self) -> None:
        """Only administrators of the site visit; whoever is none any more does not, though the
        caller says so. Looking into one's own tenant is in no trail.
        """
        api, admin, name = self.site.api, await self.admin(), f"a{uuid4().hex}"
        token, path = uuid4().hex, f"/v1/{uuid4().hex}"
        made = await api.create_tenant(admin, name, admin="ann", token=token)
        ann, home = await api.authenticate(token), await api.tenant_name(admin)
        assert ann is not None
        action = Action(caller=admin, name="visit", path=path, trace_id=TRACE_ID)
        known_as = f"{admin.user_name} of tenant {home}"
        assert await api.begin_visit(action, name.upper()) == Visited(made, name, known_as)
        assert await api.begin_visit(action, home) == Visited(admin.tenant_id, home, known_as)
        assert await api.begin_visit(action, uuid4().hex) is None
        for other in (ann, self.site.caller):
            told = Action(caller=other, name="visit", path=path, trace_id=TRACE_ID)
            assert await api.begin_visit(told, name) is None
        await self.site.sweep("seal_trail")
        query = TrailQuery(action="visit")
        found = [
            (one["tenant"], one["user"])
            for one in await api.list_trail(admin, query, before=None, limit=9, all_tenants=True)
            if one["path"] == path
        ]
        assert found == [(name, known_as)]

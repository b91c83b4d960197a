"""What every adapter of the port `TrailStore` must do: a part of the api's suite."""

from hashlib import sha256
from uuid import uuid4

from store.calls.store_site import TRACE_ID, StoreTests
from weft.ports.store import Action, FailedLogin, LoginOwner, TrailQuery, acting


class TrailStoreSuite(StoreTests):
    """Tests of the port `TrailStore`."""

    async def test_what_changes_something_is_in_the_trail_of_its_tenant(self) -> None:
        """Once it is sealed; so is what was refused."""
        api, caller, path = self.site.api, self.site.caller, f"/v1/{uuid4().hex}"
        action = Action(caller=caller, name="hold", path=path, trace_id=TRACE_ID)
        with acting(action):
            await api.list_tokens(caller)
            await api.create_token(
                caller, uuid4().hex, name="t", scopes=None, valid_s=None, tokens_max=99
            )
        await api.record_refusal(
            Action(caller=caller, name="read", path=path, trace_id=TRACE_ID, refused="API.X")
        )
        await self.site.sweep("seal_trail")
        found = await api.list_trail(
            caller, TrailQuery(user=caller.user_name), before=None, limit=2
        )
        assert [(one["action"], one["path"], one["refused"]) for one in found] == [
            ("read", path, "API.X"),
            ("hold", path, None),
        ]
        last = found[1]["number"]
        (older,) = await api.list_trail(
            caller, TrailQuery(action="hold"), before=last + 1, limit=1, all_tenants=True
        )
        assert older == found[1]
        theirs = await api.list_trail(self.site.stranger, TrailQuery(), before=None, limit=9)
        assert path not in [one["path"] for one in theirs]

    async def test_failed_login_is_in_the_trail_of_its_tenant_or_of_none(self) -> None:
        """Whose an expired token is can be known; a login of nobody is for the site alone."""
        api, caller, path, token = self.site.api, self.site.caller, uuid4().hex, uuid4().hex
        await api.create_token(caller, token, name="t", scopes=None, valid_s=0, tokens_max=99)
        assert await api.authenticate(token) is None
        owner = await api.login_owner(sha256(token.encode()).digest())
        assert owner == LoginOwner(caller.tenant_id, caller.user_id, caller.user_name)
        assert await api.login_owner(sha256(b"guessed").digest()) is None
        whose = [owner, LoginOwner(tenant="no such", user_name="x"), LoginOwner()]
        for times, one in enumerate(whose, 1):
            await api.record_failed_login(
                FailedLogin(
                    owner=one, name="authenticate", path=path, trace_id=TRACE_ID, address=None,
                    refused="API.X", times=times,
                )
            )  # fmt: skip
        await self.site.sweep("seal_trail")
        query = TrailQuery(action="authenticate")
        ours = await api.list_trail(caller, query, before=None, limit=9)
        all_ = await api.list_trail(caller, query, before=None, limit=9, all_tenants=True)
        told = [(one["user"], one["times"]) for one in reversed(all_) if one["path"] == path]
        assert told == [(caller.user_name, 1), ("x", 2), (None, 3)]
        assert [one for one in ours if one["path"] == path] == [
            one for one in all_ if one["path"] == path and one["user"] == caller.user_name
        ]

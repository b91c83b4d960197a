"""What every adapter of the port `TokenStore` must do: a part of the api's suite."""

from uuid import uuid4

from store.calls.store_site import StoreTests, refused
from weft.core.access.rights import Right
from weft.core.errors import TooManyTokens


class TokenStoreSuite(StoreTests):
    """Tests of the port `TokenStore`."""

    async def test_token_stands_for_its_user_until_it_is_revoked(self) -> None:
        """With its scopes; nobody else lists or revokes it."""
        api, caller, stranger = self.site.api, self.site.caller, self.site.stranger
        token = uuid4().hex
        made = await api.create_token(
            caller, token, name="ci", scopes={Right.READ}, valid_s=None, tokens_max=100
        )
        found = await api.authenticate(token)
        assert found is not None
        assert (found.user_id, found.token_id) == (caller.user_id, made["token_id"])
        assert found.scopes == frozenset({Right.READ})
        (listed,) = [
            one for one in await api.list_tokens(caller) if one["token_id"] == made["token_id"]
        ]
        assert (listed["name"], listed["scopes"], listed["expires_at"]) == ("ci", ["read"], None)
        assert listed["last_used_at"] is not None
        assert made["token_id"] not in [one["token_id"] for one in await api.list_tokens(stranger)]
        assert not await api.revoke_token(stranger, made["token_id"])
        assert await api.authenticate(token) == found
        assert await api.revoke_token(caller, made["token_id"])
        assert not await api.revoke_token(caller, made["token_id"])
        assert await api.authenticate(token) is None

    async def test_tokens_are_limited(self) -> None:
        """Their number by the caller's limit, their time by what was asked for."""
        api, caller = self.site.api, self.site.caller
        token = uuid4().hex
        n = len(await api.list_tokens(caller))
        made = await api.create_token(
            caller, token, name="a", scopes=None, valid_s=3600, tokens_max=n + 1
        )
        assert made["expires_at"] > made["created_at"]
        with refused(TooManyTokens):
            await api.create_token(
                caller, f"{token}b", name="b", scopes=None, valid_s=None, tokens_max=n + 1
            )
        assert await api.authenticate(f"{token}b") is None

"""What every adapter of the port `SavedQueryStore` must do: a part of the api's suite."""

from dataclasses import replace
from uuid import uuid4

from store.calls.store_site import StoreTests, refused
from weft.core.access.rights import UserRole
from weft.core.errors import Unauthenticated


class SavedQueryStoreSuite(StoreTests):
    """Tests of the port `SavedQueryStore`."""

    async def test_saved_queries_are_their_users(self) -> None:
        """Nobody else lists, replaces or removes one."""
        api, caller, stranger = self.site.api, self.site.caller, self.site.stranger
        disguised = replace(stranger, user_id=caller.user_id)
        made = await api.save_query(caller, "a", "state = running", queries_max=9)
        assert made is not None
        assert made.keys() == {"name", "query", "updated_at"}
        await api.save_query(stranger, "a", "x", queries_max=9)
        assert not await api.remove_saved_query(disguised, "a")
        assert list(await api.list_saved_queries(disguised)) == []
        assert list(await api.list_saved_queries(caller)) == [made]
        again = await api.save_query(caller, "a", "y", queries_max=9)
        assert list(await api.list_saved_queries(caller, "a")) == [again]
        assert list(await api.list_saved_queries(caller, "b")) == []
        assert await api.remove_saved_query(caller, "a")
        assert not await api.remove_saved_query(caller, "a")
        assert [one["query"] for one in await api.list_saved_queries(stranger)] == ["x"]

    async def test_saved_queries_are_limited_and_go_with_their_user(self) -> None:
        """To replace one is always possible; a removed user has none, and saves none."""
        api, caller, token = self.site.api, self.site.caller, uuid4().hex
        await api.add_user(caller, "eve", UserRole.USER, token)
        eve = await api.authenticate(token)
        assert eve is not None
        for name in ("b", "a", "a"):
            assert await api.save_query(eve, name, "x", queries_max=2)
        assert await api.save_query(eve, "c", "x", queries_max=2) is None
        assert [one["name"] for one in await api.list_saved_queries(eve)] == ["a", "b"]
        await api.remove_user(caller, "eve", may_give=tuple(UserRole))
        assert list(await api.list_saved_queries(eve)) == []
        with refused(Unauthenticated):
            await api.save_query(eve, "a", "x", queries_max=2)

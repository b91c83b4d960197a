"""What every adapter of the port `LicenceStore` must do: a part of the api's suite."""

from uuid import uuid4

from store.calls.store_site import StoreTests


class LicenceStoreSuite(StoreTests):
    """Tests of the port `LicenceStore`."""

    async def test_licences_are_what_was_set(self) -> None:
        """A repeat changes nothing; a licence that was removed is forgotten."""
        api, caller = self.site.api, self.site.caller
        name = f"l{uuid4().hex}"
        for n in (2, 3, 3):
            await api.set_licence(caller, name, n)
        (found,) = [one for one in await api.list_licences(caller) if one["licence"] == name]
        assert (found["n"], found["n_used"]) == (3, 0)
        assert found["set_by"] == f"user {caller.user_name}"
        assert name in await api.licence_limits()
        assert await api.remove_licence(name)
        assert not await api.remove_licence(name)
        assert name not in await api.licence_limits()

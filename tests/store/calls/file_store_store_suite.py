"""What every adapter of the port `FileStoreStore` must do: a part of the api's suite."""

from dataclasses import replace
from uuid import uuid4

from store.calls.store_site import StoreTests
from weft.ports.store.file_stores import NewFileStore


class FileStoreStoreSuite(StoreTests):
    """Tests of the port `FileStoreStore`."""

    async def test_store_is_what_was_set_last(self) -> None:
        """Its secret is that of who set it; whether it is there is said, and no more."""
        api, caller, name = self.site.api, self.site.caller, f"s{uuid4().hex}"
        new = NewFileStore(
            name=name, url="s3://bucket/a", endpoint=None, region=None, access="read",
            credentials="secret", secret=name,
        )  # fmt: skip
        assert await api.save_store(
            caller, new, stores_max=0
        ) is None or not await api.list_stores(caller)
        first = await api.save_store(caller, new, stores_max=10_000)
        assert first is not None
        assert (first["url"], first["secret"], first["is_ready"]) == ("s3://bucket/a", name, False)
        await api.set_secret(caller, name, bytes(40), secrets_max=10_000)
        (found,) = await api.list_stores(caller, name)
        assert found["is_ready"]
        assert found["set_by"] == caller.user_name
        tried = await api.find_store(caller, name)
        assert tried is not None
        assert (tried.url, tried.body) == ("s3://bucket/a", bytes(40))
        assert await api.find_store(caller, f"{name}x") is None
        other = replace(new, access="write", credentials="env", secret=None)
        second = await api.save_store(caller, other, stores_max=10_000)
        assert second is not None
        assert (second["access"], second["credentials"], second["secret"]) == (
            "write",
            "env",
            None,
        )
        assert name in [one["name"] for one in await api.list_stores(caller)]
        assert await api.remove_store(caller, name)
        assert not await api.remove_store(caller, name)
        assert list(await api.list_stores(caller, name)) == []
        await api.remove_secret(caller, name)

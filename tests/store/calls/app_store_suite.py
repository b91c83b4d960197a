"""What every adapter of the port `AppStore` must do: a part of the api's suite."""

from hashlib import sha256
from uuid import uuid4

from store.calls.store_site import StoreTests, refused
from weft.core.errors import AppIncomplete, AppNotFound, TooManyApps, UserNotFound
from weft.ports.store.apps import NewApp
from weft.wire.payload import PART_BYTES


def new_app(name: str, data: bytes, for_user: str | None = None) -> NewApp:
    """Return an application of this folder."""
    return NewApp(
        name=name, for_user=for_user, digest=sha256(data).digest(), n_bytes=len(data),
        description={"name": name, "wrapper": "run.sh"},
    )  # fmt: skip


class AppStoreSuite(StoreTests):
    """Tests of the port `AppStore`."""

    async def test_application_is_what_was_saved_last(self) -> None:
        """Parts come in any order and twice; the same content changes nothing."""
        api, caller, name = self.site.api, self.site.caller, f"a{uuid4().hex}"
        data = name.encode().ljust(PART_BYTES) + b"end"
        one = new_app(name, data)
        await api.add_app_part(caller, one.digest, 2, b"end", n_bytes=len(data))
        with refused(AppIncomplete):
            await api.save_app(caller, one, apps_max=1000)
        for part, body in ((1, data[:PART_BYTES]), (1, data[:PART_BYTES])):
            await api.add_app_part(caller, one.digest, part, body, n_bytes=len(data))
        assert await api.read_app_part(caller, one.digest, 2) == (len(data), b"end")
        assert await api.read_app_part(caller, one.digest, 3) is None
        first = await api.save_app(caller, one, apps_max=1000)
        assert (first["revision"], first["changed"]) == (1, True)
        assert not (await api.save_app(caller, one, apps_max=1000))["changed"]
        other = new_app(name, b"other")
        await api.add_app_part(caller, other.digest, 1, b"other", n_bytes=5)
        with refused(TooManyApps):
            await api.save_app(caller, other, apps_max=0)
        second = await api.save_app(caller, other, apps_max=1000)
        assert second["revision"] == first["revision"] + 1
        (found,) = await api.find_apps(caller, [name, "gone-1"])
        assert (found["digest"], found["description"]) == (other.digest, other.description)
        shown = await api.get_app(caller, name, sees_all=False)
        assert shown["digest"] == other.digest.hex()
        assert name in [row["name"] for row in await api.list_apps(caller, sees_all=True)]
        with refused(UserNotFound):
            await api.remove_app(caller, name, for_user="nobody at all")
        await api.remove_app(caller, name, for_user=None)
        assert list(await api.find_apps(caller, [name])) == []
        with refused(AppNotFound):
            await api.get_app(caller, name, sees_all=True)

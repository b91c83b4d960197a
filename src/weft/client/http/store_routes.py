"""The client's calls about stores of objects."""

from urllib.parse import quote

from weft.client.http.calls import Requests
from weft.client.http.listing import Document


def _path(name: str) -> str:
    return f"/v1/stores/{quote(name, safe='')}"


class StoreRoutes(Requests):
    """One method per route."""

    async def list_stores(self) -> list[Document]:
        """Return the stores of the tenant by name."""
        found: list[Document] = (await self._get("/v1/stores"))["items"]
        return found

    async def get_store(self, name: str) -> Document:
        """Return a store. Raise `FileStoreNotFound`."""
        return await self._get(_path(name))

    async def add_store(
        self,
        name: str,
        url: str,
        *,
        access: str,
        secret: str | None = None,
        credentials: str = "secret",
        endpoint: str | None = None,
        region: str | None = None,
    ) -> Document:
        """Set a store. Only for operators. Raise `InvalidValue`, `TooManyFileStores`."""
        document = {
            "url": url, "access": access, "credentials": credentials, "secret": secret,
            "endpoint": endpoint, "region": region,
        }  # fmt: skip
        given = {key: value for key, value in document.items() if value is not None}
        return await self._put(_path(name), given)

    async def test_store(self, name: str) -> Document:
        """Try a store. Only for operators. Raise `FileStoreNotFound`."""
        return await self._post(f"{_path(name)}/trial", {})

    async def remove_store(self, name: str) -> None:
        """Forget a store. Only for operators. Raise `FileStoreNotFound`."""
        await self._session.request("DELETE", _path(name))

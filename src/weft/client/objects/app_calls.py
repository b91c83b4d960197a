"""The part of a client for applications."""

from pathlib import Path
from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document


class AppCalls:
    """Applications: folders that jobs run with parameters."""

    if TYPE_CHECKING:
        api: Api

    async def list_apps(self) -> list[Document]:
        """Return the applications that one may run, by name."""
        return await self.api.list_apps()

    async def get_app(self, name: str) -> Document:
        """Return an application with its parameters. Raise `AppNotFound`."""
        return await self.api.get_app(name)

    async def add_app(self, folder: Path | str, *, for_user: str | None = None) -> Document:
        """Make a folder with `app.json` or `app.toml` an application, `for_user`: of theirs
        alone. The same content changes nothing. Only for operators. Raise `InvalidApp`.
        """
        return await self.api.add_app(folder, for_user=for_user)

    async def remove_app(self, name: str, *, for_user: str | None = None) -> None:
        """Forget an application; its jobs go on. Only for operators. Raise `AppNotFound`."""
        await self.api.remove_app(name, for_user=for_user)

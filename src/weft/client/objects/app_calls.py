"""The part of a client for applications."""

from pathlib import Path
from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document


class AppCalls:
    """Applications: folders that jobs run with parameters."""

    if TYPE_CHECKING:
        api: Api

    async def add_app(self, folder: Path | str, *, for_user: str | None = None) -> Document:
        """Make a folder with `app.json` or `app.toml` an application, `for_user`: of theirs
        alone. The same content changes nothing. Only for operators. Raise `InvalidApp`.
        """
        return await self.api.add_app(folder, for_user=for_user)

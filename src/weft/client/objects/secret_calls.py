"""The part of a client for the secrets of its user."""

from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document
from weft.client.objects.app_calls import AppCalls


class SecretCalls(AppCalls):
    """Secrets for one's jobs, beside applications. No call returns a value."""

    if TYPE_CHECKING:
        api: Api

    async def list_secrets(self) -> list[Document]:
        """Return one's secrets by name, without their values."""
        return await self.api.list_secrets()

    async def set_secret(self, name: str, value: str) -> Document:
        """Keep a secret for one's jobs, encrypted, in place of one of the same name; return it
        without its value. Raise `TooManySecrets`, `SecretKeyMissing`.
        """
        return await self.api.set_secret(name, value)

    async def remove_secret(self, name: str) -> None:
        """Forget one of one's secrets: no attempt gets it from now on. Raise `SecretNotFound`."""
        await self.api.remove_secret(name)

    async def rotate_secrets(self) -> Document:
        """Encrypt all secrets of all tenants with the first key; return `n_rotated` and the `key`.
        Only for administrators of the site. Raise `RightMissing`, `SecretKeyMissing`.
        """
        return await self.api.rotate_secrets()

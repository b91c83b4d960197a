"""The part of a client for the secrets of its user."""

from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document
from weft.client.objects.app_calls import AppCalls


class SecretCalls(AppCalls):
    """Secrets for one's jobs, beside applications. No call returns a value."""

    if TYPE_CHECKING:
        api: Api

    async def set_secret(self, name: str, value: str) -> Document:
        """Keep a secret for one's jobs, encrypted, in place of one of the same name; return it
        without its value. Raise `TooManySecrets`, `SecretKeyMissing`.
        """
        return await self.api.set_secret(name, value)

"""Calls of `weft.api.use_cases.secrets`.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.http.calls import DocumentCalls, segment
from weft.client.http.listing import Document


class SecretsCalls(DocumentCalls):
    """Calls of `weft.api.use_cases.secrets`."""

    async def list_secrets(self) -> list[Document]:
        """Return one's secrets by name, without their values.

        Use case: `weft.api.use_cases.secrets.list_secrets`.
        """
        return await self._items("/v1/secrets")

    async def remove_secret(self, name: str) -> None:
        """Forget one of one's secrets: no attempt gets it from now on. Jobs that need it and start
        later end with an error. Raise `SecretNotFound`.

        Use case: `weft.api.use_cases.secrets.remove_secret`.

        Args:
            name: The name of a secret.
        """
        await self._delete(f"/v1/secrets/{segment(name, 'secret')}")

    async def rotate_secrets(self) -> Document:
        """Encrypt all secrets of all tenants with the first key, so that others can go; return
        `n_rotated` and the `key`. Only for administrators of the site. Raise `RightMissing`,
        and `SecretKeyMissing` if one was encrypted with a key that is not here; those before it
        are done.

        Use case: `weft.api.use_cases.secrets.rotate_secrets`.
        """
        return await self._post("/v1/secret-rotation", {})

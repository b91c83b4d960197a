"""The routes by which somebody without a token logs in."""

from typing import Any

from weft.client.http.calls import DocumentCalls
from weft.client.http.listing import Document


class LoginRoutes(DocumentCalls):
    """`/v1/logins`, `/v1/device-logins`. Their documents are in `weft.wire.documents.logins`."""

    async def begin_login(self, **document: Any) -> Document:  # noqa: ANN401 (fields of a document)
        """Return where a browser begins to log in: `issuer, url`. Raise `IssuerNotFound`."""
        return await self._post("/v1/logins", document)

    async def end_login(self, **document: Any) -> Document:  # noqa: ANN401
        """Exchange a code: `tenant, user, token_id, token, expires_at`. Raise `LoginRefused`."""
        return await self._post("/v1/logins/finish", document)

    async def begin_device_login(self, **document: Any) -> Document:  # noqa: ANN401
        """Make a code to be typed in elsewhere: `issuer, device_code, user_code,
        verification_uri, verification_uri_complete, expires_in_s, interval_s`. Raise
        `IssuerNotFound`, `NoDeviceLogin`.
        """
        return await self._post("/v1/device-logins", document)

    async def poll_device_login(self, **document: Any) -> Document:  # noqa: ANN401
        """Ask whether it was typed in: `is_too_fast, login`. Raise `LoginRefused`."""
        return await self._post("/v1/device-logins/poll", document)

"""The routes of sessions in browsers."""

from weft.client.http.calls import Requests
from weft.client.http.listing import Document


class BrowserRoutes(Requests):
    """`/v1/login-links`, `/v1/sessions`."""

    async def create_login_link(self) -> Document:
        """Make a link that opens a session in a browser, once: `url, expires_at`."""
        return await self._post("/v1/login-links", {})

    async def end_sessions(self, session_id: int | None = None) -> int:
        """End a session, or all of them, with the link that would open another; return how many
        have ended. Raise `SessionNotFound`, `RightMissing`.
        """
        path = "/v1/sessions" if session_id is None else f"/v1/sessions/{session_id}"
        return int((await self._delete(path))["n_ended"])

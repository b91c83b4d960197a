"""What a client does about sessions of browsers."""

from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document


class BrowserCalls:
    """The part of a client about the browsers in which its user is logged in."""

    if TYPE_CHECKING:
        api: Api

    async def create_login_link(self) -> Document:
        """Make a link that logs a browser in as the caller: once, and within five minutes. Return
        `url, expires_at`. The link before it counts no more.
        """
        return await self.api.create_login_link()

    async def end_sessions(self, session_id: int | None = None) -> int:
        """Log out one session, or everywhere; return how many have ended. Raise
        `SessionNotFound`, `RightMissing`.
        """
        return await self.api.end_sessions(session_id)

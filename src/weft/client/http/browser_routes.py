"""What a client does about sessions of browsers."""

from weft.client.http.calls import DocumentCalls


class BrowserRoutes(DocumentCalls):
    """The browsers in which the user of a client is logged in."""

    async def end_sessions(self, session_id: int | None = None) -> int:
        """Log out one session, or everywhere; return how many have ended. Raise
        `SessionNotFound`, `RightMissing`.
        """
        path = "/v1/sessions" if session_id is None else f"/v1/sessions/{session_id}"
        return int((await self._delete(path))["n_ended"])

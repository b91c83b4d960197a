"""The client's call about setups."""

from weft.client.http.calls import DocumentCalls, decode, segment
from weft.client.http.listing import Document


class LineRoutes(DocumentCalls):
    """What carries the file of a production line."""

    async def save_setup(self, name: str, text: str) -> Document:
        """Save the file of a production line. Only for operators."""
        path = f"/v1/setups/{segment(name, 'setup')}"
        answer: Document = decode(
            await self._session.request(
                "PUT", path, body=text.encode(), content_type="application/toml"
            )
        )
        return answer

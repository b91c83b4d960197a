"""Calls of `weft.api.use_cases.licences`.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.http.calls import DocumentCalls, segment
from weft.client.http.listing import Document


class LicencesCalls(DocumentCalls):
    """Calls of `weft.api.use_cases.licences`."""

    async def list_licences(self) -> list[Document]:
        """Return the licences by name, and how many of each are used.

        Use case: `weft.api.use_cases.licences.list_licences`.
        """
        return await self._items("/v1/licences")

    async def set_licence(self, name: str, n: int) -> Document:
        """Set how many licences jobs may use at a time, in all pools together; return it. Jobs
        that have one go on if there are fewer now. Only for administrators. Raise
        `BadLicenceName`.

        Use case: `weft.api.use_cases.licences.set_licence`.

        Args:
            name: The name of a licence.
            n: What jobs may have at a time, in all pools together.
        """
        return await self._put(f"/v1/licences/{segment(name, 'licence')}", {"n": n})

    async def remove_licence(self, name: str) -> None:
        """Forget a licence. Jobs that wait for it go on waiting. Only for administrators. Raise
        `LicenceNotFound`.

        Use case: `weft.api.use_cases.licences.remove_licence`.

        Args:
            name: The name of a licence.
        """
        await self._delete(f"/v1/licences/{segment(name, 'licence')}")

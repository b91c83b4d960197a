"""Calls of `weft.api.use_cases.licences`, for programs that wait.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.generated.calls import CallsT_co
from weft.client.http.listing import Document
from weft.client.loop_thread import Twin


class LicencesWaits(Twin[CallsT_co]):
    """Calls of `weft.api.use_cases.licences`, for programs that wait."""

    def list_licences(self) -> list[Document]:
        """Return the licences by name, and how many of each are used.

        Use case: `weft.api.use_cases.licences.list_licences`.
        """
        return self._loop_thread.wait(self._async.list_licences())

    def set_licence(self, name: str, n: int) -> Document:
        """Set how many licences jobs may use at a time, in all pools together; return it. Jobs
        that have one go on if there are fewer now. Only for administrators. Raise
        `BadLicenceName`.

        Use case: `weft.api.use_cases.licences.set_licence`.

        Args:
            name: The name of a licence.
            n: What jobs may have at a time, in all pools together.
        """
        return self._loop_thread.wait(self._async.set_licence(name, n))

    def remove_licence(self, name: str) -> None:
        """Forget a licence. Jobs that wait for it go on waiting. Only for administrators. Raise
        `LicenceNotFound`.

        Use case: `weft.api.use_cases.licences.remove_licence`.

        Args:
            name: The name of a licence.
        """
        self._loop_thread.wait(self._async.remove_licence(name))

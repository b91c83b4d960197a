"""What administrators of a tenant take over."""

from collections.abc import Sequence

from weft.client.http.calls import DocumentCalls
from weft.client.http.listing import Document


class TenantRoutes(DocumentCalls):
    """Jobs of other systems."""

    async def import_jobs(
        self, door: str, jobs: Sequence[Document], *, check: bool = False
    ) -> Document:
        """Take over jobs that have ended in another system, as `weft import` does; return how many
        there are of each, `n_new, n_known`. To repeat it is safe. If one job is wrong, none is
        taken over. For administrators of the tenant. Raise `InvalidValue`, `RightMissing`.

        Args:
            door: The door that will show them, by its name.
            jobs: `{"id": …, "user": …, "name": …, "created_at": …, "document": {…}}`, the document
                in the words of the door.
            check: Only look at them, and change nothing.
        """
        from weft.wire.documents.imports import IMPORTED_MAX  # noqa: PLC0415 (5 ms)

        pages = [jobs[at : at + IMPORTED_MAX] for at in range(0, len(jobs), IMPORTED_MAX)]
        counts = dict.fromkeys(("n_new", "n_known"), 0)
        for checks in (True,) if check else (True, False):
            for page in pages:
                asked = {"door": door, "jobs": page, "check": checks}
                told = await self._post("/v1/imports", asked)
                counts = {name: n + told[name] for name, n in counts.items()}
        return counts

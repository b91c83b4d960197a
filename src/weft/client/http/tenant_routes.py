"""The routes about tenants, who belongs to them and who pays, one method each."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from weft.client.http.calls import Requests
from weft.client.http.listing import Document, Listing


class TenantRoutes(Requests):
    """`/v1/users`, `/v1/billing-projects`, `/v1/trail`, for administrators of the tenant;
    `/v1/tenants`, for those of the site; with whom batches are shared.
    """

    async def import_jobs(
        self, door: str, jobs: Sequence[Document], *, check: bool = False
    ) -> Document:
        """Take over any number of jobs that have ended in another system, in requests of a bounded
        size once all of them are right; return `n_new` and `n_known`. `check`: only look at them.
        Raise `InvalidValue`.
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

    def list_trail(self, *, since: datetime | None = None, **query: Any) -> Listing:  # noqa: ANN401 (as `Client.list_trail` has them)
        """Yield entries of the trail, newest first."""
        start = None if since is None else since.isoformat()
        return self._list("/v1/trail", {**query, "from": start})

    def list_shared_jobs(self) -> Listing:
        """Yield single jobs that were shared with the caller, of the newest batches first."""
        return self._list("/v1/shared-jobs", {})

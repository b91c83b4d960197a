"""One batch, asynchronously."""

from weft.client._counted import Counted
from weft.client._group import JobGroup
from weft.client._job import Job
from weft.client._listing import Document, Listing
from weft.client._refs import ref_of
from weft.client.api import Api
from weft.core.errors import BadId, GroupNotFound
from weft.core.ids import format_batch_id


class JobTree:
    """The tree of groups of a batch."""

    def __init__(self, api: Api, batch_id: int) -> None:
        self._api = api
        self._batch_id = batch_id

    async def get_path(self, path: str) -> JobGroup:
        """Return the tree group of a path such as `/session1`. Raise `GroupNotFound`."""
        return JobGroup(self._api, await self._api.get_group(self._batch_id, path))


class Batch(Counted):
    """A batch that is there.

    `submit` of a builder and `Client.get_batch` return one.
    """

    def __init__(self, api: Api, batch_id: int) -> None:
        self.id = batch_id
        super().__init__(api, batch_id, format_batch_id(batch_id))

    async def status(self) -> Document:
        return await self._api.get_batch(self.id)

    async def cancel(self, *, force: bool = False) -> Document:
        return await self._api.cancel_batch(self.id, force=force)

    def list_jobs(self, q: str | None = None) -> Listing:
        return self._api.list_jobs(self.id, q)

    async def get_job_group(self, name: str) -> JobGroup:
        """Return the set of this name, else the tree group of this path (`stage1`: `/stage1`).

        Raise `GroupNotFound`.
        """
        return JobGroup(self._api, await self._find_group(name))

    async def _find_group(self, name: str) -> Document:
        if name.startswith("/"):
            return await self._api.get_group(self.id, name)
        try:
            return await self._api.get_group(self.id, name)
        except (GroupNotFound, BadId):
            return await self._api.get_group(self.id, f"/{name}")

    def job_tree(self) -> JobTree:
        """Return the tree of groups."""
        return JobTree(self._api, self.id)

    def list_job_groups(self) -> Listing:
        """Yield the group documents, the root first."""
        return self._api.list_groups(self.id)

    def get_job(self, job_id: int) -> Job:
        """Return the job of this number; nothing is asked of the server yet."""
        return Job(self._api, ref_of(self.id, job_id))

"""One group of jobs, asynchronously."""

from typing import TYPE_CHECKING, Literal

from weft.client.answer import Answer
from weft.client.api import Api
from weft.client.generated.objects import GroupCalls
from weft.client.http.calls import Document, Listing
from weft.client.objects.counted import Counted
from weft.client.objects.operation import retried
from weft.core.ids import format_batch_id

if TYPE_CHECKING:
    from weft.client.generated import answers

MEMBERS_MAX = 10_000
"""The number of jobs that one request adds."""


class JobGroup(GroupCalls, Counted):
    """A tree group or a set of one batch.

    `Batch.get_job_group`, `Batch.create_job_group` and `JobTree.get_path` return one.
    """

    _api: Api
    batch_id: int
    """The number of its batch."""
    group_id: int
    """Its number within the batch."""
    name: str | None
    """Its name; the root group has that of the batch."""
    path: str | None
    """Its path; a set has none."""

    def __init__(self, api: Api, document: Document) -> None:
        self.batch_id = int(document["batch_id"])
        self.group_id = int(document["group_id"])
        self.name = document["name"]
        self.path = document["path"]
        self._added: list[int] = []
        self._n_sent = 0
        title = f"{format_batch_id(self.batch_id)} {self.path or self.name}"
        super().__init__(api, self.batch_id, self.group_id, title=title)

    async def status(self) -> "answers.Group":
        return self._saw(await self._api.get_group(self.batch_id, self.group_id))

    async def cancel(self, *, force: bool = False) -> "answers.Cancelled":
        return await self._api.cancel_group(self.batch_id, self.group_id, force=force)

    async def get_graph(
        self, *, level: Literal["groups", "jobs"] | None = None, apart: bool = False
    ) -> Answer:
        """Return what a picture of the dependencies within it shows, as of a batch."""
        return await self._api.get_graph(
            self.batch_id, group=self.group_id, level=level, apart=apart
        )

    async def retry(self, q: str | None = None, *, progress: bool | None = None) -> int:
        """Run its failed jobs again, and those of it that were cancelled because of them; return
        how many. The server goes on if this program ends.

        Args:
            q: Only failed jobs that match this query, for example `exit_code = 3`.
            progress: Show a bar on standard error or in the notebook; default: if it can be seen.
        """
        return await retried(
            self._api, self.batch_id, q, group=self.group_id, title=self.title, shown=progress
        )

    async def _edit(self, patch: Document) -> Answer:
        return await self._api.edit_group(self.batch_id, self.group_id, patch)

    def _note(self, document: Document) -> None:
        self.name, self.path = document["name"], document["path"]

    def list_jobs(self, q: str | None = None) -> Listing["answers.Job"]:
        return self._api.list_jobs(self.batch_id, q, group=self.group_id)

    def add_job(self, job_id: int) -> None:
        """Note a job of the batch to be added to this set by `update`."""
        self._added.append(job_id)

    async def update(self) -> Answer:
        """Add the jobs that were noted by `add_job`; return `added` and `n_members`.

        They are sent in bunches. When one fails, `update` may be called again and goes on with
        it; a job that is a member already counts as not added.
        """
        n_added = 0
        while True:
            bunch = self._added[self._n_sent : self._n_sent + MEMBERS_MAX]
            answer = await self._api.add_members(self.batch_id, self.group_id, bunch)
            n_added += answer["added"]
            self._n_sent += len(bunch)
            if self._n_sent == len(self._added):
                self._added, self._n_sent = [], 0
                return Answer(answer, added=n_added)

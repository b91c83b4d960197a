"""The declared calls of the client's objects, which know what they are about.

Made by `tools/generate_client.py`; do not edit.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.client.generated import answers
from weft.client.generated.api_calls import ApiCalls
from weft.client.http.calls import Listing


class JobCalls:
    """The declared calls of the client's objects, which know what they are about."""

    _api: ApiCalls

    @property
    def batch_id(self) -> int:
        """Return what the object knows."""
        raise NotImplementedError

    @property
    def job_id(self) -> int:
        """Return what the object knows."""
        raise NotImplementedError

    async def why(self) -> "answers.JobWhy":
        """Say why a job waits: all causes, what is first to change first, each with the command
        that changes it. Of a job that runs or has ended, say where and since when it runs, or
        how it ended. Raise `JobNotFound`.

        Use case: `weft.api.use_cases.why.why_job`.
        """
        return await self._api.why_job(self.batch_id, self.job_id)

    async def signal(self, signal: str | int, *, key: str | None = None) -> "answers.JobSignalled":
        """Send a signal to the first process of a running job; its history says when it was
        delivered. Raise `JobNotRunning`.

        Use case: `weft.api.use_cases.command.signal_job`.

        Args:
            signal: Name or number of a signal. KILL is refused, because a cancel ends a job; so is
                0.
            key: Calls with the same one do it once.
        """
        return await self._api.signal_job(self.batch_id, self.job_id, signal, key=key)

    async def message(self, text: str, *, key: str | None = None) -> "answers.JobMessaged":
        """Send a text to a running job, which finds it in a new file in `$WEFT_MESSAGES`; its
        history says when it was delivered. Raise `JobNotRunning`.

        Use case: `weft.api.use_cases.command.message_job`.

        Args:
            text: What the job finds in a new file in its directory `$WEFT_MESSAGES`.
            key: Calls with the same one do it once.
        """
        return await self._api.message_job(self.batch_id, self.job_id, text, key=key)

    async def extend(self, by_s: float, *, key: str | None = None) -> "answers.JobExtended":
        """Extend the time limit of a job, of its running attempt and of those that follow. Raise
        `NoTimeLimit` if it has none, `JobOver` if it has ended.

        Use case: `weft.api.use_cases.command.extend_job`.

        Args:
            by_s: How much longer each attempt may run.
            key: Calls with the same one do it once.
        """
        return await self._api.extend_job(self.batch_id, self.job_id, by_s, key=key)

    async def hold(self) -> "answers.JobHoldChanged":
        """Hold one job: it does not start until it is released.

        Use case: `weft.api.use_cases.jobs.hold_job`.
        """
        return await self._api.hold_job(self.batch_id, self.job_id)

    async def release(self) -> "answers.JobHoldChanged":
        """Release one job; it waits on while a group of it is held.

        Use case: `weft.api.use_cases.jobs.release_job`.
        """
        return await self._api.release_job(self.batch_id, self.job_id)

    async def share(self, user: str, permission: str = "read") -> "answers.SharedJobWith":
        """Share one job with a user of the tenant, or let them do more or less than before. They
        see nothing of its batch and the other jobs. Raise `UserNotFound`.

        Use case: `weft.api.use_cases.permissions.share_job`.

        Args:
            user: The name of a user.
            permission: `read`: see it; `execute`: also cancel, hold, release and retry its jobs;
                `write`: also edit it, add jobs, hide and delete it; `all`: also share it.
        """
        return await self._api.share_job(self.batch_id, self.job_id, user, permission)

    async def unshare(self, user: str) -> "answers.SharedJobWith":
        """Stop sharing one job with a user; its batch stays shared. Raise `UserNotFound`.

        Use case: `weft.api.use_cases.permissions.unshare_job`.

        Args:
            user: The name of a user.
        """
        return await self._api.unshare_job(self.batch_id, self.job_id, user)

    def list_permissions(self) -> Listing["answers.SharedJobWith"]:
        """Return the users with whom one job is shared, in the order of their numbers. Those who
        see its batch are not in the list.

        Use case: `weft.api.use_cases.permissions.list_job_permissions`.
        """
        return self._api.list_job_permissions(self.batch_id, self.job_id)

    def children(self) -> Listing["answers.Job"]:
        """Return the jobs that depend directly on a job, in order of their numbers.

        Use case: `weft.api.use_cases.read.list_children`.
        """
        return self._api.list_children(self.batch_id, self.job_id)

    def parents(self) -> Listing["answers.Job"]:
        """Return the jobs that a job depends on directly, in order of their numbers.

        Use case: `weft.api.use_cases.read.list_parents`.
        """
        return self._api.list_parents(self.batch_id, self.job_id)

    async def attempts(self) -> list["answers.Attempt"]:
        """Return the attempts of a job, oldest first, those that run, or were lost, included.

        Use case: `weft.api.use_cases.read.list_attempts`.
        """
        return await self._api.list_attempts(self.batch_id, self.job_id)

    async def history(self) -> list["answers.HistoryEntry"]:
        """Return the dated changes of a job, oldest first.

        Use case: `weft.api.use_cases.read.job_history`.
        """
        return await self._api.job_history(self.batch_id, self.job_id)

    async def notes(self) -> list["answers.JobNote"]:
        """List what a job says about itself, newest first: Markdown, texts, tables as CSV and
        links, and which pictures there are. Raise `JobNotFound`.

        Use case: `weft.api.use_cases.files.list_notes`.
        """
        return await self._api.list_notes(self.batch_id, self.job_id)


class BatchCalls:
    """The declared calls of the client's objects, which know what they are about."""

    _api: ApiCalls
    _batch_id: int

    async def get_timeline(self) -> "answers.Timeline":
        """Get the time axis of a batch: how many jobs waited, started, ran or were blocked, in 120
        stretches of time, and what each worker ran. Of a batch of more than 2,000 jobs it is an
        estimate from 2,000 of them, spread evenly over their numbers.

        Use case: `weft.api.use_cases.pictures.get_timeline`.
        """
        return await self._api.get_timeline(self._batch_id)

    async def hold(self) -> "answers.HoldChanged":
        """Hold a batch: nothing of it starts until it is released; running jobs go on.

        Use case: `weft.api.use_cases.batches.hold_batch`.
        """
        return await self._api.hold_batch(self._batch_id)

    async def release(self) -> "answers.HoldChanged":
        """Release a batch: its jobs may start, except those that another hold covers.

        Use case: `weft.api.use_cases.batches.release_batch`.
        """
        return await self._api.release_batch(self._batch_id)

    async def hide(self) -> "answers.HiddenChanged":
        """Hide a batch: lists of batches leave it out unless they ask for hidden ones. Its jobs go
        on, and whoever names it finds it.

        Use case: `weft.api.use_cases.batches.hide_batch`.
        """
        return await self._api.hide_batch(self._batch_id)

    async def unhide(self) -> "answers.HiddenChanged":
        """Show a hidden batch in lists again.

        Use case: `weft.api.use_cases.batches.unhide_batch`.
        """
        return await self._api.unhide_batch(self._batch_id)

    async def share(self, user: str, permission: str = "read") -> "answers.SharedWith":
        """Share a batch with a user of the tenant, or change what they may. Raise `UserNotFound`.

        Use case: `weft.api.use_cases.permissions.share_batch`.

        Args:
            user: The name of a user.
            permission: `read`: see it; `execute`: also cancel, hold, release and retry its jobs;
                `write`: also edit it, add jobs, hide and delete it; `all`: also share it.
        """
        return await self._api.share_batch(self._batch_id, user, permission)

    async def unshare(self, user: str) -> "answers.SharedWith":
        """Share a batch with a user no longer. What they may do as its owner or as a member of its
        billing project stays. Raise `UserNotFound`.

        Use case: `weft.api.use_cases.permissions.unshare_batch`.

        Args:
            user: The name of a user.
        """
        return await self._api.unshare_batch(self._batch_id, user)

    def list_permissions(self) -> Listing["answers.SharedWith"]:
        """Return the users with whom a batch is shared, in the order of their numbers. Its owner
        and the members of its billing project may do everything and are not in the list.

        Use case: `weft.api.use_cases.permissions.list_permissions`.
        """
        return self._api.list_permissions(self._batch_id)

    def list_job_groups(self) -> Listing["answers.Group"]:
        """Return the groups of a batch in order of their numbers, beginning with the root.

        Use case: `weft.api.use_cases.read.list_groups`.
        """
        return self._api.list_groups(self._batch_id)


class GroupCalls:
    """The declared calls of the client's objects, which know what they are about."""

    _api: ApiCalls
    _batch_id: int
    _group_id: int

    async def hold(self) -> "answers.HoldChanged":
        """Hold a group with those below it: nothing of it starts until it is released.

        Use case: `weft.api.use_cases.groups.hold_group`.
        """
        return await self._api.hold_group(self._batch_id, self._group_id)

    async def release(self) -> "answers.HoldChanged":
        """Release a group: its jobs may start, except those that another hold covers.

        Use case: `weft.api.use_cases.groups.release_group`.
        """
        return await self._api.release_group(self._batch_id, self._group_id)

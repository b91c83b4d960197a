"""What the client's objects do, for programs that wait.

Made by `tools/generate_client.py`; do not edit.
"""

from typing import TypeVar

from weft.client import aio
from weft.client.loop_thread import Twin, iterates, lists, waits

CountedT_co = TypeVar("CountedT_co", bound=aio.Counted, covariant=True)


class JobWaits(Twin[aio.Job]):
    """What `weft.aio.Job` does, for programs that wait."""

    @property
    def batch_id(self) -> int:
        """Return the number of its batch. Raise `NotSubmitted` before the submission."""
        return self._async.batch_id

    @property
    def count(self) -> int:
        """Return how many jobs it is: 1, or those of an array. What is asked of an array is asked
        of its first job.
        """
        return self._async.count

    @property
    def job_id(self) -> int:
        """Return its number within the batch; of an array, that of its first job.

        Raise `NotSubmitted` before the submission.
        """
        return self._async.job_id

    acknowledge = waits(aio.Job.acknowledge)
    answer = waits(aio.Job.answer)
    attempts = waits(aio.Job.attempts)
    cancel = waits(aio.Job.cancel)
    children = lists(aio.Job.children)
    edit = waits(aio.Job.edit)
    exec = waits(aio.Job.exec)
    extend = waits(aio.Job.extend)
    follow_log = iterates(aio.Job.follow_log)
    history = waits(aio.Job.history)
    hold = waits(aio.Job.hold)
    list_permissions = lists(aio.Job.list_permissions)
    log = waits(aio.Job.log)
    message = waits(aio.Job.message)
    note = waits(aio.Job.note)
    notes = waits(aio.Job.notes)
    parents = lists(aio.Job.parents)
    release = waits(aio.Job.release)
    retry = waits(aio.Job.retry)
    share = waits(aio.Job.share)
    signal = waits(aio.Job.signal)
    status = waits(aio.Job.status)
    unshare = waits(aio.Job.unshare)
    usage = waits(aio.Job.usage)
    why = waits(aio.Job.why)


class CountedWaits(Twin[CountedT_co]):
    """What `weft.aio.Counted` does, for programs that wait."""

    @property
    def title(self) -> str:
        """The name shown to a person."""
        return self._async.title

    cancel = waits(aio.Counted.cancel)
    count_reasons = waits(aio.Counted.count_reasons)
    edit = waits(aio.Counted.edit)
    find_lines = lists(aio.Counted.find_lines)
    hold = waits(aio.Counted.hold)
    list_jobs = lists(aio.Counted.list_jobs)
    release = waits(aio.Counted.release)
    status = waits(aio.Counted.status)
    watch = iterates(aio.Counted.watch)
    why = waits(aio.Counted.why)


class JobGroupWaits(Twin[aio.JobGroup]):
    """What `weft.aio.JobGroup` does, for programs that wait."""

    @property
    def batch_id(self) -> int:
        """The number of its batch."""
        return self._async.batch_id

    @property
    def group_id(self) -> int:
        """Its number within the batch."""
        return self._async.group_id

    @property
    def name(self) -> str | None:
        """Its name; the root group has that of the batch."""
        return self._async.name

    @property
    def path(self) -> str | None:
        """Its path; a set has none."""
        return self._async.path

    get_graph = waits(aio.JobGroup.get_graph)
    retry = waits(aio.JobGroup.retry)
    update = waits(aio.JobGroup.update)


class BatchWaits(Twin[aio.Batch]):
    """What `weft.aio.Batch` does, for programs that wait."""

    @property
    def replaced(self) -> int | None:
        """Return the batch that had the key and was cancelled for this one."""
        return self._async.replaced

    @property
    def skipped(self) -> bool:
        """Say whether its submission made nothing, because this batch had the key already."""
        return self._async.skipped

    acknowledge = waits(aio.Batch.acknowledge)
    delete = waits(aio.Batch.delete)
    get_graph = waits(aio.Batch.get_graph)
    get_timeline = waits(aio.Batch.get_timeline)
    hide = waits(aio.Batch.hide)
    list_causes = waits(aio.Batch.list_causes)
    list_dead_letters = lists(aio.Batch.list_dead_letters)
    list_job_groups = lists(aio.Batch.list_job_groups)
    list_permissions = lists(aio.Batch.list_permissions)
    retry = waits(aio.Batch.retry)
    share = waits(aio.Batch.share)
    unhide = waits(aio.Batch.unhide)
    unshare = waits(aio.Batch.unshare)


class ClientWaits(Twin[aio.Client]):
    """What `weft.aio.Client` does, for programs that wait."""

    act_on_batches = waits(aio.Client.act_on_batches)
    add_app = waits(aio.Client.add_app)
    add_schedule = waits(aio.Client.add_schedule)
    billing_report = waits(aio.Client.billing_report)
    check_files = waits(aio.Client.check_files)
    close_project = waits(aio.Client.close_project)
    end_sessions = waits(aio.Client.end_sessions)
    export_crate = waits(aio.Client.export_crate)
    import_jobs = waits(aio.Client.import_jobs)
    limit_project = waits(aio.Client.limit_project)
    list_batches = lists(aio.Client.list_batches)
    list_shares = waits(aio.Client.list_shares)
    pause_schedule = waits(aio.Client.pause_schedule)
    reopen_project = waits(aio.Client.reopen_project)
    reroute_queues = waits(aio.Client.reroute_queues)
    resume_schedule = waits(aio.Client.resume_schedule)
    send_payload = waits(aio.Client.send_payload)
    set_limit = waits(aio.Client.set_limit)
    set_quota = waits(aio.Client.set_quota)
    set_secret = waits(aio.Client.set_secret)
    set_tenant = waits(aio.Client.set_tenant)

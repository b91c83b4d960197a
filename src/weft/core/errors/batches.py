"""Errors about batches, their jobs, groups, sets and callbacks, and about changing them."""

from weft.core.errors.documents import InvalidDocument
from weft.core.errors.kinds import Conflict, Forbidden, Invalid, NotFound, Unavailable, WeftError


class BatchNotFound(NotFound, code="API.BATCH_NOT_FOUND", sqlstate="WF101"):
    """The batch does not exist."""

    def __init__(self, batch_id: int) -> None:
        super().__init__(
            f"batch b{batch_id} does not exist",
            detail="No batch has this number, or you may not see it.",
            hint="List your batches with `weft ls`.",
        )


class JobNotFound(NotFound, code="API.JOB_NOT_FOUND", sqlstate="WF102"):
    """The job does not exist."""

    def __init__(self, batch_id: int, job_id: int) -> None:
        super().__init__(
            f"job b{batch_id}.j{job_id} does not exist",
            detail="The batch has no committed job of this number, or you may not see it.",
            hint=f"List its jobs with `weft jobs b{batch_id}`.",
        )


class GroupNotFound(NotFound, code="API.GROUP_NOT_FOUND", sqlstate="WF103"):
    """The group does not exist."""

    def __init__(self, batch_id: int, group: int | str) -> None:
        shown = f"g{group}" if isinstance(group, int) else group
        super().__init__(
            f"group {shown} of batch b{batch_id} does not exist",
            detail="The batch has no such committed group, or you may not see it.",
            hint=f"List its groups with `weft groups b{batch_id}`.",
        )


class AttemptNotFound(NotFound, code="API.ATTEMPT_NOT_FOUND"):
    """The attempt does not exist, or the job has none yet."""


class OutputElsewhere(Conflict, code="API.OUTPUT_ELSEWHERE"):
    """The worker that ran the job keeps its output in a directory that the api cannot read."""


class LogBucketAway(Unavailable, code="API.LOG_BUCKET_AWAY"):
    """The bucket to which output of jobs is shipped does not answer, or not as it should."""


class OutputGone(WeftError, code="API.OUTPUT_GONE"):
    """The output was removed, or never kept: the server keeps a limited amount."""

    status = 410
    exit_code = 4


class OperationNotFound(NotFound, code="API.OPERATION_NOT_FOUND", sqlstate="WF106"):
    """The operation does not exist."""


class OperationNotCancellable(Conflict, code="API.OPERATION_NOT_CANCELLABLE", sqlstate="WF139"):
    """The operation is on one batch: it goes on to its end."""


class BatchCancelled(Conflict, code="API.BATCH_CANCELLED", sqlstate="WF204"):
    """A cancelled batch or group takes no new jobs."""


class BatchFull(Conflict, code="API.BATCH_FULL", sqlstate="WF210"):
    """The batch is full."""


class GroupExists(Conflict, code="API.GROUP_EXISTS", sqlstate="WF209"):
    """A group of this path, or a set of this name, already exists."""


class GroupTooDeep(Invalid, code="API.GROUP_TOO_DEEP", sqlstate="WF211"):
    """The group is below the deepest allowed level."""


class TooManyGroups(Invalid, code="API.TOO_MANY_GROUPS", sqlstate="WF212"):
    """More groups than a batch may have."""


class TooManySets(Invalid, code="API.TOO_MANY_SETS", sqlstate="WF213"):
    """More sets than a job may be in."""


class NotASet(Invalid, code="API.NOT_A_SET", sqlstate="WF214"):
    """Existing jobs can be added to a set only."""


class RenameTooLarge(Conflict, code="API.RENAME_TOO_LARGE", sqlstate="WF232"):
    """A new name would change the paths of too many groups."""


class JobNotRunning(Conflict, code="API.JOB_NOT_RUNNING", sqlstate="WF218"):
    """A signal or a message needs a process, and none of the job runs."""

    advice = "`weft status` says what became of it."


class TooManyCommands(Conflict, code="API.TOO_MANY_COMMANDS", sqlstate="WF260"):
    """Too many signals and messages to a job wait for its worker."""


class NotWaiting(Conflict, code="API.NOT_WAITING", sqlstate="WF238"):
    """A job that waits for no answer, or no longer, cannot be answered."""


class JobOver(Conflict, code="API.JOB_OVER", sqlstate="WF219"):
    """An ended job cannot get more time."""


class NoTimeLimit(Conflict, code="API.NO_TIME_LIMIT"):
    """A job without a time limit cannot get more time."""


class JobEnded(Conflict, code="API.JOB_ENDED", sqlstate="WF216"):
    """An ended job cannot get a new priority."""


class JobNotFailed(Conflict, code="API.JOB_NOT_FAILED", sqlstate="WF233"):
    """Only a job that ended without success can be retried."""


class ParentFailed(Conflict, code="API.PARENT_FAILED", sqlstate="WF234"):
    """A job cannot be retried before a parent that did not succeed."""


class NothingToResubmit(Conflict, code="API.NOTHING_TO_RESUBMIT", sqlstate="WF235"):
    """No job of a batch would be part of the new one."""


class BatchRunning(Conflict, code="API.BATCH_RUNNING", sqlstate="WF236"):
    """What failed in a batch is known when all its jobs have ended."""


class ServiceRuns(Conflict, code="API.SERVICE_RUNS", sqlstate="WF237"):
    """Another service of this name has not ended."""

    advice = "Cancel it, wait until it has ended, and submit again."


class ConditionNotFound(NotFound, code="API.CONDITION_NOT_FOUND", sqlstate="WF116"):
    """No job waits for this condition, or you may not see it."""


class ScheduleNotFound(NotFound, code="API.SCHEDULE_NOT_FOUND", sqlstate="WF115"):
    """The schedule does not exist."""


class TooManySchedules(Conflict, code="API.TOO_MANY_SCHEDULES", sqlstate="WF114"):
    """A user has as many schedules as the setting allows."""


class ScheduleOfAnother(Forbidden, code="API.SCHEDULE_OF_ANOTHER"):
    """Only the owner can run a schedule, and only the owner or an administrator change it."""


class InvalidCron(InvalidDocument, code="API.INVALID_CRON"):
    """A cron expression that cannot be used."""

    fact = "a cron expression cannot be used"
    advice = "Write minute, hour, day of the month, month and day of the week, as `0 2 * * *`."


class UnknownTimeZone(InvalidDocument, code="API.UNKNOWN_TIME_ZONE"):
    """A time zone that does not exist."""

    fact = "a time zone does not exist"
    advice = "Use a name of the IANA database, such as Europe/Berlin."


class CallbackNotFound(NotFound, code="API.CALLBACK_NOT_FOUND", sqlstate="WF108"):
    """The batch has no such delivery."""


class CallbackDelivered(Conflict, code="API.CALLBACK_DELIVERED", sqlstate="WF217"):
    """The callback was delivered, so it is not sent again."""


class NoCallbackKey(Conflict, code="API.NO_CALLBACK_KEY"):
    """This api does not have the key that signs callbacks."""

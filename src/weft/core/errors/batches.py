"""Errors about batches, their jobs, groups and sets, and about changing them."""

from weft.core.errors.documents import InvalidDocument
from weft.core.errors.kinds import Conflict, Forbidden, Invalid, NotFound, Unavailable, WeftError


class BatchNotFound(NotFound):
    """The batch does not exist."""

    code = "API.BATCH_NOT_FOUND"
    sqlstate = "WF101"

    def __init__(self, batch_id: int) -> None:
        super().__init__(
            f"batch b{batch_id} does not exist",
            detail="No batch has this number, or you may not see it.",
            hint="List your batches with `weft ls`.",
        )


class JobNotFound(NotFound):
    """The job does not exist."""

    code = "API.JOB_NOT_FOUND"
    sqlstate = "WF102"

    def __init__(self, batch_id: int, job_id: int) -> None:
        super().__init__(
            f"job b{batch_id}.j{job_id} does not exist",
            detail="The batch has no committed job of this number, or you may not see it.",
            hint=f"List its jobs with `weft jobs b{batch_id}`.",
        )


class GroupNotFound(NotFound):
    """The group does not exist."""

    code = "API.GROUP_NOT_FOUND"
    sqlstate = "WF103"

    def __init__(self, batch_id: int, group: int | str) -> None:
        shown = f"g{group}" if isinstance(group, int) else group
        super().__init__(
            f"group {shown} of batch b{batch_id} does not exist",
            detail="The batch has no such committed group, or you may not see it.",
            hint=f"List its groups with `weft groups b{batch_id}`.",
        )


class AttemptNotFound(NotFound):
    """The attempt does not exist, or the job has none yet."""

    code = "API.ATTEMPT_NOT_FOUND"


class OutputElsewhere(Conflict):
    """The worker that ran the job keeps its output in a directory that the api cannot read."""

    code = "API.OUTPUT_ELSEWHERE"


class LogBucketAway(Unavailable):
    """The bucket to which output of jobs is shipped does not answer, or not as it should."""

    code = "API.LOG_BUCKET_AWAY"


class OutputGone(WeftError):
    """The output was removed, or never kept: the server keeps a limited amount."""

    code = "API.OUTPUT_GONE"
    status = 410
    exit_code = 4


class OperationNotFound(NotFound):
    """The operation does not exist."""

    code = "API.OPERATION_NOT_FOUND"
    sqlstate = "WF106"


class OperationNotCancellable(Conflict):
    """The operation is on one batch: it goes on to its end."""

    code = "API.OPERATION_NOT_CANCELLABLE"
    sqlstate = "WF139"


class BatchCancelled(Conflict):
    """A cancelled batch or group takes no new jobs."""

    code = "API.BATCH_CANCELLED"
    sqlstate = "WF204"


class BatchFull(Conflict):
    """The batch is full."""

    code = "API.BATCH_FULL"
    sqlstate = "WF210"


class GroupExists(Conflict):
    """A group of this path, or a set of this name, already exists."""

    code = "API.GROUP_EXISTS"
    sqlstate = "WF209"


class GroupTooDeep(Invalid):
    """The group is below the deepest allowed level."""

    code = "API.GROUP_TOO_DEEP"
    sqlstate = "WF211"


class TooManyGroups(Invalid):
    """More groups than a batch may have."""

    code = "API.TOO_MANY_GROUPS"
    sqlstate = "WF212"


class TooManySets(Invalid):
    """More sets than a job may be in."""

    code = "API.TOO_MANY_SETS"
    sqlstate = "WF213"


class NotASet(Invalid):
    """Existing jobs can be added to a set only."""

    code = "API.NOT_A_SET"
    sqlstate = "WF214"


class RenameTooLarge(Conflict):
    """A new name would change the paths of too many groups."""

    code = "API.RENAME_TOO_LARGE"
    sqlstate = "WF232"


class JobNotRunning(Conflict):
    """A signal or a message needs a process, and none of the job runs."""

    code = "API.JOB_NOT_RUNNING"
    sqlstate = "WF218"


class TooManyCommands(Conflict):
    """Too many signals and messages to a job wait for its worker."""

    code = "API.TOO_MANY_COMMANDS"
    sqlstate = "WF260"


class JobOver(Conflict):
    """An ended job cannot get more time."""

    code = "API.JOB_OVER"
    sqlstate = "WF219"


class NoTimeLimit(Conflict):
    """A job without a time limit cannot get more time."""

    code = "API.NO_TIME_LIMIT"


class JobEnded(Conflict):
    """An ended job cannot get a new priority."""

    code = "API.JOB_ENDED"
    sqlstate = "WF216"


class JobNotFailed(Conflict):
    """Only a job that ended without success can be retried."""

    code = "API.JOB_NOT_FAILED"
    sqlstate = "WF233"


class ParentFailed(Conflict):
    """A job cannot be retried before a parent that did not succeed."""

    code = "API.PARENT_FAILED"
    sqlstate = "WF234"


class NothingToResubmit(Conflict):
    """No job of a batch would be part of the new one."""

    code = "API.NOTHING_TO_RESUBMIT"
    sqlstate = "WF235"


class BatchRunning(Conflict):
    """What failed in a batch is known when all its jobs have ended."""

    code = "API.BATCH_RUNNING"
    sqlstate = "WF236"


class ServiceRuns(Conflict):
    """Another service of this name has not ended."""

    code = "API.SERVICE_RUNS"
    sqlstate = "WF237"
    advice = "Cancel it, wait until it has ended, and submit again."


class ConditionNotFound(NotFound):
    """No job waits for this condition, or you may not see it."""

    code = "API.CONDITION_NOT_FOUND"
    sqlstate = "WF116"


class ScheduleNotFound(NotFound):
    """The schedule does not exist."""

    code = "API.SCHEDULE_NOT_FOUND"
    sqlstate = "WF115"


class TooManySchedules(Conflict):
    """A user has as many schedules as the setting allows."""

    code = "API.TOO_MANY_SCHEDULES"
    sqlstate = "WF114"


class ScheduleOfAnother(Forbidden):
    """Only the owner can run a schedule, and only the owner or an administrator change it."""

    code = "API.SCHEDULE_OF_ANOTHER"


class InvalidCron(InvalidDocument):
    """A cron expression that cannot be used."""

    code = "API.INVALID_CRON"
    fact = "a cron expression cannot be used"
    advice = "Write minute, hour, day of the month, month and day of the week, as `0 2 * * *`."


class UnknownTimeZone(InvalidDocument):
    """A time zone that does not exist."""

    code = "API.UNKNOWN_TIME_ZONE"
    fact = "a time zone does not exist"
    advice = "Use a name of the IANA database, such as Europe/Berlin."

"""Errors about batches, their jobs, groups, sets, files and callbacks, about changing them, and
about production lines and the statuses of jobs.
"""

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


class OutputGone(WeftError, code="API.OUTPUT_GONE", status=410, exit_code=4):
    """The output was removed, or never kept: the server keeps a limited amount."""


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


class AnswerLinkNotFound(NotFound, code="API.ANSWER_LINK_NOT_FOUND"):
    """No such link answers a job: it was used, or revoked, or has expired."""

    advice = "Ask whoever sent it for another one: `weft answer JOB --link` makes it."


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


class FileNotFound(NotFound, code="API.FILE_NOT_FOUND"):
    """The job has left no such file."""


class FileElsewhere(Conflict, code="API.FILE_ELSEWHERE"):
    """The file is kept where the api cannot read it: on another host, or in a store."""


class FilesNotReady(InvalidDocument, code="API.FILES_NOT_READY"):
    """Files that jobs need are not there, or may not be had or left: `weft submit --check`."""

    fact = "files of jobs are not as they must be"
    advice = "Nothing was submitted. Without `--check` the jobs run, and fail if it is so then."


class FileStoreNotFound(NotFound, code="API.FILE_STORE_NOT_FOUND"):
    """The tenant has no store of files of this name."""

    advice = "List them with `weft store ls`; operators add one with `weft store add`."


class TooManyFileStores(Conflict, code="API.TOO_MANY_FILE_STORES"):
    """The tenant has as many stores of files as it may have."""

    advice = "Remove one with `weft store rm NAME`."


class SecretNotFound(NotFound, code="API.SECRET_NOT_FOUND"):
    """The caller has no secret of this name."""

    advice = "List yours with `weft secret ls`; `weft secret set NAME` makes one."


class TooManySecrets(Conflict, code="API.TOO_MANY_SECRETS", sqlstate="WF132"):
    """The caller has as many secrets as a user may have."""

    advice = "Remove one with `weft secret rm NAME`."


class SecretUnreadable(Conflict, code="API.SECRET_UNREADABLE"):
    """A secret was changed or moved in the database, or a later release stored it."""


class SecretKeyMissing(Conflict, code="API.SECRET_KEY_MISSING"):
    """The key that encrypts secrets, or that encrypted one, is not on this host."""

    advice = (
        "Copy secret-keys.json from the home of `weft up`, readable by you alone, or set "
        "WEFT_SECRET_KEYS."
    )


class InvalidApp(Invalid, code="API.INVALID_APP"):
    """A folder is no application that can be used."""

    advice = "The guide on applications says what a folder holds."


class AppNotFound(NotFound, code="API.APP_NOT_FOUND", sqlstate="WF161"):
    """There is no application of this name for the caller, or its content is gone."""

    advice = "List them with `weft app ls`; `weft app add FOLDER` makes one."


class AppIncomplete(Conflict, code="API.APP_INCOMPLETE", sqlstate="WF261"):
    """Not all parts of an application's folder were sent."""

    advice = "Send all parts, then the application again."


class TooManyApps(Conflict, code="API.TOO_MANY_APPS", sqlstate="WF162"):
    """The tenant has as many applications as it may have."""

    advice = "Remove one with `weft app rm NAME`."


class InvalidSetup(Invalid, code="API.INVALID_SETUP"):
    """The file of a line cannot be used."""

    advice = "Correct the lines; the guide on lifecycles describes the fields."


class SetupNotFound(NotFound, code="API.SETUP_NOT_FOUND", sqlstate="WF142"):
    """The line does not exist."""


class LifecycleNotFound(NotFound, code="API.LIFECYCLE_NOT_FOUND", sqlstate="WF141"):
    """The lifecycle does not exist."""


class LifecycleTaken(Conflict, code="API.LIFECYCLE_TAKEN", sqlstate="WF241"):
    """Another line has a lifecycle of this name."""


class InvalidStatusTransition(Conflict, code="API.INVALID_STATUS_TRANSITION", sqlstate="WF242"):
    """The lifecycle of the job does not allow this status now."""


class UnknownStatus(Invalid, code="API.UNKNOWN_STATUS", sqlstate="WF243"):
    """The lifecycle of the job has no such status."""


class NoLifecycle(Conflict, code="API.NO_LIFECYCLE", sqlstate="WF244"):
    """The batch of the job has no lifecycle."""


class StatusBusy(Conflict, code="API.STATUS_BUSY", sqlstate="WF245"):
    """The core of the job could not be moved just now."""


class ParameterNotFound(NotFound, code="API.PARAMETER_NOT_FOUND", sqlstate="WF144"):
    """The parameter does not exist."""


class ParameterOfOtherType(Conflict, code="API.PARAMETER_OF_OTHER_TYPE", sqlstate="WF246"):
    """The parameter has values of another type."""


class SourceNotFound(NotFound, code="API.SOURCE_NOT_FOUND", sqlstate="WF143"):
    """The source does not exist."""


class SourceTaken(Conflict, code="API.SOURCE_TAKEN", sqlstate="WF265"):
    """Another line has a source of this name."""


class SourceOfAnother(Forbidden, code="API.SOURCE_OF_ANOTHER"):
    """Only its owner, or an operator, may change a source."""


class SinkNotFound(NotFound, code="API.SINK_NOT_FOUND", sqlstate="WF151"):
    """The sink does not exist."""


class MessageNotFound(NotFound, code="API.MESSAGE_NOT_FOUND", sqlstate="WF152"):
    """The sink has no such message."""


class SinkTaken(Conflict, code="API.SINK_TAKEN", sqlstate="WF251"):
    """Another line has a sink of this name."""


class MessageNotHeld(Conflict, code="API.MESSAGE_NOT_HELD", sqlstate="WF254"):
    """No check has stopped the message, or somebody has decided about it."""


class MessageDelivered(Conflict, code="API.MESSAGE_DELIVERED", sqlstate="WF252"):
    """The message was delivered, so it is not sent again."""

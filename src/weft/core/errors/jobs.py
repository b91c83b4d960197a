"""Errors about jobs and their attempts."""

from weft.core.errors.kinds import Conflict, NotFound


class JobNotFound(NotFound, code="API.JOB_NOT_FOUND", sqlstate="WF102"):
    """The job does not exist."""

    def __init__(self, batch_id: int, job_id: int) -> None:
        super().__init__(
            f"job b{batch_id}.j{job_id} does not exist",
            detail="The batch has no committed job of this number, or you may not see it.",
            hint=f"List its jobs with `weft jobs b{batch_id}`.",
        )


class AttemptNotFound(NotFound, code="API.ATTEMPT_NOT_FOUND"):
    """The attempt does not exist, or the job has none yet."""


class JobNotRunning(Conflict, code="API.JOB_NOT_RUNNING", sqlstate="WF218"):
    """A signal or a message needs a process, and none of the job runs."""

    advice = "`weft status` says what became of it."


class TooManyCommands(Conflict, code="API.TOO_MANY_COMMANDS", sqlstate="WF260"):
    """Too many signals and messages to a job wait for its worker."""


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


class ServiceRuns(Conflict, code="API.SERVICE_RUNS", sqlstate="WF237"):
    """Another service of this name has not ended."""

    advice = "Cancel it, wait until it has ended, and submit again."

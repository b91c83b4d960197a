"""The state of a job by the reason of its last attempt: what `complete_attempts` writes."""

from weft.core.states import JobState, Reason

# An attempt that ended for one of these reasons says that the system could not run the job, not
# that the job failed.
SYSTEM_REASONS = frozenset(
    {
        Reason.TIMEOUT,
        Reason.OOM,
        Reason.DISK,
        Reason.NO_PROGRAM,
        Reason.NO_IMAGE,
        Reason.BAD_SPEC,
        Reason.LOG_LIMIT,
        Reason.SYSTEM,
        Reason.DEADLINE,
    }
)


def state_of_end(reason: Reason | None) -> JobState:
    """Return the state of a job whose last attempt ended for `reason`.

    `None` means that it succeeded.
    """
    if reason is None:
        return JobState.SUCCESS
    if reason in SYSTEM_REASONS:
        return JobState.ERROR
    if reason is Reason.CANCELLED:
        return JobState.CANCELLED
    if reason in {Reason.PREEMPTED, Reason.LOST}:
        return JobState.READY
    if reason in {Reason.BLOCKED, Reason.OVERDUE}:
        return JobState.BLOCKED
    return JobState.FAILED

"""Errors about commands beside running jobs."""

from weft.core.errors.kinds import (
    Conflict,
)


class ExecElsewhere(Conflict, code="WORKER.EXEC_ELSEWHERE"):
    """No command can run beside the job: of its place, or because its worker is elsewhere."""

    advice = "`weft logs` and `weft files` look into any job."


class ExecsFull(Conflict, code="WORKER.EXECS_FULL"):
    """As many commands run beside the job, or on its worker, as may."""

    advice = "Try again when one has ended, or raise the setting `exec_job_max`."

"""The buttons of pages that make one call: on a batch, a job, a group, a worker, a condition."""

from typing import Final

from weft.api.http.browsers import LOGIN
from weft.api.use_cases import (
    batches,
    command,
    conditions,
    groups,
    jobs,
    operations,
    read,
    retry,
    sessions,
    workers,
)
from weft.core.access.rights import Permission
from weft.core.errors import FieldError, InvalidValue
from weft.core.text.durations import parse_seconds
from weft.wire.documents.commands import ExtendDocument, SignalDocument
from weft.wire.documents.incidents import ReleaseDocument
from weft.wire.documents.resubmissions import ResubmitDocument, RetryJobsDocument
from weft_pages.forms import Fields, Ids, button

_JOBS_MAX: Final = 1_000_000_000
_MORE_S_MAX: Final = 31_536_000
_BATCH: Final = "/ui/batches/{b}"
_JOB: Final = "/ui/batches/{b}/jobs/{j}"
_OPERATION: Final = "/ui/operations/{answer[id]}"
_WORKERS: Final = "/ui/workers"
_CONDITIONS: Final = "/ui/conditions"


def _signal(_: Ids, fields: Fields) -> SignalDocument:
    return SignalDocument(fields.text("signal") or "")


def _more_time(_: Ids, fields: Fields) -> ExtendDocument:
    try:
        seconds = parse_seconds(fields.text("by") or "")
    except ValueError as error:
        raise _wrong_time(str(error)) from error
    if seconds > _MORE_S_MAX:
        raise _wrong_time("more than a year")
    return ExtendDocument(seconds)


def _wrong_time(why: str) -> InvalidValue:
    return InvalidValue(
        f"the time limit cannot be extended: {why}",
        hint="Write how much longer, as `30m` or `1h30m`; go back, what you typed is there.",
        errors=[FieldError("/by", why)],
    )


def _some_jobs(_: Ids, fields: Fields) -> ReleaseDocument:
    text = fields.text("n") or ""
    if text.isdecimal() and len(text) < len(str(_JOBS_MAX)) and int(text) > 0:
        return ReleaseDocument(int(text))
    why = f"a whole number from 1 to {_JOBS_MAX - 1:,}"
    raise InvalidValue(
        "no job was released",
        hint=f"Write how many jobs go on: {why}. Go back, what you typed is there.",
        errors=[FieldError("/n", f"it is not {why}")],
    )


def _retry(ids: Ids, _: Fields) -> RetryJobsDocument:
    return RetryJobsDocument(jobs=[ids["j"]])


def _resubmission(ids: Ids, _: Fields) -> ResubmitDocument:
    return ResubmitDocument(job=ids["j"])


BUTTONS: Final = (
    button(batches.cancel_batch, _BATCH),
    button(batches.hold_batch, _BATCH),
    button(batches.release_batch, _BATCH),
    button(retry.retry_batch, _BATCH),
    button(retry.resubmit_batch, _OPERATION, permission=Permission.WRITE),
    button(groups.cancel_group, "/ui/batches/{b}/groups/{answer[group_id]}"),
    button(jobs.cancel_job, _JOB),
    button(jobs.hold_job, _JOB),
    button(jobs.release_job, _JOB),
    button(retry.retry_batch, _JOB, _retry, path=f"{_JOB}/retry", name="retry_job"),
    button(
        retry.resubmit_batch,
        _OPERATION,
        _resubmission,
        path=f"{_JOB}/resubmit",
        name="resubmit_job",
        permission=Permission.WRITE,
    ),
    button(command.signal_job, _JOB, _signal, look=read.get_job),
    button(command.extend_job, _JOB, _more_time, look=read.get_job),
    button(operations.cancel_operation, "/ui/operations/{o}"),
    button(workers.cordon_worker, _WORKERS),
    button(workers.drain_worker, _WORKERS),
    button(workers.uncordon_worker, _WORKERS),
    button(conditions.test_condition, _CONDITIONS),
    button(conditions.release_condition, _CONDITIONS, _some_jobs, look=conditions.get_condition),
    button(conditions.fail_condition, _CONDITIONS),
    button(sessions.end_all_sessions, LOGIN, path="/ui/sessions/end"),
)

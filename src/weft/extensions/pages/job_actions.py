"""What the buttons of a job do beside cancelling it: run it again, hold it, send it a signal, give
it time.

Each calls the use case of the API and leads back to the job.
"""

from weft.api.http.pages import post_form
from weft.api.http.parameters import batch_id_of, job_id_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect
from weft.api.use_cases import command, hold, read, retry
from weft.core.access.permissions import Permission
from weft.core.access.rights import Right
from weft.core.errors import FieldError, InvalidValue
from weft.core.text.durations import parse_seconds
from weft.extensions.pages.forms import back_to, check_form
from weft.submission.services import Origin
from weft.wire.documents.commands import ExtendDocument, SignalDocument
from weft.wire.documents.repeats import RetryJobsDocument

_MORE_S_MAX = 31_536_000


@post_form("/ui/batches/{b:str}/jobs/{j:str}/retry", Right.WRITE, Permission.EXECUTE)
async def press_retry_job(request: AnyRequest) -> Redirect:
    """Run one job again."""
    await check_form(request)
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    await retry.retry_batch(
        request.services,
        request.caller,
        batch_id,
        RetryJobsDocument(jobs=[job_id]),
        Origin(digest=b"", trace_id=request.trace_id),
    )
    return _back(batch_id, job_id)


@post_form("/ui/batches/{b:str}/jobs/{j:str}/signal", Right.WRITE, Permission.EXECUTE)
async def press_signal_job(request: AnyRequest) -> Redirect:
    """Send a signal to a running job."""
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    signal = await _field(request, "signal")
    await command.signal_job(
        request.services, request.caller, batch_id, job_id, SignalDocument(signal)
    )
    return _back(batch_id, job_id)


@post_form("/ui/batches/{b:str}/jobs/{j:str}/extend", Right.WRITE, Permission.EXECUTE)
async def press_extend_job(request: AnyRequest) -> Redirect:
    """Extend the time limit of a job."""
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    by_s = _seconds(await _field(request, "by"))
    await command.extend_job(
        request.services, request.caller, batch_id, job_id, ExtendDocument(by_s)
    )
    return _back(batch_id, job_id)


@post_form("/ui/batches/{b:str}/jobs/{j:str}/hold", Right.WRITE, Permission.EXECUTE)
async def press_hold_job(request: AnyRequest) -> Redirect:
    """Hold a job that waits."""
    await check_form(request)
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    await hold.hold_job(request.services, request.caller, batch_id, job_id)
    return _back(batch_id, job_id)


@post_form("/ui/batches/{b:str}/jobs/{j:str}/release", Right.WRITE, Permission.EXECUTE)
async def press_release_job(request: AnyRequest) -> Redirect:
    """Release a job that is held."""
    await check_form(request)
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    await hold.release_job(request.services, request.caller, batch_id, job_id)
    return _back(batch_id, job_id)


async def _field(request: AnyRequest, name: str) -> str:
    """Return a field of the form. Raise `JobNotFound` first: what is wrong with it is nothing
    to those who do not see the job.
    """
    form = await check_form(request)
    await read.get_job(request.services, request.caller, batch_id_of(request), job_id_of(request))
    return form.get(name, [""])[-1]


def _seconds(text: str) -> float:
    try:
        seconds = parse_seconds(text)
    except ValueError as error:
        raise _wrong_time(str(error)) from error
    if seconds > _MORE_S_MAX:
        raise _wrong_time("more than a year")
    return seconds


def _wrong_time(why: str) -> InvalidValue:
    return InvalidValue(
        f"the time limit cannot be extended: {why}",
        hint="Write how much longer, as `30m` or `1h30m`; go back, what you typed is there.",
        errors=[FieldError("/by", why)],
    )


def _back(batch_id: int, job_id: int) -> Redirect:
    return back_to(f"/ui/batches/{batch_id}/jobs/{job_id}")

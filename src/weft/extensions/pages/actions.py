"""What the buttons of pages do: cancel, retry, resubmit, hold and release."""

from collections.abc import Awaitable, Callable

from weft.api.http.pages import post_form
from weft.api.http.parameters import batch_id_of, checked_cause, job_id_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect
from weft.api.use_cases import cancel, hold, resubmit, retry
from weft.core.access.permissions import Permission
from weft.core.access.rights import Right
from weft.extensions.pages.forms import back_to, check_form
from weft.submission.services import Origin
from weft.wire.documents.batches import CancelDocument
from weft.wire.documents.repeats import ResubmitDocument

ROOT_GROUP = 0


async def _press(
    request: AnyRequest, act: Callable[..., Awaitable[object]], *more: object
) -> Redirect:
    """Do something to a batch, and show it."""
    await check_form(request)
    batch_id = batch_id_of(request)
    await act(request.services, request.caller, batch_id, *more)
    return back_to(f"/ui/batches/{batch_id}")


@post_form("/ui/batches/{b:str}/cancel", Right.WRITE, Permission.EXECUTE)
async def press_cancel_batch(request: AnyRequest) -> Redirect:
    """Cancel all jobs of a batch that have not ended."""
    return await _press(request, cancel.cancel_batch, CancelDocument())


@post_form("/ui/batches/{b:str}/hold", Right.WRITE, Permission.EXECUTE)
async def press_hold_batch(request: AnyRequest) -> Redirect:
    """Hold a batch."""
    return await _press(request, hold.hold_group, ROOT_GROUP)


@post_form("/ui/batches/{b:str}/release", Right.WRITE, Permission.EXECUTE)
async def press_release_batch(request: AnyRequest) -> Redirect:
    """Release a batch that is held."""
    return await _press(request, hold.release_group, ROOT_GROUP)


@post_form("/ui/batches/{b:str}/retry", Right.WRITE, Permission.EXECUTE)
async def press_retry_batch(request: AnyRequest) -> Redirect:
    """Run the failed jobs of a batch again; `cause`: only those that failed for it."""
    form = await check_form(request)
    batch_id = batch_id_of(request)
    cause = checked_cause(form["cause"][-1] if "cause" in form else None)
    await retry.retry_failed(
        request.services, request.caller, batch_id, request.trace_id, cause=cause
    )
    return back_to(f"/ui/batches/{batch_id}")


@post_form("/ui/batches/{b:str}/resubmit", Right.WRITE)
async def press_resubmit_batch(request: AnyRequest) -> Redirect:
    """Make a new batch from all jobs of a batch; its page is led to by that of the operation."""
    return await _resubmit(request, ResubmitDocument())


async def _resubmit(request: AnyRequest, document: ResubmitDocument) -> Redirect:
    await check_form(request)
    origin = Origin(digest=b"", trace_id=request.trace_id)
    operation = await resubmit.resubmit_batch(
        request.services, request.caller, batch_id_of(request), document, origin
    )
    return back_to(f"/ui/operations/{operation['id']}")


@post_form("/ui/batches/{b:str}/jobs/{j:str}/resubmit", Right.WRITE)
async def press_resubmit_job(request: AnyRequest) -> Redirect:
    """Make a new batch from one job."""
    return await _resubmit(request, ResubmitDocument(job=job_id_of(request)))


@post_form("/ui/batches/{b:str}/jobs/{j:str}/cancel", Right.WRITE, Permission.EXECUTE)
async def press_cancel_job(request: AnyRequest) -> Redirect:
    """Cancel one job."""
    await check_form(request)
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    await cancel.cancel_job(request.services, request.caller, batch_id, job_id, CancelDocument())
    return back_to(f"/ui/batches/{batch_id}/jobs/{job_id}")

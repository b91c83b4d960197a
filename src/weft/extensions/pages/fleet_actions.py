"""What the buttons of administrators do to workers."""

from typing import Final

from weft.api.http.parameters import worker_of
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.http.routing import Redirect, post
from weft.api.use_cases import workers
from weft.extensions.pages.forms import back_to, check_form
from weft.wire.documents.batches import Cordon

WORKERS: Final = "/ui/workers"


@post(WORKERS + "/{w:str}/cordon", include_in_schema=False)
async def press_cordon_worker(request: AnyRequest) -> Redirect:
    """Let a worker take no new job."""
    pool = await _pool_of(request)
    await workers.cordon_worker(
        services_of(request), caller_of(request), worker_of(request), Cordon(), pool=pool
    )
    return back_to(WORKERS)


@post(WORKERS + "/{w:str}/drain", include_in_schema=False)
async def press_drain_worker(request: AnyRequest) -> Redirect:
    """Let a worker end when nothing runs."""
    pool = await _pool_of(request)
    await workers.drain_worker(
        services_of(request), caller_of(request), worker_of(request), Cordon(), pool=pool
    )
    return back_to(WORKERS)


@post(WORKERS + "/{w:str}/uncordon", include_in_schema=False)
async def press_uncordon_worker(request: AnyRequest) -> Redirect:
    """Let a worker take jobs again."""
    pool = await _pool_of(request)
    await workers.uncordon_worker(
        services_of(request), caller_of(request), worker_of(request), pool=pool
    )
    return back_to(WORKERS)


async def _pool_of(request: AnyRequest) -> str | None:
    """Return the pool of the form: workers of several pools may have one name."""
    values = (await check_form(request)).get("pool")
    return values[-1] if values else None


ROUTES = (press_cordon_worker, press_drain_worker, press_uncordon_worker)
"""The routes of buttons of administrators."""

"""Hail's routes about the service and the user, some of which need no token."""

from typing import Final

from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect, Response, get
from weft.core.access.rights import Right
from weft_hail.batch_routes import API, empty
from weft_hail.requests import KNOWN, OPEN, TEXT, number_of
from weft_hail.resources import CLOUD, REGION

VERSION: Final = "0.2.139"
"""Of Hail, whose contract this is."""
_PERMISSIONS: Final = (
    "create_billing_project",
    "edit_billing_project",
    "delete_billing_project",
    "assign_users_to_billing_projects",
    "edit_billing_project_limits",
)


@get(f"{API}/cloud", **OPEN)
async def get_hail_cloud() -> Response[str]:
    """Say where jobs run."""
    return _text(CLOUD)


@get(f"{API}/version", **OPEN)
async def get_hail_version() -> Response[str]:
    """Say which contract this is."""
    return _text(VERSION)


@get("/healthcheck", **OPEN)
async def check_hail_health() -> Response[bytes]:
    """Say that the service answers."""
    return empty()


@get(f"{API}/supported_regions", **KNOWN)
async def list_hail_regions() -> Response[bytes]:
    """List the regions of jobs."""
    return reply([REGION])


@get(f"{API}/default_region", **KNOWN)
async def get_hail_region() -> Response[str]:
    """Say where jobs run that do not ask for a region."""
    return _text(REGION)


@get(f"{API}/userinfo", **KNOWN)
async def get_hail_user(request: AnyRequest) -> Response[bytes]:
    """Say who the caller is."""
    caller = request.caller
    manages = caller.may(Right.MANAGE)
    return reply(
        {
            "id": caller.user_id,
            "state": "active",
            "username": caller.user_name,
            "login_id": caller.user_name,
            "is_developer": int(manages),
            "is_service_account": 0,
            "hail_identity": caller.user_name,
            "display_name": caller.user_name,
            "hail_credentials_secret_name": None,
            "tokens_secret_name": None,
            "namespace_name": None,
            "trial_bp_name": None,
            "system_permissions": dict.fromkeys(_PERMISSIONS, manages),
        }
    )


@get("/batches/{b:str}", **OPEN)
async def show_hail_batch(request: AnyRequest) -> Redirect:
    """Lead from the link that the client prints to the page of a batch."""
    return Redirect(f"/ui/batches/b{number_of(request, 'b')}", status_code=303)


@get("/batches/{b:str}/jobs/{j:str}", **OPEN)
async def show_hail_job(request: AnyRequest) -> Redirect:
    """Lead from such a link to the page of a job."""
    page = f"/ui/batches/b{number_of(request, 'b')}/jobs/j{number_of(request, 'j')}"
    return Redirect(page, status_code=303)


def _text(text: str) -> Response[str]:
    return Response(text, status_code=200, media_type=TEXT)

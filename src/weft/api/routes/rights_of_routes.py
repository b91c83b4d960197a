"""The right that each route needs, in one table, and the permission on the batch that it names;
those of declared calls come from their use cases. A route that is not in it is not served.
"""

from collections.abc import Mapping
from typing import Final

from weft.api.routes.declared import all_calls
from weft.core.access.permissions import Permission
from weft.core.access.rights import Right

OPEN: Final = None
"""Whoever opens it in a browser, or logs in, has no way to send a token; it holds no secret. What
logs in and out looks at the session, or asks the issuer, by itself.
"""

RIGHTS: Final[Mapping[str, Right | None]] = {
    **{call.name: call.right for call in all_calls()},
    "GET /docs": OPEN,
    "GET /healthz": OPEN,
    "GET /login": OPEN,
    "GET /login/oidc/callback": OPEN,
    "GET /login/oidc/start": OPEN,
    "POST /login": OPEN,
    "POST /logout": OPEN,
    "GET /metrics": Right.READ,
    "GET /openapi.json": OPEN,
    "GET /readyz": OPEN,
    "GET /v1/batches": Right.READ,
    "POST /v1/batches": Right.WRITE,
    "GET /v1/batches/{b}/graph": Right.READ,
    "POST /v1/batches/{b}/groups": Right.WRITE,
    "GET /v1/batches/{b}/jobs": Right.READ,
    "GET /v1/batches/{b}/jobs/{j}/file": Right.READ,
    "GET /v1/batches/{b}/jobs/{j}/log": Right.READ,
    "GET /v1/batches/{b}/outputs": Right.READ,
    "GET /v1/batches/{b}/logs": Right.READ,
    "PUT /v1/batches/{b}/payloads/{s}/{n}": Right.WRITE,
    "GET /v1/batches/{b}/reasons": Right.READ,
    "GET /v1/batches/{b}/results": Right.READ,
    "POST /v1/batches/{b}/updates": Right.WRITE,
    "GET /v1/batches/{b}/updates/{u}": Right.READ,
    "POST /v1/batches/{b}/updates/{u}/commit": Right.WRITE,
    "POST /v1/batches/{b}/updates/{u}/groups": Right.WRITE,
    "POST /v1/batches/{b}/updates/{u}/jobs": Right.WRITE,
    "GET /v1/billing/report": Right.READ,
    "GET /v1/billing-projects/{p}/days": Right.READ,
    "POST /v1/device-logins": OPEN,
    "POST /v1/device-logins/poll": OPEN,
    "GET /v1/events": Right.READ,
    "POST /v1/logins": OPEN,
    "POST /v1/logins/finish": OPEN,
    "GET /v1/pools/{p}/shares": Right.READ,
    "POST /v1/schedules": Right.WRITE,
}
"""Method and path; None: no token is asked for."""

PERMISSIONS: Final[Mapping[str, Permission]] = {
    call.name: call.permission for call in all_calls() if call.permission
}
"""What a route needs on the batch that it names, if that does not follow from its right: who may
read a batch reads, all else changes it.
"""

UNRECORDED: Final = frozenset(
    {
        "PUT /v1/batches/{b}/payloads/{s}/{n}",
        "POST /v1/batches/{b}/updates/{u}/groups",
        "POST /v1/batches/{b}/updates/{u}/jobs",
    }
)
"""They send the parts of an update, which changes nothing until it is committed: the trail tells
who has committed it.
"""

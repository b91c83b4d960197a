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
    "GET /": OPEN,
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
    "GET /ui": Right.READ,
    "GET /ui/assets/{digest}/{name}": OPEN,
    "POST /ui/batch-actions": Right.WRITE,
    "POST /ui/batch-actions/count": Right.WRITE,
    "GET /ui/batches": Right.READ,
    "GET /ui/batches/{b}": Right.READ,
    "POST /ui/batches/{b}/cancel": Right.WRITE,
    "GET /ui/batches/{b}/dag": Right.READ,
    "GET /ui/batches/{b}/dag.svg": Right.READ,
    "POST /ui/batches/{b}/hold": Right.WRITE,
    "GET /ui/batches/{b}/groups": Right.READ,
    "GET /ui/batches/{b}/groups/{g}": Right.READ,
    "POST /ui/batches/{b}/groups/{g}/cancel": Right.WRITE,
    "GET /ui/batches/{b}/groups/{g}/tree": Right.READ,
    "GET /ui/batches/{b}/jobs/{j}": Right.READ,
    "POST /ui/batches/{b}/jobs/{j}/cancel": Right.WRITE,
    "POST /ui/batches/{b}/jobs/{j}/extend": Right.WRITE,
    "POST /ui/batches/{b}/jobs/{j}/hold": Right.WRITE,
    "GET /ui/batches/{b}/jobs/{j}/log": Right.READ,
    "GET /ui/batches/{b}/jobs/{j}/log/live": Right.READ,
    "POST /ui/batches/{b}/jobs/{j}/release": Right.WRITE,
    "POST /ui/batches/{b}/jobs/{j}/retry": Right.WRITE,
    "POST /ui/batches/{b}/jobs/{j}/signal": Right.WRITE,
    "POST /ui/batches/{b}/release": Right.WRITE,
    "POST /ui/batches/{b}/retry": Right.WRITE,
    "GET /ui/batches/{b}/time": Right.READ,
    "GET /ui/conditions": Right.READ,
    "GET /ui/conditions/{c}": Right.READ,
    "POST /ui/conditions/{c}/fail": Right.OPERATE,
    "POST /ui/conditions/{c}/release": Right.OPERATE,
    "POST /ui/conditions/{c}/test": Right.WRITE,
    "GET /ui/costs": Right.READ,
    "GET /ui/costs/{p}": Right.READ,
    "GET /ui/events": Right.READ,
    "GET /ui/incidents": Right.READ,
    "GET /ui/operations": Right.READ,
    "GET /ui/operations/{o}": Right.READ,
    "POST /ui/operations/{o}/cancel": Right.WRITE,
    "GET /ui/pools": Right.READ,
    "GET /ui/pools/{p}": Right.READ,
    "GET /ui/queues": Right.READ,
    "POST /ui/queues/test": Right.READ,
    "GET /ui/sessions": Right.KNOW_ONESELF,
    "POST /ui/sessions/end": Right.KNOW_ONESELF,
    "POST /ui/sessions/{session}/end": Right.KNOW_ONESELF,
    "GET /ui/system": Right.ADMINISTER,
    "POST /ui/saved-queries": Right.WRITE,
    "POST /ui/saved-queries/remove": Right.WRITE,
    "POST /ui/visit": Right.ADMINISTER,
    "GET /ui/workers": Right.READ,
    "POST /ui/workers/{w}/cordon": Right.ADMINISTER,
    "POST /ui/workers/{w}/drain": Right.ADMINISTER,
    "POST /ui/workers/{w}/uncordon": Right.ADMINISTER,
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
    "PUT /v1/app-parts/{s}/{n}": Right.OPERATE,
}
"""Method and path; None: no token is asked for."""

PERMISSIONS: Final[Mapping[str, Permission]] = {
    **{call.name: call.permission for call in all_calls() if call.permission},
    "POST /ui/batch-actions": Permission.EXECUTE,
    "POST /ui/batch-actions/count": Permission.EXECUTE,
    "POST /ui/batches/{b}/cancel": Permission.EXECUTE,
    "POST /ui/batches/{b}/groups/{g}/cancel": Permission.EXECUTE,
    "POST /ui/batches/{b}/hold": Permission.EXECUTE,
    "POST /ui/batches/{b}/jobs/{j}/cancel": Permission.EXECUTE,
    "POST /ui/batches/{b}/jobs/{j}/extend": Permission.EXECUTE,
    "POST /ui/batches/{b}/jobs/{j}/hold": Permission.EXECUTE,
    "POST /ui/batches/{b}/jobs/{j}/release": Permission.EXECUTE,
    "POST /ui/batches/{b}/jobs/{j}/retry": Permission.EXECUTE,
    "POST /ui/batches/{b}/jobs/{j}/signal": Permission.EXECUTE,
    "POST /ui/batches/{b}/release": Permission.EXECUTE,
    "POST /ui/batches/{b}/retry": Permission.EXECUTE,
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

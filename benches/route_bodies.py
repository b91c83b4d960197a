"""A sound body for each route that takes an id and needs one, so that what is refused is refused
for the id alone. All other routes take an empty document.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from weft.wire import exec as wire

_JOB: Final = {"command": ["true"]}
_HAIL: Final = "/api/v1alpha/batches/{b}"
_HAIL_UPDATE: Final = {"n_jobs": 1, "n_job_groups": 0, "token": "walls"}
_LIMIT: Final = {"amount_max": 1}
_NAME: Final = {"name": "x"}

JSON: Final[Mapping[str, Any]] = {
    "PATCH /api/v1alpha/batches/{b}/close": None,
    "PATCH /v1/batches/{b}": _NAME,
    "PATCH /v1/batches/{b}/groups/{g}": _NAME,
    "PATCH /v1/batches/{b}/groups/{g}/limit": _LIMIT,
    "PATCH /v1/batches/{b}/jobs/{j}": _NAME,
    "PATCH /v1/batches/{b}/limit": _LIMIT,
    "PATCH /v1/billing-projects/{p}": {"cost_max": 1},
    "PATCH /v1/billing-projects/{p}/limit": _LIMIT,
    "PATCH /v1/schedules/{s}": _NAME,
    "PATCH /v1/sources/{source}": {"paused": True},
    "PATCH /v1/tenants/{tenant}": {"on_user_removal": "finish"},
    "PATCH /v1/users/{user}": {"role": "user"},
    "PATCH /v1/users/{user}/limit": _LIMIT,
    "PATCH /v1/users/{user}/quota": {"jobs": 1},
    "POST /api/v1alpha/billing_limits/{p}/edit": {"limit": 1},
    f"POST {_HAIL}/jobs/create": [],
    f"POST {_HAIL}/update-fast": {"update": _HAIL_UPDATE, "bunch": [], "job_groups": []},
    f"POST {_HAIL}/updates/create": _HAIL_UPDATE,
    f"POST {_HAIL}/updates/{{u}}/job-groups/create": [],
    f"POST {_HAIL}/updates/{{u}}/jobs/create": [],
    "POST /jobs/v2/{aloe_id}/pems/{user}": {"permission": "READ"},
    "POST /jobs/{aloe_id}/pems/{user}": {"permission": "READ"},
    "POST /v1/batches/{b}/failures/acknowledge": {"note": "seen"},
    "POST /v1/dead-messages/{dead}/acknowledge": {"note": "seen"},
    "POST /v1/batches/{b}/groups": {"name": "s"},
    "POST /v1/batches/{b}/groups/{g}/members": {"jobs": [1]},
    "POST /v1/batches/{b}/jobs/{j}/extend": {"by_s": 60},
    "POST /v1/batches/{b}/jobs/{j}/message": {"text": "x"},
    "POST /v1/batches/{b}/jobs/{j}/signal": {"signal": "USR1"},
    "POST /v1/batches/{b}/jobs/{j}/status": {"status": "two"},
    "POST /v1/batches/{b}/updates": {"n_jobs": 1},
    "POST /v1/batches/{b}/updates/{u}/groups": {"first": 1, "groups": [{"name": "h"}]},
    "POST /v1/batches/{b}/updates/{u}/jobs": {"first": 1, "jobs": [_JOB]},
    "POST /v1/conditions/{c}/release": {"n": 1},
    "POST /v1/sinks/{sink}/deliveries/{message}/decide": {"decision": "pass"},
    "POST /v1/sinks/{sink}/given-up": {"decision": "send"},
    "POST /v1/sources/{source}/rerun": {"series": "x", "from": 1},
    "PUT /v1/batches/{b}/jobs/{j}/permissions/{user}": {"permission": "read"},
    "PUT /v1/batches/{b}/permissions/{user}": {"permission": "read"},
    "PUT /v1/saved-queries/{saved}": {"query": "name = x"},
    "PUT /v1/secrets/{secret}": {"value": "x"},
}
FORMS: Final[Mapping[str, str]] = {
    "POST /ui/batches/{b}/jobs/{j}/extend": "by=1m",
    "POST /ui/batches/{b}/jobs/{j}/signal": "signal=USR1",
    "POST /ui/conditions/{c}/release": "n=1",
}
"""What the forms of pages send."""
QUERIES: Final[Mapping[str, str]] = {
    "GET /v1/batches/{b}/logs": "find=x", "GET /v1/sources/{source}/history": "key=x",
    "PUT /v1/app-parts/{s}/{n}": "bytes=2", "PUT /v1/batches/{b}/payloads/{s}/{n}": "bytes=2",
}  # fmt: skip
"""What a path needs behind it."""

MAKING: Final = frozenset(
    {
        "POST /api/v1alpha/billing_projects/{p}/create",
        "PUT /v1/saved-queries/{saved}",
        "PUT /v1/secrets/{secret}",
    }
)
"""Routes that make what their path names. They are asked last, else others find it."""


def body_of(route: str) -> tuple[bytes, str]:
    """Return the body of a request to a route, and its media type; none for what only reads."""
    method, _, path = route.partition(" ")
    if method == "GET":
        return b"", ""
    if path.startswith("/ui"):
        return FORMS.get(route, "").encode(), "application/x-www-form-urlencoded"
    if route in QUERIES:
        return b"{}", "application/octet-stream"
    if path.endswith("/exec"):
        document = msgspec.json.encode(wire.ExecDocument(("true",)))
        return wire.frame(wire.BEGIN, document) + wire.frame(wire.STDIN), wire.MEDIA
    return msgspec.json.encode(JSON.get(route, {})), "application/json"

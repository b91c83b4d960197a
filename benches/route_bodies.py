"""A sound body for each route, so that what is refused is refused for the id alone. That of a
declared call is made of its document: what it must have, with the examples of its fields.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from api.field_walk import sound_document
from weft.api.routes.declared import all_calls
from weft.wire import exec as wire

CALLS: Final = {one.name: one for one in all_calls()}
_HAIL: Final = "/api/v1alpha/batches/{b}"
_HAIL_UPDATE: Final = {"n_jobs": 1, "n_job_groups": 0, "token": "walls"}

JSON: Final[Mapping[str, Any]] = {
    "PATCH /api/v1alpha/batches/{b}/close": None,
    "POST /api/v1alpha/billing_limits/{p}/edit": {"limit": 1},
    f"POST {_HAIL}/jobs/create": [],
    f"POST {_HAIL}/update-fast": {"update": _HAIL_UPDATE, "bunch": [], "job_groups": []},
    f"POST {_HAIL}/updates/create": _HAIL_UPDATE,
    f"POST {_HAIL}/updates/{{u}}/job-groups/create": [],
    f"POST {_HAIL}/updates/{{u}}/jobs/create": [],
    "POST /jobs/v2/{aloe_id}/pems/{user}": {"permission": "READ"},
    "POST /jobs/{aloe_id}/pems/{user}": {"permission": "READ"},
    "POST /v1/batches/{b}/groups": {"name": "s"},
    "POST /v1/batches/{b}/updates": {"n_jobs": 1},
    "POST /v1/batches/{b}/updates/{u}/groups": {"first": 1, "groups": [{"name": "h"}]},
    "POST /v1/batches/{b}/updates/{u}/jobs": {"first": 1, "jobs": [{"command": ["true"]}]},
}
"""Of routes that are written out; all others take an empty document."""
FORMS: Final[Mapping[str, str]] = {
    "POST /ui/batches/{b}/jobs/{j}/extend": "by=1m",
    "POST /ui/batches/{b}/jobs/{j}/signal": "signal=USR1",
    "POST /ui/conditions/{c}/release": "n=1",
}
"""What the forms of pages send."""
QUERIES: Final[Mapping[str, str]] = {
    "GET /v1/batches/{b}/logs": "find=x",
    "GET /v1/sources/{source}/history": "key=x",
    "PUT /v1/app-parts/{s}/{n}": "bytes=2",
    "PUT /v1/batches/{b}/payloads/{s}/{n}": "bytes=2",
}
"""What a path needs behind it."""

MAKING: Final = frozenset(
    {
        "POST /api/v1alpha/billing_projects/{p}/create",
        *(
            one.name
            for one in CALLS.values()
            if one.method == "PUT" and len(one.ids) == 1 and one.document
        ),
    }
)
"""Routes that make what their path names. They are asked last, else others find it."""


def document_of(route: str) -> Any:  # noqa: ANN401 (JSON)
    """Return a document that a route takes."""
    call = CALLS.get(route)
    if call is None or call.body is None:
        return JSON.get(route, {})
    return sound_document(call.body, is_edit=call.method == "PATCH")


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
    return msgspec.json.encode(document_of(route)), "application/json"

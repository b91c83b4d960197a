"""Applications as Agave's apps service shows them: weft's catalogue, to read."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, get
from weft.core.apps.description import AppDescription
from weft.core.apps.values import Parameter
from weft.extensions.doors.aloe.refused import READ, Refused
from weft.extensions.doors.aloe.replies import answer, base_of, page_of, query_of
from weft.extensions.doors.aloe.words import GB, LOCAL, STORE, app_uuid, duration, instant
from weft.submission.apps import sees_all

PATHS: Final = ("/apps/v2", "/apps")
"""The second one is that of clients that sign with a JWT."""


@get([*PATHS], **READ)
async def list_aloe_apps(request: AnyRequest) -> Response[bytes]:
    """List the applications that the caller may run."""
    caller = request.caller
    limit, offset = page_of(query_of(request))
    rows = await request.services.store.list_apps(caller, sees_all=sees_all(caller))
    base = base_of(request)
    return answer(request, [_summary(row, base) for row in rows[offset : offset + limit]])


@get([f"{path}/{{app:str}}" for path in PATHS], **READ)
async def get_aloe_app(request: AnyRequest) -> Response[bytes]:
    """Get an application with what it says of itself."""
    caller, name = request.caller, str(request.path_params["app"])
    rows = await request.services.store.list_apps(caller, sees_all=sees_all(caller))
    if not any(row["name"] == name for row in rows):
        raise Refused(404, f"No software found matching {name[:80]}.")
    store = request.services.store
    app = await store.get_app(caller, name, sees_all=sees_all(caller))
    described = msgspec.convert(app["description"], AppDescription)
    return answer(request, {**_summary(app, base_of(request)), **_details(described)})


def _summary(row: Mapping[str, Any], base: str) -> dict[str, Any]:
    app_id, at = row["name"], row["added_at"]
    name, _, version = app_id.rpartition("-")
    return {
        "id": app_id,
        "name": name or app_id,
        "version": version,
        "revision": row["revision"],
        "label": row["title"],
        "shortDescription": row["title"],
        "executionSystem": row["system"] or LOCAL,
        "isPublic": row["for_user"] is None,
        "available": True,
        "uuid": app_uuid(app_id),
        "lastModified": instant(at if isinstance(at, datetime) else datetime.fromisoformat(at)),
        "_links": {"self": {"href": f"{base}/apps/v2/{app_id}"}},
    }


def _details(app: AppDescription) -> dict[str, Any]:
    """Return what an application says of itself, in the form of Agave."""
    return {
        "templatePath": app.wrapper,
        "executionType": "CLI",
        "parallelism": "SERIAL",
        "deploymentSystem": STORE,
        "defaultQueue": app.queue,
        "defaultNodeCount": app.nodes,
        "defaultProcessorsPerNode": app.processors,
        "defaultMemoryPerNode": None if app.memory is None else round(app.memory / GB, 6),
        "defaultMaxRunTime": None if app.timeout_s is None else duration(app.timeout_s),
        "parameters": [_entry(parameter, is_input=False) for parameter in app.parameters],
        "inputs": [_entry(parameter, is_input=True) for parameter in app.inputs],
    }


def _entry(parameter: Parameter, *, is_input: bool) -> dict[str, Any]:
    value: dict[str, Any] = {
        "default": parameter.default,
        "required": parameter.required,
        "visible": parameter.visible,
        "validator": parameter.pattern,
    }
    if not is_input:
        value["type"] = parameter.type
    if parameter.choices:
        value["enumValues"] = [{choice: choice} for choice in parameter.choices]
    return {
        "id": parameter.id,
        "value": value,
        "details": {
            "label": parameter.label,
            "argument": parameter.argument or None,
            "showArgument": parameter.show_argument,
            "repeatArgument": parameter.repeat_argument,
        },
        "semantics": {"minCardinality": parameter.least, "maxCardinality": parameter.most},
    }


APP_ROUTES: Final = (list_aloe_apps, get_aloe_app)

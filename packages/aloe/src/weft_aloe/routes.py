"""The routes of jobs, and what the api serves of this door."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from weft.api.http.doors import ApiDoor
from weft.api.http.requests import AnyRequest, query_pairs
from weft.api.http.routing import Response, delete, get, post, put
from weft.api.web_tokens.wso2 import PREFIX
from weft.core.access.rights import Permission
from weft.core.apps.description import AppDescription
from weft.core.apps.values import Parameter
from weft.submission.apps import sees_all
from weft_aloe import replies
from weft_aloe.actions import ACTIONS, hide, resubmit, stop, submitted, unhide
from weft_aloe.documents import history_entry, status_document, summary_document
from weft_aloe.finding import document_of, find, listed
from weft_aloe.output_routes import OUTPUT_ROUTES
from weft_aloe.permission_routes import PERMISSION_ROUTES
from weft_aloe.replies import FULL, READ, WRITE, answer, bad_request, paths
from weft_aloe.searching import is_field, name_of, order_of, terms_of
from weft_aloe.story import story_of
from weft_aloe.words import GB, LOCAL, NAME, STORE, app_uuid, duration, instant

PATHS: Final = ("/apps/v2", "/apps")
"""The second one is that of clients that sign with a JWT."""


@get([*PATHS], **READ)
async def list_aloe_apps(request: AnyRequest) -> Response[bytes]:
    """List the applications that the caller may run."""
    caller = request.caller
    limit, offset = replies.page_of(query_pairs(request))
    rows = await request.services.store.list_apps(caller, sees_all=sees_all(caller))
    base = replies.base_of(request)
    return answer(request, [_summary(row, base) for row in rows[offset : offset + limit]])


@get([f"{path}/{{app:str}}" for path in PATHS], **READ)
async def get_aloe_app(request: AnyRequest) -> Response[bytes]:
    """Get an application with what it says of itself."""
    caller, name = request.caller, str(request.path_params["app"])
    rows = await request.services.store.list_apps(caller, sees_all=sees_all(caller))
    if not any(row["name"] == name for row in rows):
        raise replies.Refused(404, f"No software found matching {name[:80]}.")
    app = await request.services.store.get_app(caller, name, sees_all=sees_all(caller))
    described = msgspec.convert(app["description"], AppDescription)
    return answer(request, {**_summary(app, replies.base_of(request)), **_details(described)})


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


_PAIRS_MAX: Final = 7


@get(paths(""), **READ)
async def list_aloe_jobs(request: AnyRequest) -> Response[bytes]:
    """List jobs, the newest first."""
    return await _list(request, [])


@get(paths("/search/{pairs:path}"), **READ)
async def search_aloe_jobs(request: AnyRequest) -> Response[bytes]:
    """List jobs by pairs of field and value; of one field alone, its values."""
    parts = [one for one in str(request.path_params["pairs"]).split("/") if one]
    if len(parts) == 1:
        return await _values(request, parts[0])
    if len(parts) % 2 or len(parts) > 2 * _PAIRS_MAX:
        raise bad_request(f"the path: expected up to {_PAIRS_MAX} pairs of field and value")
    pairs = list(zip(parts[::2], parts[1::2], strict=True))
    for name, _ in pairs:
        if not is_field(name.partition(".")[0]):
            raise bad_request(f"{name[:80]!r} is not a field of jobs")
    return await _list(request, pairs)


async def _list(request: AnyRequest, pairs: list[tuple[str, str]]) -> Response[bytes]:
    query = query_pairs(request)
    limit, offset = replies.page_of(query)
    found = await listed(request, terms_of([*pairs, *query]), order_of(query), limit, offset)
    if replies.parameter(query, "filter"):
        return answer(request, [document_of(request, one) for one in found])
    base = replies.base_of(request)
    return answer(request, [summary_document(one, base) for one in found])


async def _values(request: AnyRequest, field: str) -> Response[bytes]:
    query = query_pairs(request)
    if not is_field(field):
        raise bad_request(f"{field[:80]!r} is not a field of jobs")
    limit, offset = replies.page_of(query)
    found = await listed(request, terms_of(query), order_of(query), limit, offset)
    documents, name = (document_of(request, one) for one in found), name_of(field)
    return answer(request, [{"id": one["id"], name: one.get(name)} for one in documents])


@post(paths(""), **{**WRITE, "status_code": 201})
async def create_aloe_job(request: AnyRequest) -> Response[bytes]:
    """Submit a job."""
    body = await replies.read_body(request, forms=False)
    facts = await submitted(request, body)
    return answer(request, document_of(request, facts), status=201)


@get(paths("/{aloe_id:str}"), **READ)
async def get_aloe_job(request: AnyRequest) -> Response[bytes]:
    """Get a job."""
    _, facts = await find(request)
    return answer(request, document_of(request, facts))


@get(paths("/{aloe_id:str}/status"), **READ)
async def get_aloe_status(request: AnyRequest) -> Response[bytes]:
    """Get the status of a job."""
    _, facts = await find(request)
    return answer(request, status_document(facts, replies.base_of(request)))


@get(paths("/{aloe_id:str}/history"), **READ)
async def list_aloe_history(request: AnyRequest) -> Response[bytes]:
    """List what happened to a job, the oldest first."""
    _, facts = await find(request)
    query = query_pairs(request)
    limit, offset = replies.page_of(query)
    entries = [history_entry(one) for one in story_of(facts).entries]
    order = (replies.parameter(query, "sort", "order") or "asc").lower()
    if order not in {"asc", "desc"}:
        raise bad_request("sort: expected asc or desc")
    if order == "desc":
        entries.reverse()
    return answer(request, entries[offset : offset + limit])


async def _act(request: AnyRequest) -> Response[bytes]:
    await find(request, hidden=True)  # what does not exist is told first
    body = await replies.read_body(request, forms=True)
    action = body.get("action") if isinstance(body, dict) else None
    if not isinstance(action, str) or action.lower() not in ACTIONS:
        raise bad_request(f"action: expected one of {', '.join(ACTIONS)}")
    return await ACTIONS[action.lower()](request, body)


@post(paths("/{aloe_id:str}"), **WRITE)
async def act_on_aloe_job(request: AnyRequest) -> Response[bytes]:
    """Do to a job what the body says."""
    return await _act(request)


@put(paths("/{aloe_id:str}"), **WRITE)
async def put_aloe_action(request: AnyRequest) -> Response[bytes]:
    """Do to a job what the body says, as older clients ask for it."""
    return await _act(request)


@delete(paths("/{aloe_id:str}"), **FULL)
async def delete_aloe_job(request: AnyRequest) -> Response[bytes]:
    """Hide a job, and stop it if it has not ended."""
    await hide(request, stops=True, needs=Permission.WRITE)
    return answer(request, None, message="The job was hidden.")


@post([p for way in ("cancel", "kill", "stop") for p in paths(f"/{{aloe_id:str}}/{way}")], **WRITE)
async def stop_aloe_job(request: AnyRequest) -> Response[bytes]:
    """Stop a job."""
    return await stop(request)


@post(paths("/{aloe_id:str}/hide"), **WRITE)
async def hide_aloe_job(request: AnyRequest) -> Response[bytes]:
    """Hide a job."""
    facts = await hide(request, stops=False, needs=Permission.WRITE)
    return answer(request, document_of(request, facts))


@post(paths("/{aloe_id:str}/unhide"), **WRITE)
async def unhide_aloe_job(request: AnyRequest) -> Response[bytes]:
    """Show a job again."""
    return await unhide(request)


@post(paths("/{aloe_id:str}/resubmit"), **WRITE)
async def resubmit_aloe_job(request: AnyRequest) -> Response[bytes]:
    """Submit a job once more."""
    return await resubmit(request, await replies.read_body(request, forms=True))


_ROUTES: Final[Any] = (
    list_aloe_jobs,
    search_aloe_jobs,
    create_aloe_job,
    get_aloe_job,
    get_aloe_status,
    list_aloe_history,
    act_on_aloe_job,
    put_aloe_action,
    delete_aloe_job,
    stop_aloe_job,
    hide_aloe_job,
    unhide_aloe_job,
    resubmit_aloe_job,
    *APP_ROUTES,
    *OUTPUT_ROUTES,
    *PERMISSION_ROUTES,
)
_LINKED: Final = ("/systems", "/profiles", "/files")
"""Services of Agave that documents link to, or that clients ask for: there is nothing there."""
SERVED: Final = ApiDoor(
    name=NAME,
    routes=_ROUTES,
    paths=("/jobs", "/apps", *_LINKED),
    refuse=replies.refuse,
    gateway_headers=PREFIX,
)

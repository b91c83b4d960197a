"""The routes of tasks, and what the api serves of this door."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID, uuid4, uuid5

import msgspec

from weft import __version__
from weft.api.http.doors import ApiDoor
from weft.api.http.problem_documents import reply
from weft.api.http.requests import (
    AnyRequest,
    body_apart,
    foreign_origin,
    idempotency_key,
    query_pairs,
    read_bytes,
)
from weft.api.http.routing import Response, get, post
from weft.api.use_cases import batches, file_stores
from weft.api.use_cases.read import limits_of, search_limits_of
from weft.core.query.tree import EVERYTHING, DoorTerm, all_of
from weft.core.states import JobState
from weft.core.text.texts import wrong_name
from weft.ports.store import Row
from weft.ports.store.offers import DoorJobQuery, Span
from weft.submission import submit
from weft.wire.documents.batches import BatchDocument, CancelDocument
from weft_tes import jobs, shown
from weft_tes.jobs import outputs_of
from weft_tes.refused import READ, WRITE, bad_request, not_found, refuse
from weft_tes.settings import TesSettings
from weft_tes.tasks import DOCUMENT_BYTES_MAX, Task, read_task

NAME: Final = "tes"
ROOT: Final = "/ga4gh/tes"
TASKS: Final = (f"{ROOT}/v1/tasks", f"{shown.OLD}/v1/tasks")
PAGE: Final = 256
PAGE_MAX: Final = 2047
TOLD_MAX: Final = 64
"""Tasks on a page in a view with logs."""
SCAN_MAX: Final = 5000
"""Tasks that are looked at for a page of those in one state; then it ends."""
_TOKEN: Final = re.compile(r"b[0-9]{1,18}")
_CANCEL: Final = ":cancel"
_KEYS: Final = UUID("0f6b3a8e-5a0c-4d7b-9b53-0d9f6f1c2a77")
"""The space of names of ids that follow from a key."""
_LABELS: Final = "weft runs no images here (tes_images): it ran on the worker's host"


@get([f"{ROOT}/v1/service-info", *(f"{path}/service-info" for path in (ROOT, *TASKS))], **READ)
async def get_tes_info(request: AnyRequest) -> Response[bytes]:
    """Tell what this server is, and which stores it has; below the tasks as TES 1.0 has it."""
    stores = await file_stores.list_stores(request.services, request.caller)
    storage = ["weft://", *(store["url"] for store in stores)]
    if request.scope["path"].startswith(TASKS):
        return reply({"name": "weft", "storage": storage})
    host = request.headers.get("host", "localhost")
    return reply(
        {
            "id": f"weft.{host.partition(':')[0]}",
            "name": "weft",
            "type": {"group": "org.ga4gh", "artifact": "tes", "version": "1.1.0"},
            "organization": {"name": "weft", "url": f"{request.scope['scheme']}://{host}"},
            "version": __version__,
            "storage": storage,
            "tesResources_backend_parameters": jobs.PARAMETERS,
        }
    )


@post(TASKS, **WRITE)
async def create_tes_task(request: AnyRequest) -> Response[bytes]:
    """Submit a task."""
    services, caller = request.services, request.caller
    data = await read_bytes(request, services.settings.bunch_bytes_max)
    task = await body_apart(request, data, read_task, data)
    names_files = any(one.url for one in (*(task.inputs or ()), *(task.outputs or ())))
    stores = await services.store.list_stores(caller) if names_files else ()
    in_images = services.settings.section(TesSettings).tes_images
    job = jobs.job_of(task, stores, in_images=in_images)
    key = idempotency_key(request)
    task_id = str(uuid5(_KEYS, f"{caller.tenant_id} {caller.user_id} {key}") if key else uuid4())
    origin = foreign_origin(request, hashlib.sha256(data).digest(), key, foreign_id=task_id)
    kept = _kept(task, stores, in_images=in_images)
    batch = BatchDocument(jobs=[job])
    if task.name and not wrong_name(task.name, chars_max=services.settings.name_chars_max):
        batch.name = job.name = task.name
    batch.billing_project = jobs.parameters_of(task).get(jobs.PROJECT, batch.billing_project)
    await submit.create_batch(services, caller, batch, replace(origin, foreign_document=kept))
    return reply({"id": task_id})


@get(TASKS, **READ)
async def list_tes_tasks(request: AnyRequest) -> Response[bytes]:
    """List tasks, the newest first."""
    pairs = query_pairs(request)
    view, state = _view_of(query := dict(reversed(pairs))), query.get("state") or None
    if state is not None and state not in shown.STATES:
        raise bad_request(f"state: expected one of {', '.join(shown.STATES)}")
    size = query.get("page_size") or str(PAGE)
    if not re.fullmatch("[0-9]{1,5}", size) or not 0 < int(size) <= PAGE_MAX:
        raise bad_request(f"page_size: expected a whole number from 1 to {PAGE_MAX}")
    limit = int(size) if view == shown.VIEWS[0] else min(int(size), TOLD_MAX)
    terms = tuple(_terms_of(pairs, query, state))
    wanted = DoorJobQuery(
        door=NAME,
        query=all_of(terms) if terms else EVERYTHING,
        limit=limit + 1,
        limits=(search_limits_of if terms else limits_of)(request.services.settings),
        ended=None if state is None else Span(None, None, _job_states(state)),
    )
    if token := query.get("page_token"):
        if not _TOKEN.fullmatch(token):
            raise bad_request("page_token: expected the next_page_token of another page")
        wanted = replace(wanted, before=int(token[1:]))
    rows, last = await _page(request, wanted, state, limit)
    tasks = [await shown.task_document(request, one, view) for one in rows]
    return reply({"tasks": tasks, **({"next_page_token": f"b{last}"} if last else {})})


@get([f"{path}/{{task_id:str}}" for path in TASKS], **READ)
async def get_tes_task(request: AnyRequest) -> Response[bytes]:
    """Get a task."""
    view = _view_of(dict(reversed(query_pairs(request))))
    facts = await _find(request, str(request.path_params["task_id"]))
    return reply(await shown.task_document(request, facts, view))


@post([f"{path}/{{task_id:str}}" for path in TASKS], **WRITE)
async def cancel_tes_task(request: AnyRequest) -> Response[bytes]:
    """Cancel a task; one that has ended stays as it is."""
    task_id = str(request.path_params["task_id"])
    if not task_id.endswith(_CANCEL):
        raise not_found(task_id)
    facts = await _find(request, task_id.removesuffix(_CANCEL))
    if not JobState[facts["state"].upper()].is_terminal:
        batch_id = facts["batch_id"]
        await batches.cancel_batch(request.services, request.caller, batch_id, CancelDocument())
    return reply({})


async def _find(request: AnyRequest, task_id: str) -> Row:
    found = None
    if len(task_id) <= len(str(_KEYS)) and task_id.isascii() and task_id.isprintable():
        store = request.services.store
        found = await store.find_door_job(request.caller, NAME, task_id, hidden=True)
    if found is None:
        raise not_found(task_id)
    return found


async def _page(
    request: AnyRequest, wanted: DoorJobQuery, state: str | None, limit: int
) -> tuple[Sequence[Row], int | None]:
    """Return a page, and the batch before which the next one begins; None: there is none."""
    found: list[Row] = []
    for _ in range(max(1, SCAN_MAX // wanted.limit)):
        rows = await request.services.store.list_door_jobs(request.caller, wanted)
        found += [row for row in rows if state in {None, shown.state_of(row)}]
        if len(found) > limit:
            return found[:limit], found[limit - 1]["batch_id"]
        if len(rows) < wanted.limit:
            return found, None
        wanted = replace(wanted, before=rows[-1]["batch_id"])
    return found, wanted.before


def _job_states(state: str) -> list[JobState]:
    return [JobState[one.upper()] for one in shown.STATES[state]]


def _terms_of(
    pairs: Sequence[tuple[str, str]], query: Mapping[str, str], state: str | None
) -> list[DoorTerm]:
    terms = []
    if state is not None:
        numbers = ", ".join(f"{one:d}" for one in _job_states(state))
        terms.append(DoorTerm(f"j.state IN ({numbers or -1})"))
    if prefix := query.get("name_prefix"):
        condition = "starts_with(b.foreign_document -> 'task' ->> 'name', {0})"
        terms.append(DoorTerm(condition, (prefix,)))
    values = [value for name, value in pairs if name == "tag_value"]
    for n, key in enumerate(value for name, value in pairs if name == "tag_key"):
        value = values[n] if n < len(values) else ""
        tag = "b.foreign_document -> 'task' -> 'tags' ->> {0}"
        condition = f"({tag}) = {{1}}" if value else f"({tag}) IS NOT NULL"
        terms.append(DoorTerm(condition, (key, value) if value else (key,)))
    return terms


def _kept(task: Task, stores: Sequence[Row], *, in_images: bool) -> dict[str, Any]:
    """Return what is kept of a task for its lists: all but contents."""
    document: dict[str, Any] = msgspec.to_builtins(task)
    for one in document.get("inputs", ()):
        one.pop("content", None)
    notes = [] if in_images else [_LABELS]
    resources = document.get("resources", {})
    if said := resources.pop("backend_parameters", None):
        known = {name: text for name, text in said.items() if name.lower() in jobs.PARAMETERS}
        resources |= {"backend_parameters": known} if known else {}
        notes += [f"weft does not know {name}" for name in said if name not in known]
    targets = [(one.output.to, one.url, one.path) for one in outputs_of(task, stores)]
    kept = {"task": document, "notes": notes, "is_noted": jobs.is_noted(task), "targets": targets}
    if len(msgspec.json.encode(kept)) > DOCUMENT_BYTES_MAX:
        raise bad_request(f"the task has more than {DOCUMENT_BYTES_MAX} bytes besides contents")
    return kept


def _view_of(query: Mapping[str, str]) -> str:
    view = query.get("view") or shown.VIEWS[0]
    if view not in shown.VIEWS:
        raise bad_request(f"view: expected one of {', '.join(shown.VIEWS)}")
    return view


SERVED: Final = ApiDoor(
    name=NAME,
    routes=(get_tes_info, create_tes_task, list_tes_tasks, get_tes_task, cancel_tes_task),
    paths=(ROOT,),
    refuse=refuse,
    takes_basic=True,
)

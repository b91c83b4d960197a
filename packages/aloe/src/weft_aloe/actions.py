"""What is done to jobs: submitted, stopped, hidden, submitted once more."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import msgspec

from weft.api.http.requests import AnyRequest, foreign_origin
from weft.api.http.routing import Response
from weft.api.use_cases.batches import cancel_batch, hide_batch, unhide_batch
from weft.core.access.rights import Permission, Right
from weft.core.access.secret_variables import matches, patterns_of
from weft.core.addresses import parse_allowed_hosts
from weft.core.deliveries.mail import parse_mail_domains
from weft.core.errors import Invalid, NoWorkerFits
from weft.ports.store import Row
from weft.submission import submit
from weft.submission.apps import WrongSystem, find_apps, queue_on_system
from weft.wire.documents.batches import BatchDocument, CancelDocument
from weft_aloe import submissions
from weft_aloe.finding import archived_at, document_of, find
from weft_aloe.inputs import Sources, staged_inputs
from weft_aloe.notifications import logs_in, subscriptions_of, wrong_notifications
from weft_aloe.replies import (
    Refused,
    answer,
    bad_request,
    base_of,
    refused_submission,
)
from weft_aloe.story import story_of
from weft_aloe.words import ENDED, NAME, new_id


async def submitted(request: AnyRequest, body: object) -> Row:
    """Submit a job and return what is known of it. Raise a 400 that names what is wrong."""
    return await _submit(request, submissions.read_asked(body))


async def _submit(request: AnyRequest, asked: submissions.Asked) -> Row:
    services, caller, job_id = request.services, request.caller, new_id()
    apps = await find_apps(services, caller, [asked.app])
    if asked.app not in apps:
        raise bad_request(f"appId: there is no application {asked.app!r} that you may run")
    base, notifications = base_of(request), asked.body.get("notifications", [])
    settings = services.settings
    if wrong := wrong_notifications(
        notifications,
        settings.job_subscriptions_max,
        parse_allowed_hosts(settings.callback_private_hosts),
        parse_mail_domains(settings.mail_domains) if settings.mail_server else None,
    ):
        raise bad_request("; ".join(wrong))
    found, reader = apps[asked.app], replace(caller, needs=Permission.READ)
    app = found.description
    names_stores = asked.get("archiveSystem") or asked.get("inputs") or app.inputs
    known = await services.store.list_stores(caller) if names_stores else ()
    stores = {one["name"]: one["access"] for one in known}
    submissions.check_archive_system(asked, stores)
    sources = Sources(
        base=base,
        stores=stores,
        job=lambda aloe_id: services.store.find_door_job(reader, NAME, aloe_id, hidden=True),
        job_with_archive=partial(archived_at, services, reader),
    )
    inputs = await staged_inputs(asked.get("inputs") or {}, app, sources, services, caller)
    try:
        queue = await queue_on_system(services, caller, app, asked.get("batchQueue"))
    except WrongSystem as error:
        raise bad_request(f"appId: {error}") from error
    tenant = await services.store.tenant_name(caller)
    whose = submissions.Whose(job_id=job_id, owner=caller.user_name, tenant=tenant, base=base)
    kept = submissions.foreign_document(asked, app, whose, queue, inputs)
    job = submissions.job_of(asked, kept, whose, inputs)
    job = msgspec.structs.replace(job, found_app=found, queue=queue)
    digest = hashlib.sha256(msgspec.json.encode(asked.body)).digest()
    origin = replace(
        foreign_origin(request, digest, foreign_id=job_id),
        foreign_document=kept,
        foreign_kind=kept["appId"],
        subscriptions=subscriptions_of(notifications),
        output_keep_s=None if kept["archive"] else settings.unarchived_keep_s,
    )
    batch = BatchDocument(name=kept["name"], jobs=[job])
    try:
        made, _ = await submit.create_batch(services, caller, batch, origin)
    except (Invalid, NoWorkerFits) as error:
        raise refused_submission(error) from error
    return submissions.new_facts(made, kept, whose)


async def stop(request: AnyRequest, _: object = None) -> Response[bytes]:
    """Stop a job. Raise a 409 if it has ended."""
    caller, facts = await find(request)
    if (status := story_of(facts).status) in ENDED:
        raise Refused(409, f"the job has ended: it is {status}")
    await _cancel(request, facts)
    _, facts = await find(request, needs=caller.needs)
    return answer(request, document_of(request, facts), message="The job is being stopped.")


async def hide(request: AnyRequest, *, stops: bool, needs: Permission) -> Row:
    """Hide a job; `stops`: and stop it. Return what is known of it then."""
    caller, facts = await find(request, needs=needs)
    if stops and story_of(facts).status not in ENDED:
        await _cancel(request, facts)
    await hide_batch(request.services, caller, facts["batch_id"])
    return (await find(request, hidden=True, needs=needs))[1]


async def unhide(request: AnyRequest, _: object = None) -> Response[bytes]:
    """Show a job again."""
    caller, facts = await find(request, hidden=True, needs=Permission.WRITE)
    await unhide_batch(request.services, caller, facts["batch_id"])
    _, facts = await find(request, needs=Permission.WRITE)
    return answer(request, document_of(request, facts))


async def resubmit(request: AnyRequest, body: object = None) -> Response[bytes]:
    """Submit a job once more, as one of the caller's own. Raise a 409 if it has not begun, a 403
    if it has values that the caller is not shown.
    """
    caller, facts = await find(request)
    if (status := story_of(facts).status) == "PENDING":
        raise Refused(409, f"the job has not begun: it is {status}")
    masks = patterns_of(request.services.settings.masked_env)
    asked, notifies = facts["document"]["asked"], _notifies(body)
    if facts["owner"] != caller.user_name:
        if any(matches(name, masks) for name in asked.get("parameters") or {}):
            raise Refused(403, "the job has parameters that only its owner may use")
        if notifies and logs_in(asked.get("notifications") or []):
            why = "a notification of the job has a login that only its owner may use"
            raise Refused(403, f"{why}; preserveNotifications: false leaves all of them out")
    found = await _submit(request, submissions.again(facts["document"], notifies=notifies))
    return answer(request, document_of(request, found), status=201)


def _notifies(body: object) -> bool:
    """Say whether the subscriptions of the first job are those of the new one, too."""
    wanted = body.get("preserveNotifications") if isinstance(body, dict) else None
    if wanted is not None and not isinstance(wanted, bool) and wanted not in ("true", "false"):
        raise bad_request("preserveNotifications: expected true or false")
    return wanted is not False and wanted != "false"


async def _reset(request: AnyRequest, _: object = None) -> Response[bytes]:
    """Let a blocked job go on now, whatever it waits for. Raise a 409 if it runs or has ended."""
    caller, facts = await find(request)
    if not caller.may(Right.OPERATE):
        raise Refused(403, "only administrators reset jobs")
    status = story_of(facts).status
    if status in ENDED:
        raise Refused(409, f"the job is {status}: it has ended; resubmit it")
    if status not in {"PENDING", "BLOCKED"}:
        raise Refused(409, f"the job is {status}: if it is lost, weft runs it again by itself")
    await request.services.store.unblock_job(caller, facts["batch_id"], 1)
    _, facts = await find(request)
    return answer(request, document_of(request, facts), message="The job is let go on.")


async def _cancel(request: AnyRequest, facts: Mapping[str, Any]) -> None:
    document = CancelDocument(force=True)
    await cancel_batch(request.services, request.caller, facts["batch_id"], document)


ACTIONS: Final[Mapping[str, Callable[[AnyRequest, object], Awaitable[Response[bytes]]]]] = {
    "stop": stop,
    "kill": stop,
    "resubmit": resubmit,
    "restore": unhide,
    "reset": _reset,
}
